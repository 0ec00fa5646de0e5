import { Buffer } from 'node:buffer'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { VersionList } from '../bytes/version-list.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

// The database `index` lists the versions of writes of keys that were written often:
//   (key id, chunk number) → u64 version at whose commit it was last written | n × u64 version, ascending | u32 CRC
//   (key id, DIRECTORY) → u32 number of the first chunk that is left | m × u64 first version of each chunk | u32 CRC

export const DIRECTORY = 0xffff_ffff
export const CHUNK_HEADER_LENGTH = 8
export const DIRECTORY_HEADER_LENGTH = 4
/** A read copies one chunk and the directory. With 10,000 versions, that is least if both have about 100 entries. */
const CHUNK_VERSIONS = 120

export interface Chunk {
  readonly writtenAt: bigint
  readonly versions: VersionList
}

export interface Directory {
  readonly firstChunk: number
  /** The first version of each chunk. */
  readonly firstVersions: VersionList
}

/** @throws `store_corrupt` */
export function readChunk(
  { index }: LmdbStore,
  keyId: number,
  number: number,
  options: ReadOptions = {},
): Chunk | undefined {
  const key = numberedKey(keyId, number)
  const record = index.getBinary(key, options)
  if (!record) return undefined
  const content = openRecord(record, numberedKeySeed(key), () => `chunk ${number} of key ${keyId}`)
  return { writtenAt: content.readBigUInt64BE(0), versions: new VersionList(content.subarray(CHUNK_HEADER_LENGTH)) }
}

/** @throws `store_corrupt` */
export function readDirectory({ index }: LmdbStore, keyId: number, options: ReadOptions = {}): Directory | undefined {
  const key = numberedKey(keyId, DIRECTORY)
  const record = index.getBinary(key, options)
  if (!record) return undefined
  const content = openRecord(record, numberedKeySeed(key), () => `the directory of key ${keyId}`)
  return {
    firstChunk: content.readUInt32BE(0),
    firstVersions: new VersionList(content.subarray(DIRECTORY_HEADER_LENGTH)),
  }
}

/** Adds versions to the index. Returns the numbers of the chunks written. */
export function addVersions(
  store: LmdbStore,
  builder: RecordBuilder,
  keyId: number,
  versions: VersionList,
  writtenAt: bigint,
): number[] {
  const directory = readDirectory(store, keyId) ?? { firstChunk: 0, firstVersions: new VersionList() }
  const { firstChunk, firstVersions } = directory
  const chunksBefore = firstVersions.count
  let number = firstChunk + Math.max(chunksBefore - 1, 0)
  let chunk = chunksBefore === 0 ? new VersionList() : readChunk(store, keyId, number)!.versions
  const written: number[] = []
  for (let at = 0; at < versions.count; ) {
    if (chunk.count === CHUNK_VERSIONS) {
      number++
      chunk = new VersionList()
    }
    if (chunk.count === 0) firstVersions.push(versions.at(at))
    const taken = versions.slice(at, Math.min(versions.count, at + CHUNK_VERSIONS - chunk.count))
    const key = numberedKey(keyId, number)
    const record = builder.begin().u64(writtenAt).bytes(chunk.bytes).bytes(taken.bytes).seal(numberedKeySeed(key))
    store.index.putSync(key, record)
    written.push(number)
    at += taken.count
    // Only a full chunk is followed by another.
    chunk = new VersionList(FULL_CHUNK)
  }
  if (firstVersions.count > chunksBefore) putDirectory(store, builder, keyId, directory)
  return written
}

const FULL_CHUNK = Buffer.alloc(CHUNK_VERSIONS * 8)

/** Drops a chunk unless a later version wrote it again: that version retires it, too. */
export function dropChunk(
  store: LmdbStore,
  builder: RecordBuilder,
  keyId: number,
  number: number,
  writtenAt: bigint,
): void {
  const chunk = readChunk(store, keyId, number)
  if (chunk?.writtenAt !== writtenAt) return
  store.index.removeSync(numberedKey(keyId, number))
  const { firstChunk, firstVersions } = readDirectory(store, keyId)!
  const dropped = number + 1 - firstChunk
  putDirectory(store, builder, keyId, { firstChunk: number + 1, firstVersions: firstVersions.slice(dropped) })
}

/** Drops the version index of a key that is forgotten. */
export function dropIndex(store: LmdbStore, keyId: number): void {
  const directory = readDirectory(store, keyId)
  if (!directory) return
  for (let at = 0; at < directory.firstVersions.count; at++) {
    store.index.removeSync(numberedKey(keyId, directory.firstChunk + at))
  }
  store.index.removeSync(numberedKey(keyId, DIRECTORY))
}

function putDirectory({ index }: LmdbStore, builder: RecordBuilder, keyId: number, directory: Directory): void {
  const { firstChunk, firstVersions } = directory
  const key = numberedKey(keyId, DIRECTORY)
  index.putSync(key, builder.begin().u32(firstChunk).bytes(firstVersions.bytes).seal(numberedKeySeed(key)))
}
