import type { ByteReader } from '@ledger-state/core'
import {
  HASH_LENGTH,
  type LedgerHasher,
  peekTransactionHash,
  readTransactionInfo,
  type TransactionInfo,
} from '@ledger-state/proof'
import { transactionNotFound } from '../errors.js'

/** A Transaction and the TransactionInfo that commits to it, which precede events and write set in every raw source. */
export interface TransactionRecord {
  readonly transaction: Uint8Array
  readonly infoBytes: Uint8Array
  readonly info: TransactionInfo
}

const MOSTLY_ZERO = 16

/**
 * Bytes that the search for the end of a transaction may hash for each byte of the record, in addition to a fixed
 * amount. In a hostile record an info can seem to begin at every byte.
 */
const HASHED_PER_BYTE = 64
const HASHED_AT_LEAST = 1 << 20

/**
 * Reads a record up to its events without decoding the transaction: it ends where an info begins that has its hash. See
 * docs/ledger-formats.md, "Records without lengths".
 * @param hasAuxiliary whether auxiliary info is between transaction and info (backup format V1)
 * @throws `invalid_bcs`, `verification_failed`
 */
export function readTransactionRecord(
  reader: ByteReader,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
): TransactionRecord {
  const start = reader.offset
  const found = findInfo(reader, hasher, hasAuxiliary)
  if (!found) throw transactionNotFound(start, hasher.salt)
  reader.offset = found.infoStart
  const info = readTransactionInfo(reader)
  return {
    transaction: reader.bytes.subarray(start, found.transactionEnd),
    infoBytes: reader.bytes.subarray(found.infoStart, reader.offset),
    info,
  }
}

function findInfo(reader: ByteReader, hasher: LedgerHasher, hasAuxiliary: boolean) {
  const { bytes, offset: start, end } = reader
  let budget = (end - start) * HASHED_PER_BYTE + HASHED_AT_LEAST
  for (let infoStart = start + 1; infoStart < end; infoStart++) {
    const claimed = peekTransactionHash(reader, infoStart)
    if (!claimed || isMostlyZero(claimed)) continue
    const ends = hasAuxiliary ? endsBeforeAuxiliary(bytes, start, infoStart) : [infoStart]
    for (const transactionEnd of ends) {
      budget -= transactionEnd - start
      if (budget < 0) return undefined
      if (hasher.hasHash('Transaction', bytes.subarray(start, transactionEnd), claimed)) {
        return { transactionEnd, infoStart }
      }
    }
  }
  return undefined
}

/**
 * Whether half of the bytes are zero, as in runs of zeros in a transaction. Of hashes it is true once in 2^99
 * times.
 */
function isMostlyZero(hash: Uint8Array): boolean {
  let zeros = 0
  for (let at = 0; at < HASH_LENGTH; at++) if (hash[at] === 0) zeros++
  return zeros >= MOSTLY_ZERO
}

/** Offset of the info of a transaction whose end is known. */
export function infoStartAfter(bytes: Uint8Array, transactionEnd: number, hasAuxiliary: boolean): number {
  if (!hasAuxiliary) return transactionEnd
  return transactionEnd + (bytes[transactionEnd] === 0 ? 1 : 5)
}

/** Offsets at which the transaction may end before auxiliary info, which is tag 0 alone, or tag 1 or 2 and a u32. */
function endsBeforeAuxiliary(bytes: Uint8Array, start: number, infoStart: number): number[] {
  const ends: number[] = []
  if (infoStart - 1 > start && bytes[infoStart - 1] === 0) ends.push(infoStart - 1)
  const tag = bytes[infoStart - 5]
  if (infoStart - 5 > start && (tag === 1 || tag === 2)) ends.push(infoStart - 5)
  return ends
}
