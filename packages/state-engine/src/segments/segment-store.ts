import { Buffer } from 'node:buffer'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { makeFolderNow } from '@ledger-state/core/files'
import { storedValueEnd } from '@ledger-state/engine/authoring'
import { KeyHash } from '../memtable/key-hash.js'
import { Segment } from '../memtable/segment.js'
import { payloadLength, putCommit } from '../wal/put-payload.js'
import { BlockCache } from './block-cache.js'
import { SegmentMatch } from './block-search.js'
import { ABSENT, PRESENT } from './found.js'
import { KeyProbe } from './key-filter.js'
import { mergeSegments } from './merge-segments.js'
import { putMemtable } from './put-memtable.js'
import { SegmentReader } from './segment-reader.js'
import { SegmentWriter } from './segment-writer.js'

const HASH_SEED = Buffer.from('measured')
const TABLE_BYTES = 2 ** 25
/** Number of files of a level that become one of the next. */
const FAN = 8

/** How a `SegmentStore` reads its files. */
export interface SegmentStoreOptions {
  /** Whether files are read through LMDB's map. */
  readonly isMapped: boolean
  /** Bytes of the cache of blocks. */
  readonly cacheBytes: number
}

/**
 * Segment files and nothing else, to be measured: no write-ahead log, no catalog, no window. `finish` writes what is in
 * memory; only then may it be read.
 */
export class SegmentStore {
  readonly #path: string
  readonly #options: SegmentStoreOptions
  readonly #cache: BlockCache
  readonly #hash = new KeyHash(HASH_SEED)
  readonly #probe = new KeyProbe(this.#hash)
  readonly #match = new SegmentMatch()
  #table: Segment | undefined
  /** Readers, the newest first. */
  #readers: SegmentReader[]

  /** Opens the files in a folder. Their names are level and first version. */
  constructor(path: string, options: SegmentStoreOptions) {
    makeFolderNow(path)
    this.#path = path
    this.#options = options
    this.#cache = new BlockCache(options.cacheBytes)
    const names = readdirSync(path).filter((name) => /^\d+-\d+$/.test(name))
    this.#readers = names.map((name) => this.#open(name))
    this.#sort()
  }

  get fileBytes(): number {
    return this.#readers.reduce((sum, { file }) => sum + statSync(file.path).size, 0)
  }

  /** Adds versions to those in memory, and writes a file when there are many. */
  add(versions: readonly VersionWrites[]): void {
    this.#table ??= new Segment(0, this.#hash)
    const content = { number: 1, chainId: 1n, versions, mark: undefined, blockBefore: versions[0]!.block }
    this.#table.reserve(payloadLength(content))
    this.#table.head = putCommit(this.#table, this.#hash, content, () => true)
    if (this.#table.byteSize >= TABLE_BYTES) this.finish()
  }

  /** Writes what is in memory into a file, and merges levels that are full. */
  finish(): void {
    const table = this.#table
    if (!table) return
    this.#table = undefined
    const lastVersion = table.head!.latestVersion
    this.#write(0, table.firstVersion, lastVersion, (writer) => {
      for (const _ of putMemtable(table, writer));
    })
    for (let level = 0; ; level++) {
      const full = this.#readers.filter(({ identity }) => identity.level === level).reverse()
      if (full.length < FAN) return
      this.#merge(level + 1, full)
    }
  }

  /** A view of the value at a version, valid until the next read; undefined if there is none. */
  peek(key: Uint8Array, version: bigint): Uint8Array | undefined {
    const probe = this.#probe.take(key)
    const match = this.#match
    for (const reader of this.#readers) {
      const { firstVersion } = reader.identity
      if (firstVersion > version) continue
      const found = reader.find(probe, Number(version - firstVersion), match)
      if (found === ABSENT) continue
      if (found !== PRESENT) return undefined
      return match.bytes.subarray(match.start, storedValueEnd(match.bytes, match.start, match.end))
    }
    return undefined
  }

  /** Closes the files. */
  close(): void {
    this.finish()
    for (const reader of this.#readers) reader.close()
  }

  #merge(level: number, inputs: readonly SegmentReader[]): void {
    const { firstVersion } = inputs[0]!.identity
    const { lastVersion } = inputs.at(-1)!.identity
    this.#write(level, firstVersion, lastVersion, (writer) => {
      const all = inputs.map((reader) => ({ reader, until: reader.identity.lastVersion }))
      for (const _ of mergeSegments(all, writer, { firstVersion }));
    })
    for (const input of inputs) {
      input.close()
      rmSync(input.file.path)
    }
    this.#readers = this.#readers.filter((reader) => !inputs.includes(reader))
  }

  #write(level: number, firstVersion: bigint, lastVersion: bigint, put: (writer: SegmentWriter) => void): void {
    const name = `${level}-${firstVersion}`
    const identity = { storeId: 1n, firstVersion, lastVersion, hashSeed: HASH_SEED, level, isBase: false }
    const writer = new SegmentWriter(join(this.#path, name), identity, { isDurable: false })
    put(writer)
    writer.finish()
    this.#readers.push(this.#open(name))
    this.#sort()
  }

  #open(name: string): SegmentReader {
    return new SegmentReader(join(this.#path, name), { cache: this.#cache, isMapped: this.#options.isMapped })
  }

  #sort(): void {
    this.#readers.sort((a, b) => (a.identity.firstVersion > b.identity.firstVersion ? -1 : 1))
  }
}
