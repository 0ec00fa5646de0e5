import type { Buffer } from 'node:buffer'
import { numberedKeySeed, versionKey } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, MAX_RECORD_LENGTH, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { storeCorrupt } from '../port/errors.js'
import type { LargeBytes } from './large-values.js'
import { DELETED, isLarge, LARGE, type StoredValue } from './latest-record.js'

// The database `log` has what each version superseded:
//   (version, key id) → u8 DELETED or LARGE | value, or reference to it: u48 id, u32 length | u32 CRC
// and the database `retired` what else can be dropped once a version is the oldest:
//   (version, n) → entries | u32 CRC
//     entry: u8 1 | u16 length | stored form of a key that the version deleted
//          | u8 2 | u48 key id | u32 number of a chunk of the version index that its commit wrote
//          | u8 3 | u48 id | u32 length of a large value that it superseded
// Versions only grow, so both are appended to at their end and pruned from their front.

export const ENTRY_HEADER_LENGTH = 1
/** Longer values are kept in pieces, which fill pages better: history is most of a store. */
export const MAX_LOGGED_VALUE_LENGTH = 1_400
const APPEND = { append: true }

export interface SupersededEntry {
  readonly keyId: number
  readonly value: StoredValue
}

/** Appends the values that a version superseded, in the order of their key ids. */
export function putSuperseded(
  { log }: LmdbStore,
  builder: RecordBuilder,
  version: bigint,
  entries: SupersededEntry[],
): void {
  if (entries.length > 1) entries.sort((a, b) => a.keyId - b.keyId)
  for (const { keyId, value } of entries) {
    builder.begin()
    if (value === null) builder.u8(DELETED)
    else if (isLarge(value)) builder.u8(LARGE).u48(value.id).u32(value.length)
    else builder.u8(0).bytes(value)
    const key = versionKey(version, keyId)
    log.putSync(key, builder.seal(numberedKeySeed(key)), APPEND)
  }
}

export interface RetiredChunk {
  readonly keyId: number
  readonly number: number
}

/** What can be dropped once the version is the oldest. */
export interface Retired {
  /** Stored forms of keys that the version deleted. */
  readonly deletions: Uint8Array[]
  readonly chunks: RetiredChunk[]
  readonly large: LargeBytes[]
}

const DELETION_KIND = 1
const CHUNK_KIND = 2
const LARGE_KIND = 3

/** Returns how many records that takes. */
export function putRetired(
  { retired: table }: LmdbStore,
  builder: RecordBuilder,
  version: bigint,
  retired: Retired,
): number {
  let part = 0
  builder.begin()
  const flush = () => {
    if (builder.length > 0) {
      const key = versionKey(version, part++)
      table.putSync(key, builder.seal(numberedKeySeed(key)), APPEND)
    }
    builder.begin()
  }
  const reserve = (length: number) => {
    if (builder.length + length + CHECKSUM_LENGTH > MAX_RECORD_LENGTH) flush()
  }
  for (const key of retired.deletions) {
    reserve(3 + key.length)
    builder.u8(DELETION_KIND).u16(key.length).bytes(key)
  }
  for (const { keyId, number } of retired.chunks) {
    reserve(11)
    builder.u8(CHUNK_KIND).u48(keyId).u32(number)
  }
  for (const { id, length } of retired.large) {
    reserve(11)
    builder.u8(LARGE_KIND).u48(id).u32(length)
  }
  flush()
  return part
}

/** @throws `store_corrupt` */
export function decodeRetired(version: bigint, content: Buffer): Retired {
  const retired: Retired = { deletions: [], chunks: [], large: [] }
  for (let at = 0; at < content.length; ) {
    const kind = content[at]
    if (kind === DELETION_KIND && at + 3 <= content.length) {
      const end = at + 3 + content.readUInt16BE(at + 1)
      retired.deletions.push(content.subarray(at + 3, end))
      at = end
    } else if ((kind === CHUNK_KIND || kind === LARGE_KIND) && at + 11 <= content.length) {
      const id = content.readUIntBE(at + 1, 6)
      const number = content.readUInt32BE(at + 7)
      if (kind === CHUNK_KIND) retired.chunks.push({ keyId: id, number })
      else retired.large.push({ id, length: number })
      at += 11
    } else {
      throw storeCorrupt(`what version ${version} retired does not parse`)
    }
  }
  return retired
}
