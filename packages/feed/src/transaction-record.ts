import type { Buffer } from 'node:buffer'
import { type ByteReader, LedgerStateError } from '@ledger-state/core'
import { readTypeTag } from '@ledger-state/type-tag'
import { AccumulatorFrontier } from './accumulator.js'
import { HASH_LENGTH, type LedgerHasher } from './ledger-hasher.js'
import { peekTransactionHash, readTransactionInfo, type TransactionInfo } from './transaction-info.js'

/** A Transaction, the TransactionInfo that commits to it, and its events: what precedes a write set in every raw source. */
export interface TransactionRecord {
  readonly transaction: Buffer
  readonly infoBytes: Buffer
  readonly info: TransactionInfo
}

const MOSTLY_ZERO = 16

/**
 * Bytes that the search for the end of a transaction may hash: so many for each byte of the record, and some for all.
 * Made-up records have an info begin wherever one looks.
 */
const HASHED_PER_BYTE = 64
const HASHED_AT_LEAST = 1 << 20

/**
 * Reads up to the events, without decoding the transaction: its end is where an info begins that has its hash.
 * See docs/ledger-formats.md, section "Records without lengths".
 * @param hasAuxiliary whether auxiliary info stands between transaction and info (backup format V1)
 * @throws `invalid_bcs`, `verification_failed`
 */
export function readTransactionRecord(
  reader: ByteReader,
  hasher: LedgerHasher,
  hasAuxiliary: boolean,
): TransactionRecord {
  const start = reader.offset
  const found = findInfo(reader, hasher, hasAuxiliary)
  if (!found) {
    const message = `no TransactionInfo has the hash of the transaction that begins at byte ${start}: it is damaged, or its ledger salts hashes with another word than ${hasher.salt}`
    throw new LedgerStateError('verification_failed', message, { offset: start })
  }
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
      if (hasher.hash('Transaction', bytes.subarray(start, transactionEnd)).equals(claimed)) {
        return { transactionEnd, infoStart }
      }
    }
  }
  return undefined
}

/** Zeros are what transactions hold most of; a hash has half of its bytes zero once in 2^99 times. */
function isMostlyZero(hash: Buffer): boolean {
  let zeros = 0
  for (let at = 0; at < HASH_LENGTH; at++) if (hash[at] === 0) zeros++
  return zeros >= MOSTLY_ZERO
}

/** Auxiliary info: tag 0 and nothing, or tag 1 or 2 and a u32. */
function endsBeforeAuxiliary(bytes: Buffer, start: number, infoStart: number): number[] {
  const ends: number[] = []
  if (infoStart - 1 > start && bytes[infoStart - 1] === 0) ends.push(infoStart - 1)
  const tag = bytes[infoStart - 5]
  if (infoStart - 5 > start && (tag === 1 || tag === 2)) ends.push(infoStart - 5)
  return ends
}

const EVENT_V1 = 0
const EVENT_V2 = 1
const EVENT_KEY_LENGTH = 8 + 32

/** Moves past the events, and answers with their accumulator root where a hasher is given. */
export function readEvents(reader: ByteReader, hasher?: LedgerHasher): Buffer | undefined {
  const frontier = hasher && new AccumulatorFrontier(hasher, 'EventAccumulator')
  for (let rest = reader.readLength(); rest > 0; rest--) {
    const start = reader.offset
    const tag = reader.readUleb128()
    if (tag !== EVENT_V1 && tag !== EVENT_V2) throw reader.fault(`unknown variant ${tag} of event`, start)
    if (tag === EVENT_V1) reader.skip(EVENT_KEY_LENGTH + 8)
    readTypeTag(reader)
    reader.skip(reader.readLength())
    frontier?.append(hasher!.hash('ContractEvent', reader.bytes.subarray(start, reader.offset)))
  }
  return frontier?.root()
}

/** @throws `verification_failed` naming what differs */
export function expectHash(what: string, computed: Buffer, claimed: Buffer): void {
  if (computed.equals(claimed)) return
  const message = `${what} is ${claimed.toString('hex')}, but ${computed.toString('hex')} is what the data hashes to`
  throw new LedgerStateError('verification_failed', message)
}
