import { branchOf, type LedgerSummary, type StateReader, versionTruncated } from '@ledger-state/engine'
import { bytesToTransaction, type KeptTransaction, TRANSACTIONS_KEY, transactionKey } from '@ledger-state/records'

/** The transactions that a store keeps for the versions of a pinned ledger. */
export class KeptTransactions {
  readonly #reader: StateReader
  readonly #version: bigint
  readonly #ledger: LedgerSummary
  #areThere: boolean | undefined

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
    const cut = this.#reader.ledger?.truncations?.find(
      (one) => one.number > branchOf(this.#ledger) && one.version < version,
    )
    if (cut) throw versionTruncated(version)
    const entry = this.#reader.at(version).getEntry(transactionKey(version))
    return entry?.version === version ? bytesToTransaction(entry.value) : undefined
  }

  #search(): boolean {
    for (const _ of this.#reader.history(TRANSACTIONS_KEY, { last: this.#version })) return true
    return false
  }
}
