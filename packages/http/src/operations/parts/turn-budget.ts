import { noSteps, type Steps } from '@ledger-state/core'
import { TURN_BUDGET_MS } from '../../admission/turn-queue.js'
import type { SteppedBody } from '../../formats/page-body.js'
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

/** The result of steps, in turns of the event loop; at once if they take no longer than one. */
export function runInTurns<T>(request: Pick<OperationRequest, 'nextTurn'>, steps: Steps<T>): T | Promise<T> {
  let step = steps.next()
  if (step.done) return step.value
  const turn = new TurnBudget(request)
  while (!step.done && !turn.isSpent) step = steps.next()
  return step.done ? step.value : finishInTurns(turn, steps)
}

/** The result of steps that have begun, or not yet, in turns of the event loop. */
export async function finishInTurns<T>(turn: TurnBudget, steps: Steps<T>): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (turn.isSpent) await turn.nextTurn()
  }
}

/** Writes items to a body in turns of the event loop. Undefined is a chance to pause. */
export async function writeInTurns<T>(
  request: Pick<OperationRequest, 'nextTurn'>,
  items: Iterable<T | undefined>,
  body: Pick<SteppedBody<T>, 'addInSteps'>,
): Promise<void> {
  const turn = new TurnBudget(request)
  for (const item of items) {
    const steps = item === undefined ? undefined : body.addInSteps(item)
    if (steps) while (!steps.next().done) if (turn.isSpent) await turn.nextTurn()
    if (turn.isSpent) await turn.nextTurn()
  }
}

/** The form of an item that takes one short step. */
export function inOneStep<T, F>(toForm: (item: T) => F): (item: T) => Steps<F> {
  return (item) => noSteps(toForm(item))
}
