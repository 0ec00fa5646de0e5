/** Everything that a ledger has of the transaction that made a version, each part in BCS. */
export interface WholeTransaction {
  readonly transaction: Uint8Array
  /** The TransactionInfo. */
  readonly info: Uint8Array
  /** The vector of events. */
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  /** Index of the transaction in its proposed block; undefined if the source does not say it. */
  readonly indexInBlock: number | undefined
  /** Root of the ledger's accumulator with this version. */
  readonly accumulatorRoot: Uint8Array
}
