// Value of `WHOLE_TRANSACTIONS_KEY`: [u8 0 · u8 bits of the indexes that are left out, if any is] · word before the names
// of the ledger's hashes, in UTF-8. The word is empty in a gap: the store was not given the transactions that follow.

/** Indexes of whole transactions. Each has its bit in the mark, the first the lowest. */
export const TRANSACTION_INDEXES = ['hash', 'sender', 'affected', 'event-key', 'event-type'] as const

/** An index of whole transactions, by what it finds them or their events by. */
export type TransactionIndex = (typeof TRANSACTION_INDEXES)[number]

/** The indexes that a store keeps, unless it leaves some out. */
export const ALL_TRANSACTION_INDEXES: ReadonlySet<TransactionIndex> = new Set(TRANSACTION_INDEXES)

const NO_WORD = 0

/** What a store keeps of whole transactions since a version. */
export interface WholeTransactionsMark {
  /** The word before the names of the ledger's hashes; undefined in a gap. */
  readonly hashSalt: string | undefined
  readonly indexes: ReadonlySet<TransactionIndex>
}

/** Encodes what a store keeps of whole transactions. */
export function encodeWholeTransactionsMark({ hashSalt = '', indexes }: WholeTransactionsMark): Uint8Array {
  const word = new TextEncoder().encode(hashSalt)
  const leftOut = TRANSACTION_INDEXES.reduce((bits, index, at) => (indexes.has(index) ? bits : bits | (1 << at)), 0)
  return leftOut === 0 ? word : Uint8Array.of(NO_WORD, leftOut, ...word)
}

/** Decodes the bytes of `encodeWholeTransactionsMark`. */
export function decodeWholeTransactionsMark(value: Uint8Array): WholeTransactionsMark {
  const isPartial = value[0] === NO_WORD
  const word = isPartial ? value.subarray(2) : value
  const leftOut = value[1] ?? 0
  const indexes = isPartial
    ? new Set(TRANSACTION_INDEXES.filter((_, at) => (leftOut & (1 << at)) === 0))
    : ALL_TRANSACTION_INDEXES
  return { hashSalt: word.length === 0 ? undefined : new TextDecoder().decode(word), indexes }
}

/** First version since which whole transactions are given, by the entry of the key; undefined in a gap. */
export function wholeTransactionsBegin(
  entry: { readonly version: bigint; readonly value: Uint8Array } | undefined,
): bigint | undefined {
  return entry && decodeWholeTransactionsMark(entry.value).hashSalt !== undefined ? entry.version : undefined
}
