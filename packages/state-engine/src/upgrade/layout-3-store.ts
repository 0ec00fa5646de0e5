import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlockInfo, noLedger } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import {
  NUMBERED_KEY_ENCODER,
  type NumberedKey,
  numberedKey,
  numberedKeySeed,
  numberedKeyVersion,
  versionKey,
} from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, openRecord } from '../bytes/record.js'
import { storedKeyToPrefix } from '../bytes/stored-key.js'
import { readLarge } from '../databases/large-values.js'
import { expectSoundFile } from '../lmdb/data-file.js'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import { openEnvironment } from '../lmdb/open-environment.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { Environment, ReadTransaction, Table } from '../lmdb/table.js'
import { notAStore, notUpgradable, storeCorrupt } from '../port/errors.js'
import {
  decodeBlock,
  decodeKey,
  decodeLedger,
  decodeSuperseded,
  decodeVersions,
  type Layout3Key,
  type Layout3Ledger,
  type Layout3Value,
  newestVersion,
} from './layout-3-records.js'

const LAYOUT = '3'
const DIRECTORY = 0xffff_ffff
/** Records that are read at a time. */
const PAGE_RECORDS = 1_000
/** The first bytes of a chunk are the version that wrote it. */
const CHUNK_HEADER_LENGTH = 8
const DIRECTORY_HEADER_LENGTH = 4

/** A write of a key. */
export interface Layout3Write {
  readonly version: bigint
  /** The version of the next write of the key; undefined for the newest. */
  readonly supersededBy: bigint | undefined
}

/** One state of a store of layout 3, with every record verified. */
export class Layout3Store {
  readonly content: Layout3Ledger
  readonly mark: Uint8Array | undefined
  /** Of the database `latest`. */
  readonly keyCount: number
  readonly #record = new SharedRecord()
  readonly #root: Environment
  readonly #transaction: ReadTransaction
  readonly #latest: Table<Uint8Array>
  readonly #log: Table<NumberedKey>
  readonly #index: Table<NumberedKey>
  readonly #blocks: Table<NumberedKey>
  readonly #large: { readonly large: Table<NumberedKey>; readonly verifyReads: true }

  /** @throws `store_format`, `store_corrupt`, `no_ledger` */
  constructor(path: string) {
    const file = join(path, STORE_FILE)
    expectSoundFile(file, false)
    const root = openEnvironment(file, { readOnly: true, readAhead: true })
    try {
      const meta = openTable<Uint8Array>(root, file, 'meta')
      expectLayout3(meta.getBinary(Buffer.from('layout')), file)
      this.#latest = openTable(root, file, 'latest')
      this.#log = openTable(root, file, 'log', NUMBERED_KEY_ENCODER)
      this.#index = openTable(root, file, 'index', NUMBERED_KEY_ENCODER)
      this.#blocks = openTable(root, file, 'blocks', NUMBERED_KEY_ENCODER)
      this.#large = { large: openTable(root, file, 'large', NUMBERED_KEY_ENCODER), verifyReads: true }
      this.#root = root as unknown as Environment
      const ledger = meta.getBinary(Buffer.from('ledger'))
      if (!ledger) throw noLedger()
      this.content = decodeLedger(ledger)
      const mark = meta.getBinary(Buffer.from('mark'))
      this.mark = mark && openRecord(mark, crc32('mark'), () => 'the mark of the newest commit')
      this.keyCount = this.#latest.getStats().entryCount
      this.#transaction = this.#root.useReadTransaction()
    } catch (error) {
      void root.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#transaction.done()
    await this.#root.close()
  }

  /**
   * All keys in the order of their stored forms, after that of `after`. Leaves those out, without verifying them, whose
   * newest write is below `newestFrom`.
   */
  *keys({ after, newestFrom = 0n }: { after?: Uint8Array | undefined; newestFrom?: bigint }): Generator<Layout3Key> {
    for (const { key, value } of this.#records(this.#latest, after && keyAfter(after), keyAfter)) {
      if (newestVersion(value) >= newestFrom) yield decodeKey(key, value)
    }
  }

  keyOf({ stored, longKey }: Layout3Key): Uint8Array {
    if (longKey) return readLarge(this.#large, longKey, this.#options)
    return storedKeyToPrefix(stored).beginning
  }

  /** The writes of a key from a version on, ascending; the first is the newest at or below that version, if there is one. */
  writes(key: Layout3Key, from: bigint): Layout3Write[] {
    const listed = [...key.older, key.version]
    const isIndexNeeded = key.isIndexed && listed[0]! > from
    const versions = isIndexNeeded ? this.#indexedVersions(key.keyId, from).concat(listed) : listed
    const first = Math.max(
      0,
      versions.findLastIndex((version) => version <= from),
    )
    return versions.slice(first).map((version, at) => ({ version, supersededBy: versions[first + at + 1] }))
  }

  /** What a write wrote. @throws `store_corrupt` */
  value({ keyId, value }: Pick<Layout3Key, 'keyId' | 'value'>, supersededBy: bigint | undefined): Uint8Array | null {
    const found = supersededBy === undefined ? value : this.#superseded(keyId, supersededBy)
    if (found === null || found instanceof Uint8Array) return found
    return readLarge(this.#large, found, this.#options)
  }

  /** Blocks of a range of versions by their first versions, ascending. */
  *blocks(from: bigint): Generator<{ readonly version: bigint; readonly block: BlockInfo }> {
    for (const { key, value } of this.#records(this.#blocks, versionKey(from, 0), nextNumber)) {
      const block = decodeBlock(openRecord(value, numberedKeySeed(key), () => 'a block record'))
      yield { version: numberedKeyVersion(key), block }
    }
  }

  get #options() {
    return { transaction: this.#transaction }
  }

  #superseded(keyId: number, by: bigint): Layout3Value {
    const key = versionKey(by, keyId)
    const record = this.#record
    if (!record.load(this.#log, key, this.#options)) {
      throw storeCorrupt(`the log lacks what version ${by} superseded of key ${keyId}`)
    }
    record.verify(numberedKeySeed(key))
    return decodeSuperseded(record.copy(0, record.length - CHECKSUM_LENGTH))
  }

  /** Those of the chunks that can have versions from `from` on, and the one before. */
  #indexedVersions(keyId: number, from: bigint): bigint[] {
    const directory = this.#indexRecord(keyId, DIRECTORY)
    const firstVersions = decodeVersions(directory.subarray(DIRECTORY_HEADER_LENGTH))
    const first = Math.max(
      0,
      firstVersions.findLastIndex((version) => version <= from),
    )
    return firstVersions.slice(first).flatMap((_, at) => {
      const chunk = this.#indexRecord(keyId, directory.readUInt32BE(0) + first + at)
      return decodeVersions(chunk.subarray(CHUNK_HEADER_LENGTH))
    })
  }

  #indexRecord(keyId: number, number: number): Buffer {
    const key = numberedKey(keyId, number)
    const what = () => (number === DIRECTORY ? `the directory of key ${keyId}` : `chunk ${number} of key ${keyId}`)
    const record = this.#index.getBinary(key, this.#options)
    if (!record) throw storeCorrupt(`${what()} is missing`)
    return openRecord(record, numberedKeySeed(key), what)
  }

  /** In pages, so that no cursor is open while the caller works. */
  *#records<K>(table: Table<K>, first: K | undefined, next: (key: K) => K): Generator<{ key: K; value: Buffer }> {
    for (let start = first; ; ) {
      const page = [...table.getRange({ start, end: undefined, limit: PAGE_RECORDS, ...this.#options })]
      yield* page
      if (page.length < PAGE_RECORDS) return
      start = next(page.at(-1)!.key)
    }
  }
}

function nextNumber(key: NumberedKey): NumberedKey {
  return versionKey(numberedKeyVersion(key) + 1n, 0)
}

function openTable<K>(
  root: ReturnType<typeof openEnvironment>,
  file: string,
  name: string,
  keyEncoder?: typeof NUMBERED_KEY_ENCODER,
): Table<K> {
  const keys = keyEncoder ? { keyEncoder: keyEncoder as never } : { keyEncoding: 'binary' as const }
  const options = { name, encoding: 'binary' as const, create: false, ...keys }
  const table: unknown = root.openDB(options)
  if (table) return table as Table<K>
  throw notAStore(file, `it lacks the database ${name}, or was not created by this program`)
}

function expectLayout3(layout: Buffer | undefined, file: string): void {
  if (!layout) throw notAStore(file, 'it has no layout version')
  if (layout.toString('latin1') !== LAYOUT) throw notUpgradable(file, layout.toString('latin1'), LAYOUT)
}
