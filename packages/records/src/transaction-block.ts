import { ByteReader } from '@ledger-state/core'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { HASH_LENGTH } from '@ledger-state/proof'
import { decompress } from '#decompress'
import { RUN_VERSIONS } from './own-keys.js'
import { readVarint } from './varint.js'

/** The stored part of a transaction. The state and the transactions before it have the rest. */
export interface StoredTransaction {
  readonly transaction: Uint8Array
  readonly events: Uint8Array
  /** The write set; in a block without values, `withValues` makes it complete. */
  readonly writeSet: Uint8Array
  /** The info without its hashes: see `outlineToInfo`. */
  readonly outline: Uint8Array
  readonly hashesAt: number
  readonly indexInBlock: number | undefined
  /** Hash of the info. */
  readonly leaf: Uint8Array
  /** Facts that only a block with values has, because the state may be gone; else undefined. */
  readonly ownFacts: OwnFacts | undefined
}

/** Facts of a transaction whose write set has its values. */
export interface OwnFacts {
  /** Time of its block, in microseconds since 1970. */
  readonly timestampUsec: bigint
}

/** Transactions of successive versions, which are stored together. */
export interface TransactionBlock {
  readonly firstVersion: bigint
  /** First version of the group that the block belongs to: the versions that were committed together with it. */
  readonly group: bigint
  /** Frontier of the ledger's accumulator with the first of these versions as its last leaf. */
  readonly frontier: Uint8Array
  readonly transactions: readonly StoredTransaction[]
}

// A block:
//   u8 3 · uleb128 n · uleb128 its first version less the first of its group · frontier with its length ·
//   n × leaf, 32 bytes · uleb128 bytes that follow, decompressed · the following as one zstd frame (RFC 8878):
//     n × uleb128 index in its block plus 1, or 0 · lengths of the outline, the events, the write set, the transaction ·
//     offset of the hashes in the info
//     n × outline · n × events · n × write set · n × transaction
// With 4 as its first byte, write sets have their values, and each row ends with the uleb128 time of its block.
/** First byte of a block, by whether write sets have their values. */
export const FORMS = { withoutValues: 3, withValues: 4 } as const
const FRONTIER_COUNT_LENGTH = 8

/** Decompressed bytes from which a block takes no further transaction. */
export const FULL_BLOCK_BYTES = 65_536
/** Most decompressed bytes of a block. A longer transaction is not kept. */
export const MAX_DECOMPRESSED = 4 * MAX_VALUE_LENGTH
/** zstd packs at most 128 KiB, of equal bytes, in four. */
const MOST_COMPRESSED = 32_768

/** The parts of a transaction, in their order in a block. */
export const COLUMNS = ['outline', 'events', 'writeSet', 'transaction'] as const

/**
 * First version of a block, and of its group; undefined if the value is empty, because the transactions of its versions
 * are not kept.
 */
export function placeOfBlock(bytes: Uint8Array): Pick<TransactionBlock, 'firstVersion' | 'group'> | undefined {
  return bytes.length === 0 ? undefined : readHead(new ByteReader(bytes))
}

/** Decodes a block. @throws `invalid_bcs` */
export function decodeTransactionBlock(bytes: Uint8Array): TransactionBlock {
  const reader = new ByteReader(bytes)
  const { count, firstVersion, group, frontier, hasValues } = readHead(reader)
  const leaves = Array.from({ length: count }, () => reader.readBytes(HASH_LENGTH))
  const length = reader.readUleb128()
  const inner = new ByteReader(decompressRest(reader, length))
  const rows = leaves.map((leaf) => {
    const index = inner.readUleb128()
    const lengths = COLUMNS.map(() => inner.readUleb128())
    const hashesAt = inner.readUleb128()
    const ownFacts = hasValues ? { timestampUsec: readVarint(inner) } : undefined
    return { leaf, indexInBlock: index === 0 ? undefined : index - 1, lengths, hashesAt, ownFacts }
  })
  const columns = COLUMNS.map((_, column) => rows.map(({ lengths }) => inner.readBytes(lengths[column]!)))
  inner.expectEnd()
  const transactions = rows.map(({ leaf, indexInBlock, hashesAt, ownFacts }, row) => {
    const [outline, events, writeSet, transaction] = columns.map((column) => column[row]!)
    if (hashesAt > outline!.length) throw inner.fault('hashes outside of a transaction info')
    return {
      outline: outline!,
      events: events!,
      writeSet: writeSet!,
      transaction: transaction!,
      hashesAt,
      indexInBlock,
      leaf,
      ownFacts,
    }
  })
  return { firstVersion, group, frontier, transactions }
}

function readHead(reader: ByteReader) {
  const form = reader.readU8()
  const hasValues = form === FORMS.withValues
  if (form !== FORMS.withoutValues && !hasValues)
    throw reader.fault(`unknown form ${form} of a block of transactions`, 0)
  const count = reader.readUleb128()
  const before = BigInt(reader.readUleb128())
  const frontier = reader.readByteString()
  if (count === 0 || count > Number(RUN_VERSIONS) || frontier.length < FRONTIER_COUNT_LENGTH) {
    throw reader.fault('a block of transactions with a wrong head', 0)
  }
  // The frontier counts the first version as its last leaf.
  const firstVersion = new ByteReader(frontier).readU64() - 1n
  return { count, frontier, hasValues, firstVersion, group: firstVersion - before }
}

function decompressRest(reader: ByteReader, length: number): Uint8Array {
  const compressed = reader.readBytes(reader.remaining)
  const isPossible = length <= MAX_DECOMPRESSED && length <= MOST_COMPRESSED * compressed.length
  const decompressed = isPossible ? decompress(compressed, length) : undefined
  if (decompressed?.length !== length) throw reader.fault('a block of transactions that cannot be decompressed', 0)
  return decompressed
}
