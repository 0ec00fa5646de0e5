import type { Change, ViewAnswer, ViewHistory, ViewReport } from '@ledger-state/ledger'
import type { Turn } from '../../admission/turn-queue.js'
import { invalidRequest } from '../../errors.js'
import type { RequestViews } from './operation.js'
import type { ViewPlace } from './view-places.js'
import { ViewAllowance } from './view-rules.js'

/** Most runs of one page. */
export const MOST_RUNS = 2_000
/** Number of view budgets that all runs of one page together may use; the last run is not counted. */
export const BUDGETS_OF_PAGE = 4

/** Reads a history in turns of the event loop. One that takes more than a turn takes a place of long views. */
export async function readChanges(
  { places, compute }: RequestViews,
  history: ViewHistory,
  add: (change: Change<ViewAnswer>) => void,
  turn: Turn,
): Promise<void> {
  let place: ViewPlace | undefined
  try {
    for (const change of history.turns()) {
      if (change) add(change)
      const { task } = history
      if (!task && !turn.isSpent) continue
      place ??= await places.take()
      if (task) {
        place.rest()
        history.provide(await compute(task))
      }
      await place.run(history.bytes)
      await turn.nextTurn()
    }
  } finally {
    place?.leave()
  }
}

/** Counts the runs of one page. Each may use the whole budget of a view, because its answer might differ with less. */
export class PageRuns {
  readonly #views: RequestViews
  readonly #allowance: ViewAllowance
  #count = 0
  #began = performance.now()

  /** @throws `invalid_request` in a batch if its earlier views have used up its budget */
  constructor(views: RequestViews) {
    this.#views = views
    this.#allowance = new ViewAllowance(views.rules.budget, BUDGETS_OF_PAGE)
    if (views.allowance.isSpent) throw invalidRequest.viewBudgetSpent()
  }

  get areSpent(): boolean {
    return this.#count >= MOST_RUNS || this.#allowance.isSpent
  }

  add(report: ViewReport): void {
    const { allowance, onView } = this.#views
    this.#count++
    this.#allowance.spend(report.usage)
    allowance.spend(report.usage)
    const ended = performance.now()
    if (!report.isRepeated) onView?.({ ...report, seconds: (ended - this.#began) / 1_000 })
    this.#began = ended
  }
}
