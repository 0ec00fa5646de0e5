import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import type { ReadTransaction } from '../lmdb/table.js'

const MOST_PROBLEMS = 100
const RECORDS_BETWEEN_TURNS = 5_000

/** Collects the findings of a check, and reads for it: in one transaction, with turns for other work. */
export class CheckFindings {
  /** One line for each of the first hundred faults. */
  readonly problems: string[] = []
  readonly options: { readonly transaction: ReadTransaction }
  readonly #onProgress: (records: number) => void
  readonly #expectOpen: () => void
  #records = 0

  constructor(transaction: ReadTransaction, onProgress: (records: number) => void, expectOpen: () => void) {
    this.options = { transaction }
    this.#onProgress = onProgress
    this.#expectOpen = expectOpen
  }

  /** Lets other work of the process take place. @throws `store_closed` if the engine was closed meanwhile */
  async pause(): Promise<void> {
    await nextTurn()
    this.#expectOpen()
  }

  /** Number of records that were read. */
  get records(): number {
    return this.#records
  }

  /** Counts records that were read, and lets other work take place. */
  async count(records: number): Promise<void> {
    const before = this.#records
    this.#records += records
    if (Math.floor(before / RECORDS_BETWEEN_TURNS) !== Math.floor(this.#records / RECORDS_BETWEEN_TURNS)) {
      this.#onProgress(this.#records)
    }
    await this.pause()
  }

  add(problem: string): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem)
  }

  /** Returns the result of the work. If the work finds the store damaged, adds a problem and returns undefined. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!isLedgerStateError(error) && !(error instanceof RangeError)) throw error
      // A full disk is no damage of the store.
      if (isLedgerStateError(error, 'store_full')) throw error
      this.add(error.message)
      return undefined
    }
  }
}
