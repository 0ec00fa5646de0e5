import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { expectHash, HASH_LENGTH, type LedgerHasher } from '@ledger-state/proof'
import { computeEventRoot, readEvents } from '@ledger-state/proof/transactions'
import { atPlace, sourceFailed } from '../errors.js'
import { readWriteSet } from '../wire/write-set.js'
import { RecordReader } from './transaction-record.js'

/**
 * A page of transactions as a node answers it: a list of items, each a u64 version and the bytes that `proveItem`
 * reads.
 */
export interface RestPage {
  readonly body: Uint8Array
  /** Version of the first item. */
  readonly start: bigint
  /** Name of the page in errors. */
  readonly url: string
  /** Whether to compare the event root and the state change hash of each transaction. */
  readonly verify: boolean
}

/** Results of the proof of a page, for its reader. */
export interface ProvenPage {
  /** Offsets for each item: the end of its transaction, and the beginning of its accumulator root. */
  readonly splits: Uint32Array
  /** Hash of the TransactionInfo of each item: the leaves of the ledger's accumulator. */
  readonly leaves: Uint8Array
  /** Root of the state after an item, by the item's index, for the items that have one: the last of each block. */
  readonly stateRoots: ReadonlyMap<number, Uint8Array>
  /** Why transactions were not decoded; a few reasons at most. */
  readonly undecoded: readonly string[]
}

/** Fewest bytes of an item: a u64 version, a transaction, an info, a root, and no events or writes. */
const SHORTEST_ITEM = 100

/**
 * Proves the items of a page, each by itself: its transaction hash and, if asked for, its event root and its state
 * change hash. The caller has to prove their place in the ledger, from the leaves. See docs/ledger-formats.md, "REST
 * pages".
 * @throws `source_failed`, `verification_failed` naming the version
 */
export function proveRestPage({ body, start, url, verify }: RestPage, hasher: LedgerHasher): ProvenPage {
  const reader = new ByteReader(body)
  let version = start
  try {
    const count = reader.readLength()
    if (count > body.length / SHORTEST_ITEM) throw reader.fault(`${count} items do not fit into the page`)
    const splits = new Uint32Array(2 * count)
    const leaves = new Uint8Array(HASH_LENGTH * count)
    const stateRoots = new Map<number, Uint8Array>()
    const records = new RecordReader(hasher, false)
    for (let at = 0; at < count; at++, version++) {
      const found = reader.readU64()
      if (found !== version) throw sourceFailed.otherVersion(found)
      const { leaf, stateRoot } = proveItem(reader, records, hasher, verify, splits, at)
      leaves.set(leaf, at * HASH_LENGTH)
      if (stateRoot) stateRoots.set(at, stateRoot)
    }
    reader.expectEnd()
    return { splits, leaves, stateRoots, undecoded: records.undecoded }
  } catch (error) {
    throw isLedgerStateError(error) ? atPlace(error, `${url}, version ${version}`, 'source_failed') : error
  }
}

/**
 * Proves a Transaction, its TransactionInfo, events, accumulator root and WriteSet. Returns the leaf, and the state
 * root if the info has one.
 */
function proveItem(
  reader: ByteReader,
  records: RecordReader,
  hasher: LedgerHasher,
  verify: boolean,
  splits: Uint32Array,
  at: number,
): { readonly leaf: Uint8Array; readonly stateRoot: Uint8Array | undefined } {
  const start = reader.offset
  const { transaction, info, infoBytes } = records.read(reader)
  if (verify) expectHash('the event root', computeEventRoot(reader, hasher), info.eventRoot)
  else readEvents(reader)
  splits[2 * at] = start + transaction.length
  splits[2 * at + 1] = reader.offset
  reader.skip(HASH_LENGTH)
  const writeSetStart = reader.offset
  readWriteSet(reader)
  if (verify) {
    const writeSet = reader.bytes.subarray(writeSetStart, reader.offset)
    hasher.expectHash('the state change hash', 'WriteSet', writeSet, info.stateChangeHash)
  }
  const { stateRoot } = info
  return { leaf: hasher.hash('TransactionInfo', infoBytes), stateRoot: stateRoot && Uint8Array.from(stateRoot) }
}
