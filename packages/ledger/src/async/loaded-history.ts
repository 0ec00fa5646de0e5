import type { LedgerStateError } from '@ledger-state/core'
import type { AsyncStateSnapshot, HistoryOptions, Revision } from '@ledger-state/engine'
import type { Lacks } from './lacks.js'
import type { LoadBudget } from './load-budget.js'
import type { Prunes } from './prunes.js'

/** Revisions of the first page; each further page has twice as many as the previous one. */
const FIRST_PAGE = 64
const LARGEST_PAGE = 65_536

/** Loaded part of the history of one key, starting at its beginning. */
export class LoadedHistory implements Iterable<Revision> {
  readonly #key: Uint8Array
  readonly #lacks: Lacks
  /** Options of the next page. */
  #options: HistoryOptions
  readonly #revisions: Revision[] = []
  #pages = 0
  #isComplete = false
  #pruned: LedgerStateError | undefined
  isLacking = false

  constructor(key: Uint8Array, options: HistoryOptions, lacks: Lacks) {
    this.#key = Uint8Array.from(key)
    this.#lacks = lacks
    this.#options = options
  }

  /** Ends after the loaded part, and notes that more was lacking. */
  *[Symbol.iterator](): Generator<Revision> {
    yield* this.#revisions
    if (this.#pruned) throw this.#pruned
    if (this.#isComplete) return
    this.#lacks.count++
    this.isLacking = true
  }

  async load(snapshot: AsyncStateSnapshot, budget: LoadBudget, prunes: Prunes): Promise<void> {
    this.isLacking = false
    const limit = Math.min(FIRST_PAGE * 2 ** this.#pages++, LARGEST_PAGE)
    try {
      const { revisions, next } = await budget.page(async () => {
        const page = await snapshot.history(this.#key, { ...this.#options, limit })
        for (const { value } of page.revisions) budget.spend(value?.length ?? 0)
        return page
      })
      for (const revision of revisions) this.#revisions.push(revision)
      this.#isComplete = next === undefined
      this.#options =
        this.#options.order === 'asc' ? { ...this.#options, first: next } : { ...this.#options, last: next }
    } catch (error) {
      this.#pruned = prunes.expectPruned(error)
    }
  }
}
