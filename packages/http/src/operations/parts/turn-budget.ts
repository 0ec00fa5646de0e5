import { TURN_BUDGET_MS } from '../../admission/turn-queue.js'
import type { OperationRequest } from './operation.js'

/** Time for which one request may hold the event loop, since its creation or its last turn. */
export class TurnBudget {
  readonly #request: Pick<OperationRequest, 'nextTurn'>
  #endsAt = performance.now() + TURN_BUDGET_MS

  constructor(request: Pick<OperationRequest, 'nextTurn'>) {
    this.#request = request
  }

  get isSpent(): boolean {
    return performance.now() >= this.#endsAt
  }

  /**
   * Lets other requests have a turn.
   * @throws `client_left`
   */
  async nextTurn(): Promise<void> {
    const milliseconds = await this.#request.nextTurn()
    this.#endsAt = performance.now() + milliseconds
  }
}
