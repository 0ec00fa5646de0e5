import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { type LedgerHasher, peekTransactionHash, readTransactionInfo, type TransactionInfo } from '@ledger-state/proof'
import { readAuxiliaryInfo, readTransaction, UnknownVariantError } from '@ledger-state/proof/transactions'
import { transactionNotFound } from '../errors.js'
import { SearchBudget, searchTransactionEnd } from './transaction-search.js'
import { UndecodedKinds } from './undecoded-kinds.js'

/** A Transaction and the TransactionInfo that commits to it, which precede events and write set in every raw source. */
export interface TransactionRecord {
  readonly transaction: Uint8Array
  readonly infoBytes: Uint8Array
  readonly info: TransactionInfo
  /** Why the transaction could not be decoded, so that its end was searched for; undefined if it was decoded. */
  readonly undecoded: string | undefined
}

/** Reads the records of one file or answer. They share a budget of searches. */
export class RecordReader {
  readonly #hasher: LedgerHasher
  readonly #hasAuxiliary: boolean
  readonly #budget = new SearchBudget()
  readonly #undecoded = new UndecodedKinds()

  /** @param hasAuxiliary whether auxiliary info is between transaction and info (backup format V1) */
  constructor(hasher: LedgerHasher, hasAuxiliary: boolean) {
    this.#hasher = hasher
    this.#hasAuxiliary = hasAuxiliary
  }

  /** Why transactions were not decoded; a few reasons at most. */
  get undecoded(): readonly string[] {
    return this.#undecoded.list
  }

  /** Reads a record up to its events, as `readTransactionRecord` does. */
  read(reader: ByteReader): TransactionRecord {
    const record = readTransactionRecord(reader, this.#hasher, this.#hasAuxiliary, this.#budget)
    if (record.undecoded !== undefined) this.#undecoded.add(record.undecoded)
    return record
  }
}

const OTHER_FORM = 'another form than their variants have'

/**
 * Reads a record up to its events. A transaction that cannot be decoded ends where an info begins that has its hash. See
 * docs/ledger-formats.md, "Records without lengths".
 * @param hasAuxiliary whether auxiliary info is between transaction and info (backup format V1)
 * @param budget of the file or answer that the record is in, if it holds more than one
 * @throws `invalid_bcs`, `verification_failed`
 */
export function readTransactionRecord(
  reader: ByteReader,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
  budget = new SearchBudget(),
): TransactionRecord {
  const start = reader.offset
  const decoded = decodeTransactionEnd(reader)
  let end = 'end' in decoded ? decoded.end : undefined
  if (end === undefined || !endsAt(reader, start, end, hasher, hasAuxiliary)) {
    end = searchTransactionEnd(reader, hasher, hasAuxiliary, budget)
  }
  if (end === undefined) throw transactionNotFound(start, hasher.salt, 'why' in decoded ? decoded.why : undefined)
  const infoStart = infoStartAfter(reader.bytes, end, hasAuxiliary)
  reader.offset = infoStart
  const info = readTransactionInfo(reader)
  return {
    transaction: reader.bytes.subarray(start, end),
    infoBytes: reader.bytes.subarray(infoStart, reader.offset),
    info,
    undecoded: 'end' in decoded && decoded.end === end ? undefined : 'why' in decoded ? decoded.why : OTHER_FORM,
  }
}

/** Offset of the info of a transaction with a known end. */
export function infoStartAfter(bytes: Uint8Array, transactionEnd: number, hasAuxiliary: boolean): number {
  if (!hasAuxiliary) return transactionEnd
  const reader = new ByteReader(bytes, transactionEnd)
  readAuxiliaryInfo(reader)
  return reader.offset
}

function decodeTransactionEnd({ bytes, offset, end }: ByteReader): { readonly end: number } | { readonly why: string } {
  const reader = new ByteReader(bytes, offset, end)
  try {
    readTransaction(reader)
    return { end: reader.offset }
  } catch (error) {
    if (error instanceof UnknownVariantError) return { why: error.variant }
    if (isLedgerStateError(error, 'invalid_bcs')) return { why: OTHER_FORM }
    throw error
  }
}

/** Whether a transaction ends at `end`: whether its hash is in the info that follows. */
function endsAt(
  { bytes, end: last }: ByteReader,
  start: number,
  end: number,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
): boolean {
  let infoStart = end
  try {
    infoStart = infoStartAfter(bytes, end, hasAuxiliary)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return false
    throw error
  }
  const claimed = peekTransactionHash({ bytes, end: last }, infoStart)
  return claimed !== undefined && hasher.hasHash('Transaction', bytes.subarray(start, end), claimed)
}
