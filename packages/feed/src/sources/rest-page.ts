import type { Buffer } from 'node:buffer'
import { ByteReader, isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { atPlace, otherVersion } from '../errors.js'
import { computeEventRoot } from '../proof/event-root.js'
import { expectHash, type LedgerHasher } from '../proof/ledger-hasher.js'
import { readTransactionRecord } from '../proof/transaction-record.js'
import { readEvents } from '../wire/events.js'
import { HASH_LENGTH } from '../wire/hash-bytes.js'
import { readWriteSet } from '../wire/write-set.js'

/** A transaction as a node gives it, with the commitments that tell it from any other. */
export interface RestItem extends VersionWrites {
  readonly transaction: Buffer
  /** Hash of its TransactionInfo: its leaf in the ledger's accumulator. */
  readonly leaf: Buffer
  /** Of the ledger up to it. */
  readonly accumulatorRoot: Buffer
}

/**
 * Reads a page of transactions in BCS: a vector of u64 version, Transaction, TransactionInfo, events, accumulator root,
 * WriteSet. Hashes of each are compared if `verify`. See docs/ledger-formats.md, "REST pages".
 * @param url names the page in errors
 * @throws `source_failed`, `verification_failed` naming the version
 */
export function parseRestPage(
  body: Buffer,
  start: bigint,
  url: string,
  hasher: LedgerHasher,
  verify: boolean,
): RestItem[] {
  const reader = new ByteReader(body)
  const items: RestItem[] = []
  let version = start
  try {
    for (let rest = reader.readLength(); rest > 0; rest--, version++) {
      const found = reader.readU64()
      if (found !== version) throw otherVersion(found)
      items.push(parseItem(reader, version, hasher, verify))
    }
    reader.expectEnd()
  } catch (error) {
    throw isLedgerStateError(error) ? atPlace(error, `${url}, version ${version}`, 'source_failed') : error
  }
  return items
}

function parseItem(reader: ByteReader, version: bigint, hasher: LedgerHasher, verify: boolean): RestItem {
  const { transaction, info, infoBytes } = readTransactionRecord(reader, hasher, false)
  if (verify) expectHash('the event root', computeEventRoot(reader, hasher), info.eventRoot)
  else readEvents(reader)
  const accumulatorRoot = reader.readBytes(HASH_LENGTH)
  const writeSetStart = reader.offset
  const writes = readWriteSet(reader)
  if (verify) {
    const writeSet = reader.bytes.subarray(writeSetStart, reader.offset)
    expectHash('the state change hash', hasher.hash('WriteSet', writeSet), info.stateChangeHash)
  }
  return { version, writes, transaction, leaf: hasher.hash('TransactionInfo', infoBytes), accumulatorRoot }
}

export function isSameItem(a: RestItem, b: RestItem): boolean {
  return a.version === b.version && a.leaf.equals(b.leaf)
}
