import { Buffer } from 'node:buffer'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import { VersionList } from '../bytes/version-list.js'
import { readLarge } from '../databases/large-values.js'
import { INDEXED, LONG_KEY, largeReference, latestTail, OLDER_AT } from '../databases/latest-record.js'
import { CHUNK_HEADER_LENGTH, DIRECTORY, DIRECTORY_HEADER_LENGTH } from '../databases/version-index.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { storeCorrupt } from '../port/errors.js'

/** Entries of a directory that are copied at a time: that of a million versions has 8,000. */
const DIRECTORY_SLICE = 64

/** The number of chunks of a key, and a slice of the first versions of each. */
interface Directory {
  readonly firstChunk: number
  readonly chunks: number
  readonly sliceStart: number
  readonly slice: VersionList
}

const NO_CHUNKS: Directory = { firstChunk: 0, chunks: 0, sliceStart: 0, slice: new VersionList() }

/** A place in a list: the number of a chunk of the version index, or of the tail, and a place in it. */
export interface RevisionPlace {
  readonly part: number
  readonly at: number
}

/**
 * The versions of all writes of one key in one snapshot, ascending: those of the version index, then the tail, which the
 * `latest` record holds. Reads the directory of the index, and chunks, only when they are asked for.
 */
export class RevisionList {
  readonly keyId: number
  readonly #store: LmdbStore
  readonly #options: ReadOptions
  readonly #indexed: boolean
  readonly #tail: VersionList
  #directory: Directory | undefined
  #chunk: { readonly part: number; readonly versions: VersionList } | undefined

  constructor(store: LmdbStore, record: SharedRecord, options: ReadOptions) {
    this.#store = store
    this.#options = options
    this.keyId = record.u48(2)
    this.#indexed = (record.bytes[0]! & INDEXED) !== 0
    this.#tail = new VersionList(record.copy(OLDER_AT, latestTail(record)))
    this.#tail.push(record.view.getBigUint64(8))
  }

  /** The newest write at or below a version. */
  newestAtMost(version: bigint): RevisionPlace | undefined {
    const inTail = this.#tail.countAtMost(version)
    if (inTail > 0) return { part: this.#tailPart, at: inTail - 1 }
    const part = this.#countChunksAtMost(version) - 1
    return part < 0 ? undefined : { part, at: this.#part(part).countAtMost(version) - 1 }
  }

  /** The oldest write at or above a version. */
  oldestAtLeast(version: bigint): RevisionPlace | undefined {
    if (version === 0n) return { part: 0, at: 0 }
    const below = this.newestAtMost(version - 1n)
    return below ? this.after(below) : { part: 0, at: 0 }
  }

  after({ part, at }: RevisionPlace): RevisionPlace | undefined {
    if (at + 1 < this.#part(part).count) return { part, at: at + 1 }
    return part < this.#tailPart ? { part: part + 1, at: 0 } : undefined
  }

  before({ part, at }: RevisionPlace): RevisionPlace | undefined {
    if (at > 0) return { part, at: at - 1 }
    return part > 0 ? { part: part - 1, at: this.#part(part - 1).count - 1 } : undefined
  }

  versionAt({ part, at }: RevisionPlace): bigint {
    return this.#part(part).at(at)
  }

  /** The version that superseded a write; undefined for the newest. */
  supersededBy(place: RevisionPlace): bigint | undefined {
    const next = this.after(place)
    if (!next) return undefined
    // The directory has the first version of each chunk.
    if (next.part !== place.part && next.part < this.#tailPart) return this.#firstVersionOf(next.part)
    return this.versionAt(next)
  }

  get #tailPart(): number {
    // Histories are mostly read from one of their ends.
    this.#directory ??= this.#readDirectory((firstVersions) => firstVersions.count)
    return this.#directory.chunks
  }

  #countChunksAtMost(version: bigint): number {
    let count = 0
    this.#directory = this.#readDirectory((firstVersions) => {
      count = firstVersions.countAtMost(version)
      return count
    })
    return count
  }

  #firstVersionOf(part: number): bigint {
    const { sliceStart, slice } = this.#directory!
    if (part >= sliceStart && part < sliceStart + slice.count) return slice.at(part - sliceStart)
    this.#directory = this.#readDirectory(() => part)
    return this.#directory.slice.at(part - this.#directory.sliceStart)
  }

  /** Copies the slice around the entry that is chosen. */
  #readDirectory(choose: (firstVersions: VersionList) => number): Directory {
    const record = this.#indexed ? this.#load(DIRECTORY) : undefined
    if (!record) return NO_CHUNKS
    const end = record.length - CHECKSUM_LENGTH
    const { buffer, byteOffset } = record.bytes
    const inPlace = Buffer.from(buffer, byteOffset + DIRECTORY_HEADER_LENGTH, end - DIRECTORY_HEADER_LENGTH)
    const firstVersions = new VersionList(inPlace)
    const sliceStart = Math.max(0, choose(firstVersions) - DIRECTORY_SLICE / 2)
    const slice = new VersionList(Buffer.from(firstVersions.slice(sliceStart, sliceStart + DIRECTORY_SLICE).bytes))
    return { firstChunk: record.view.getUint32(0), chunks: firstVersions.count, sliceStart, slice }
  }

  #part(part: number): VersionList {
    if (part === this.#tailPart) return this.#tail
    if (this.#chunk?.part !== part) {
      const record = this.#load(this.#directory!.firstChunk + part)
      if (!record) throw storeCorrupt('a chunk of the version index is missing')
      const versions = new VersionList(record.copy(CHUNK_HEADER_LENGTH, record.length - CHECKSUM_LENGTH))
      this.#chunk = { part, versions }
    }
    return this.#chunk!.versions
  }

  #load(number: number): SharedRecord | undefined {
    const record = new SharedRecord()
    const key = numberedKey(this.keyId, number)
    if (!record.load(this.#store.index, key, this.#options)) return undefined
    if (this.#store.verifyReads) record.verify(numberedKeySeed(key))
    return record
  }
}

/** Undefined for a key that was never written, or was forgotten. @throws `store_corrupt` */
export function readRevisionList(store: LmdbStore, key: Uint8Array, options: ReadOptions): RevisionList | undefined {
  const record = new SharedRecord()
  if (!record.load(store.latest, key, options)) return undefined
  if (store.verifyReads) record.verify(keySeed(key))
  if (record.bytes[0]! & LONG_KEY) {
    const stored = readLarge(store, largeReference(record, latestTail(record)), options)
    // The record is loaded again: the key was read into the same buffer.
    if (Buffer.compare(stored, key) !== 0 || !record.load(store.latest, key, options)) return undefined
  }
  return new RevisionList(store, record, options)
}
