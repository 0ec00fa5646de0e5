// Value of `WHOLE_TRANSACTIONS_KEY`.

/** The value in a gap: the store was not given the whole transactions that follow. */
export const WHOLE_TRANSACTIONS_GAP = new Uint8Array(0)

/** The value where whole transactions are given. @param hashSalt the word before the names of the ledger's hashes */
export function encodeWholeTransactionsMark(hashSalt: string): Uint8Array {
  return new TextEncoder().encode(hashSalt)
}

/** The word before the names of the ledger's hashes; undefined in a gap. */
export function decodeWholeTransactionsMark(value: Uint8Array): string | undefined {
  return value.length === 0 ? undefined : new TextDecoder().decode(value)
}

/** First version since which whole transactions are given, by the entry of the key; undefined in a gap. */
export function wholeTransactionsBegin(
  entry: { readonly version: bigint; readonly value: Uint8Array } | undefined,
): bigint | undefined {
  return entry && decodeWholeTransactionsMark(entry.value) !== undefined ? entry.version : undefined
}
