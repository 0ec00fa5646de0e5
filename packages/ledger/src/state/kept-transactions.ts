import { decodeUtf8 } from '@ledger-state/core/bytes'
import { branchOf, type LedgerSummary, type StateReader, type StateView, versionTruncated } from '@ledger-state/engine'
import { LedgerHasher } from '@ledger-state/proof'
import {
  bytesToTransaction,
  KEY_FAMILIES,
  type KeptTransaction,
  type StoredTransaction,
  TRANSACTIONS_KEY,
  transactionKey,
  WHOLE_TRANSACTIONS_KEY,
  wholeTransactionKey,
} from '@ledger-state/records'

/** The transactions that a store keeps for the versions of a pinned ledger. */
export class KeptTransactions {
  readonly #reader: StateReader
  readonly #version: bigint
  readonly #ledger: LedgerSummary
  #areThere: boolean | undefined
  #hasher: LedgerHasher | undefined

  constructor(reader: StateReader, { version, ledger }: { readonly version: bigint; readonly ledger: LedgerSummary }) {
    this.#reader = reader
    this.#version = version
    this.#ledger = ledger
  }

  /** Whether any version of the window up to the pinned one came with its transaction. */
  get areThere(): boolean {
    this.#areThere ??= this.#search()
    return this.#areThere
  }

  /**
   * The transaction of a version.
   * @throws `version_pruned`, `version_truncated`
   */
  at(version: bigint): KeptTransaction | undefined {
    if (version < this.#ledger.oldestVersion || !this.areThere) return undefined
    const entry = this.viewAt(version).getEntry(transactionKey(version))
    return entry?.version === version ? bytesToTransaction(entry.value) : undefined
  }

  /**
   * The hasher of the ledger, if any version of the window up to the pinned one came with its whole transaction;
   * otherwise undefined.
   */
  get hasher(): LedgerHasher | undefined {
    this.#hasher ??= this.#createHasher()
    return this.#hasher
  }

  /**
   * The stored part of the whole transaction of a version; undefined if the store does not have it, below the window
   * and above the pinned version. The write set has no values.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  storedAt(version: bigint): StoredTransaction | undefined {
    if (version > this.#version || version < this.#ledger.oldestVersion || !this.hasher) return undefined
    const entry = this.viewAt(version).getEntry(wholeTransactionKey(version))
    return entry?.version === version ? KEY_FAMILIES.wholeTransaction.codec.decode(entry.value) : undefined
  }

  /**
   * The state at a version of the pinned ledger.
   * @throws `version_pruned`, `version_truncated`
   */
  viewAt(version: bigint): StateView {
    const cut = this.#reader.ledger?.truncations?.find(
      (one) => one.number > branchOf(this.#ledger) && one.version < version,
    )
    if (cut) throw versionTruncated(version)
    return this.#reader.at(version)
  }

  #createHasher(): LedgerHasher | undefined {
    for (const { value } of this.#reader.history(WHOLE_TRANSACTIONS_KEY, { last: this.#version })) {
      if (value) return new LedgerHasher(decodeUtf8(value))
    }
    return undefined
  }

  #search(): boolean {
    for (const _ of this.#reader.history(TRANSACTIONS_KEY, { last: this.#version })) return true
    return false
  }
}
