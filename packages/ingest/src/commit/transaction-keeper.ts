import { SizedCache, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { LedgerVersion } from '@ledger-state/feed'
import { isOwnKey, isTransactionKey, TRANSACTIONS_KEY, transactionKey, transactionToBytes } from '@ledger-state/records'

const NOTHING: readonly Write[] = []
const KEPT = new Uint8Array(0)
/** Bytes of remembered names of functions: a few hundred, as users of a network call in some minutes. */
const FUNCTIONS_BYTES = 256 * 1024

export interface TransactionKeeperOptions {
  /** Whether the newest version of the store came with its transaction. */
  readonly isKept: boolean
  /**
   * Whether to keep transactions, if the source carries them. A store that keeps them continues without being asked.
   */
  readonly isAsked: boolean
  /** Whether the store has versions or a state. */
  readonly isEmpty: boolean
  /** Called with one line for people. */
  onNotice(message: string): void
}

/**
 * Makes the writes by which a store keeps the transactions of its versions, and says from which version on it has them.
 * The key `TRANSACTIONS_KEY` exists as long as every version that wrote state came with its transaction.
 */
export class TransactionKeeper {
  #isKept: boolean
  readonly #options: TransactionKeeperOptions
  readonly #functions = new SizedCache<Uint8Array>(FUNCTIONS_BYTES)
  #isAbsenceNoticed = false

  constructor(options: TransactionKeeperOptions) {
    this.#isKept = options.isKept
    this.#options = options
  }

  /** Writes of a version in addition to those of its source. A version that wrote no state needs no transaction. */
  writesOf({ version, writes, readTransaction }: LedgerVersion): readonly Write[] {
    if (!this.#isKept && !this.#options.isAsked) return this.#follow(writes)
    if (!writes.some(([key]) => !isOwnKey(key))) return this.#follow(writes)
    if (readTransaction) {
      const kept = transactionToBytes(readTransaction(), this.#functions)
      return this.#keep(version, [transactionKey(version), kept])
    }
    if (writes.some(([key]) => isTransactionKey(key))) return this.#follow(writes)
    return this.#isKept ? this.#end(version) : this.#noticeAbsence()
  }

  #keep(version: bigint, write: Write): readonly Write[] {
    if (this.#isKept) return [write]
    this.#isKept = true
    if (!this.#options.isEmpty) {
      this.#options.onNotice(
        `transactions are known since version ${version}; transactions of earlier versions are unknown`,
      )
    }
    return [[TRANSACTIONS_KEY, KEPT], write]
  }

  #end(version: bigint): readonly Write[] {
    this.#isKept = false
    this.#options.onNotice(`transactions are unknown since version ${version}: the source does not contain them`)
    return [[TRANSACTIONS_KEY, null]]
  }

  #noticeAbsence(): readonly Write[] {
    if (!this.#isAbsenceNoticed)
      this.#options.onNotice('the store keeps no transactions: the source does not contain them')
    this.#isAbsenceNoticed = true
    return NOTHING
  }

  /**
   * Follows a feed of another store, which has its transactions among its writes, and says there where they begin and
   * end.
   */
  #follow(writes: readonly Write[]): readonly Write[] {
    for (const [key, value] of writes) {
      if (isOwnKey(key) && compareBytes(key, TRANSACTIONS_KEY) === 0) this.#isKept = value !== null
    }
    return NOTHING
  }
}
