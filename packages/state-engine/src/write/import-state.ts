import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { KeyedEntry } from '@ledger-state/core'
import type { ImportBase, ImportOptions, StateImport } from '@ledger-state/engine'
import {
  duplicateKey,
  expectObject,
  expectU64,
  importNeedsEmptyStore,
  importReplaced,
  storeCorrupt,
  validateImportBase,
  validateImportPart,
} from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { isLongKey } from '../bytes/stored-key.js'
import { appendBlocks } from '../databases/block-lists.js'
import { putLarge } from '../databases/large-values.js'
import { encodeLatest, MAX_INLINE_VALUE_LENGTH } from '../databases/latest-record.js'
import { encodeLedgerRecord, NOTHING_MERGED } from '../databases/ledger-record.js'
import { decodeMark, encodeMark, putMark } from '../databases/mark.js'
import type { AtFailurePoint } from '../failpoints/failure-points.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'

/** Records of the database `meta` during an import. */
const IMPORTING_KEY = Buffer.from('importing')
const IMPORTING_SEED = crc32(IMPORTING_KEY)
const IMPORT_MARK_KEY = Buffer.from('import-mark')

interface ImportCounts {
  readonly entries: number
  readonly nextLargeId: number
  readonly payloadBytes: number
}

const NOTHING: ImportCounts = { entries: 0, nextLargeId: 0, payloadBytes: 0 }

/** What an import needs of the writer of its store. */
export interface ImportWriter {
  /** Runs work in a write transaction of its own. The work may be run again. */
  transact(work: () => void): void
  /** Creates the write-ahead file that follows an import. Returns its number, and that of its first commit. */
  beginLog(): { readonly walFile: number; readonly nextCommit: number }
  readonly atFailurePoint: AtFailurePoint
}

/** Begins an import, or resumes one. @throws `store_not_empty`, `invalid_argument` */
export function beginImport(
  store: LmdbStore,
  builder: RecordBuilder,
  version: bigint,
  options: ImportOptions,
  writer: ImportWriter,
): StateImport {
  expectU64('the version of the import', version)
  expectObject('the options of the import', options)
  let left: ReturnType<typeof readUnfinished>
  writer.transact(() => {
    if (store.meta.getBinary(LEDGER_KEY)) throw importNeedsEmptyStore()
    left = readUnfinished(store)
    if (left && (!options.resume || left.version !== version)) {
      dropUnfinishedImport(store)
      left = undefined
    }
    if (!left) putUnfinished(store, builder, version, NOTHING, undefined)
  })
  return new LmdbImport(store, builder, version, left?.counts ?? NOTHING, left?.mark, writer)
}

/** Discards an unfinished import, within the transaction of the caller. */
export function dropUnfinishedImport({ meta, latest, large }: LmdbStore): void {
  if (!meta.getBinary(IMPORTING_KEY)) return
  latest.clearSync()
  large.clearSync()
  meta.removeSync(IMPORTING_KEY)
  meta.removeSync(IMPORT_MARK_KEY)
}

class LmdbImport implements StateImport {
  readonly version: bigint
  #mark: Uint8Array | undefined
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #writer: ImportWriter
  readonly #shared = new SharedRecord()
  #counts: ImportCounts

  constructor(
    store: LmdbStore,
    builder: RecordBuilder,
    version: bigint,
    counts: ImportCounts,
    mark: Uint8Array | undefined,
    writer: ImportWriter,
  ) {
    this.#store = store
    this.#builder = builder
    this.version = version
    this.#counts = counts
    this.#mark = mark
    this.#writer = writer
  }

  get entryCount(): number {
    return this.#counts.entries
  }

  get mark(): Uint8Array | undefined {
    return this.#mark && Uint8Array.from(this.#mark)
  }

  async add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void> {
    validateImportPart(this.version, entries, mark)
    let counts = this.#counts
    this.#writer.transact(() => {
      this.#expectCurrent()
      counts = this.#put(entries)
      putUnfinished(this.#store, this.#builder, this.version, counts, mark)
      this.#writer.atFailurePoint('import: part done')
    })
    this.#counts = counts
    this.#mark = mark && Uint8Array.from(mark)
  }

  async finish(base: ImportBase): Promise<void> {
    const chainId = validateImportBase(this.version, base)
    const { block, mark, complete = true } = base
    const { version } = this
    const { nextLargeId, payloadBytes } = this.#counts
    const log = this.#writer.beginLog()
    const ledger = { chainId, latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    this.#writer.transact(() => {
      this.#expectCurrent()
      const { meta } = this.#store
      const record = {
        ledger,
        base: { version, complete },
        ...log,
        ...NOTHING_MERGED,
        nextLargeId,
        blocks: appendBlocks(this.#store, this.#builder, [{ firstVersion: version, block }]),
        payloadBytes,
      }
      meta.putSync(LEDGER_KEY, encodeLedgerRecord(this.#builder, record))
      putMark(this.#store, this.#builder, mark)
      meta.removeSync(IMPORTING_KEY)
      meta.removeSync(IMPORT_MARK_KEY)
      this.#writer.atFailurePoint('import: before it counts')
    })
  }

  /** Another import, or a commit, may have discarded this one. */
  #expectCurrent(): void {
    const left = readUnfinished(this.#store)
    if (left?.version === this.version && left.counts.entries === this.#counts.entries) return
    throw importReplaced(this.version)
  }

  #put(entries: readonly KeyedEntry[]): ImportCounts {
    const { latest } = this.#store
    let { nextLargeId, payloadBytes } = this.#counts
    const putInPieces = (bytes: Uint8Array) => {
      const id = nextLargeId++
      putLarge(this.#store, this.#builder, id, bytes)
      return { id, length: bytes.length }
    }
    for (const { key, version, value } of entries) {
      if (this.#shared.load(latest, key, {})) throw duplicateKey(this.version)
      const longKey = isLongKey(key) ? putInPieces(key) : undefined
      const stored = value.length > MAX_INLINE_VALUE_LENGTH ? putInPieces(value) : value
      payloadBytes += key.length + value.length
      latest.putSync(key, encodeLatest(this.#builder, key, { version, fences: [], longKey, value: stored }))
    }
    return { entries: this.#counts.entries + entries.length, nextLargeId, payloadBytes }
  }
}

// u64 version | u64 entries | u64 next large id | u64 payload bytes | u32 CRC
const CONTENT_LENGTH = 8 * 4

function putUnfinished(
  { meta }: LmdbStore,
  builder: RecordBuilder,
  version: bigint,
  { entries, nextLargeId, payloadBytes }: ImportCounts,
  mark: Uint8Array | undefined,
): void {
  builder.begin().u64(version)
  for (const number of [entries, nextLargeId, payloadBytes]) builder.u64(BigInt(number))
  meta.putSync(IMPORTING_KEY, builder.seal(IMPORTING_SEED))
  if (mark) meta.putSync(IMPORT_MARK_KEY, encodeMark(builder, mark))
  else meta.removeSync(IMPORT_MARK_KEY)
}

function readUnfinished({ meta }: LmdbStore) {
  const bytes = meta.getBinary(IMPORTING_KEY)
  if (!bytes) return undefined
  const content = openRecord(bytes, IMPORTING_SEED, () => 'the record of an import')
  if (content.length !== CONTENT_LENGTH) throw storeCorrupt(`the record of an import has ${content.length} bytes`)
  const number = (at: number) => Number(content.readBigUInt64BE(at * 8))
  const mark = meta.getBinary(IMPORT_MARK_KEY)
  return {
    version: content.readBigUInt64BE(0),
    counts: { entries: number(1), nextLargeId: number(2), payloadBytes: number(3) },
    mark: mark && decodeMark(mark),
  }
}
