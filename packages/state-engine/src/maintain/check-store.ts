import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError, isSameBlock } from '@ledger-state/core'
import {
  numberedKeyId,
  numberedKeyPart,
  numberedKeySeed,
  numberedKeyVersion,
  versionKey,
} from '../bytes/numbered-key.js'
import { openRecord } from '../bytes/record.js'
import { keyToStoredKey, storedKeySeed } from '../bytes/stored-key.js'
import { type LargeBytes, readLarge } from '../databases/large-values.js'
import { DELETED, decodeLatest, isLarge, LARGE, type LatestRecord } from '../databases/latest-record.js'
import { decodeBlock, decodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { getMark } from '../databases/mark.js'
import { decodeRetired, ENTRY_HEADER_LENGTH } from '../databases/superseded-log.js'
import { DIRECTORY, readChunk, readDirectory } from '../databases/version-index.js'
import { checkPages } from '../lmdb/check-pages.js'
import { LEDGER_KEY, type LmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadTransaction, Table } from '../lmdb/table.js'

export interface CheckOptions {
  /** Called from time to time with the number of records checked so far. */
  readonly onProgress?: (records: number) => void
}

export interface CheckReport {
  /** One line for each of the first hundred faults; empty for a sound store. */
  readonly problems: readonly string[]
  readonly keys: number
  /** Superseded values that the window sees. */
  readonly supersededEntries: number
  readonly blocks: number
  /** Records of all databases. */
  readonly records: number
}

const WHOLE = { start: undefined, end: undefined }
const MOST_PROBLEMS = 100
const RECORDS_BETWEEN_TURNS = 5_000
const PAGES_BETWEEN_TURNS = 500

/** Checks every record in one state of the store. Meanwhile the pages of that state cannot be reused. */
export async function checkStore(store: LmdbStore, { onProgress = () => {} }: CheckOptions): Promise<CheckReport> {
  const transaction = store.root.useReadTransaction()
  try {
    return await new StoreCheck(store, transaction, onProgress).run()
  } finally {
    transaction.done()
  }
}

class StoreCheck {
  readonly #store: LmdbStore
  readonly #options: { readonly transaction: ReadTransaction }
  readonly #onProgress: (records: number) => void
  readonly #problems: string[] = []
  /** Ids of all keys: the log and the index may name no others. */
  readonly #keyIds = new Set<number>()
  readonly #indexedKeys = new Set<number>()
  /** Length of each large value that some record refers to, by id. */
  readonly #large = new Map<number, number>()
  /** Deletions and chunks of the index whose retirement was not found yet. */
  readonly #toRetire = new Set<string>()
  /** Large values that the log refers to and whose retirement was not found yet. */
  readonly #supersededLarge = new Map<number, number>()
  /** Entries of the log that the version lists of keys lead to. */
  #namedEntries = 0
  #payloadBytes = 0
  #records = 0

  constructor(store: LmdbStore, transaction: ReadTransaction, onProgress: (records: number) => void) {
    this.#store = store
    this.#options = { transaction }
    this.#onProgress = onProgress
  }

  async run(): Promise<CheckReport> {
    const report = { problems: this.#problems, keys: 0, supersededEntries: 0, blocks: 0, records: 0 }
    await this.#checkPages()
    // LMDB may crash on damaged pages.
    if (this.#problems.length > 0) return report
    try {
      return { ...report, ...(await this.#checkRecords()) }
    } catch (error) {
      if (isLedgerStateError(error)) throw error
      const why = error instanceof Error ? error.message.replace(/MDB_\w+: /, '') : String(error)
      this.#problem(`the check stopped after ${this.#records} records: LMDB cannot read on: ${why}`)
      return report
    }
  }

  async #checkPages(): Promise<void> {
    let pages = 0
    this.#store.expectInPlace()
    for (const fault of checkPages(join(this.#store.path, STORE_FILE))) {
      if (fault !== undefined) this.#problem(`the store is damaged: ${fault}`)
      else if (++pages % PAGES_BETWEEN_TURNS === 0) await nextTurn()
    }
  }

  async #checkRecords(): Promise<Partial<CheckReport>> {
    const bytes = this.#store.meta.getBinary(LEDGER_KEY, this.#options)
    const record = bytes && this.#attempt(() => decodeLedgerRecord(bytes))
    if (!record) {
      if (!bytes) for (const name of ['log', 'retired', 'index', 'blocks'] as const) this.#expectEmpty(name)
      return {}
    }
    this.#attempt(() => getMark(this.#store, this.#options))
    if (record.base.version > record.ledger.oldestVersion) {
      this.#problem(`the base is version ${record.base.version}, above the oldest, ${record.ledger.oldestVersion}`)
    }
    const blocks = await this.#checkBlocks(record)
    const keys = await this.#checkLatest(record)
    const supersededEntries = await this.#checkLog(record)
    await this.#checkRetiredRecords(record)
    await this.#checkIndex()
    await this.#checkLarge(record)
    if (this.#payloadBytes !== record.payloadBytes) {
      this.#problem(
        `the store has ${this.#payloadBytes} bytes of payload, the ledger record counts ${record.payloadBytes}`,
      )
    }
    return { keys, supersededEntries, blocks, records: this.#records }
  }

  async #checkBlocks({ ledger, blocks }: LedgerRecord): Promise<number> {
    const { oldestVersion, oldestBlock, latestVersion, latestBlock } = ledger
    if (oldestVersion > latestVersion) {
      this.#problem(`the oldest version ${oldestVersion} is above the latest, ${latestVersion}`)
    }
    let count = 0
    let previous: { version: bigint; height: bigint } | undefined
    for await (const { key, value } of this.#each(this.#store.blocks)) {
      count++
      const version = numberedKeyVersion(key)
      const block = this.#attempt(() => decodeBlock(key, value))
      if (!block) continue
      if (previous && block.height <= previous.height) {
        this.#problem(`block ${block.height} at version ${version} follows block ${previous.height}`)
      }
      previous = { version, height: block.height }
      if (version > latestVersion) this.#problem(`block ${block.height} begins at version ${version}, above the latest`)
      if (version === oldestVersion && !isSameBlock(block, oldestBlock)) {
        this.#problem(`the oldest block is not the one at version ${oldestVersion}`)
      }
    }
    if (count !== blocks) this.#problem(`the store has ${count} blocks, the ledger record counts ${blocks}`)
    if (!this.#store.blocks.getBinaryFast(versionKey(oldestVersion, 0), this.#options)) {
      this.#problem(`no block begins at the oldest version, ${oldestVersion}`)
    }
    if (previous && previous.height !== latestBlock.height) {
      this.#problem(`the newest block is ${previous.height}, the ledger record says ${latestBlock.height}`)
    }
    return count
  }

  async #checkLatest(record: LedgerRecord): Promise<number> {
    const { ledger, nextKeyId } = record
    const shared = new SharedRecord()
    let keys = 0
    for await (const { key: stored, value: bytes } of this.#each(this.#store.latestByStoredKey)) {
      keys++
      const name = () => `the latest record of ${Buffer.from(stored.subarray(1, 33)).toString('hex')}…`
      if (!this.#attempt(() => openRecord(bytes, storedKeySeed(stored), name))) continue
      shared.load(this.#store.latestByStoredKey, stored, this.#options)
      const latest = this.#attempt(() => decodeLatest(shared))
      if (!latest) continue
      if (this.#keyIds.has(latest.keyId) || latest.keyId >= nextKeyId) {
        this.#problem(`${name()} has the id ${latest.keyId}, which belongs to another key or was never assigned`)
      }
      this.#keyIds.add(latest.keyId)
      if (latest.version > ledger.latestVersion)
        this.#problem(`${name()} is of version ${latest.version}, not committed`)
      if (latest.value === null) {
        if (latest.version > ledger.oldestVersion) this.#toRetire.add(deletionName(stored, latest.version))
        else this.#problem(`${name()} is a deletion that no version sees`)
      }
      this.#checkKey(stored, latest, name)
      if (latest.value && !isLarge(latest.value)) this.#payloadBytes += latest.value.length
      const versions = [...this.#indexedVersions(latest, ledger.oldestVersion), ...latest.older]
      this.#checkVersions(latest, versions, ledger.oldestVersion, name)
    }
    return keys
  }

  #checkKey(stored: Uint8Array, { longKey, value }: LatestRecord, name: () => string): void {
    if (value && isLarge(value)) this.#nameLarge(value)
    if (!longKey) {
      this.#payloadBytes += stored.length - 1
      return
    }
    this.#nameLarge(longKey)
    const key = this.#attempt(() => readLarge(this.#store, longKey, this.#options))
    if (key && !keyToStoredKey(key).equals(stored)) this.#problem(`${name()} is stored under another key`)
  }

  /** The versions ascend, and the log has the values that the window sees. */
  #checkVersions(latest: LatestRecord, versions: readonly bigint[], oldest: bigint, name: () => string): void {
    for (const [at, version] of versions.entries()) {
      const supersededBy = versions[at + 1] ?? latest.version
      if (version >= supersededBy) this.#problem(`${name()} lists version ${version} before ${supersededBy}`)
      if (supersededBy <= oldest) continue
      if (this.#store.log.getBinaryFast(versionKey(supersededBy, latest.keyId), this.#options)) this.#namedEntries++
      else this.#problem(`${name()}: the log of version ${supersededBy} lacks its value`)
    }
  }

  #indexedVersions({ keyId, indexed }: LatestRecord, oldest: bigint): bigint[] {
    if (!indexed) return []
    this.#indexedKeys.add(keyId)
    const directory = this.#attempt(() => readDirectory(this.#store, keyId, this.#options))
    const versions: bigint[] = []
    for (const [at, first] of [...(directory?.firstVersions ?? [])].entries()) {
      const number = directory!.firstChunk + at
      const chunk = this.#attempt(() => readChunk(this.#store, keyId, number, this.#options))
      if (!chunk?.versions.count || chunk.versions.at(0) !== first) {
        this.#problem(`the directory of key ${keyId} names a chunk ${number} that begins with version ${first}`)
      }
      if (chunk && chunk.writtenAt > oldest) this.#toRetire.add(chunkName(keyId, number, chunk.writtenAt))
      versions.push(...(chunk?.versions ?? []))
    }
    return versions
  }

  /** Returns the number of entries that the window sees. */
  async #checkLog({ ledger, supersededEntries }: LedgerRecord): Promise<number> {
    const { oldestVersion, latestVersion } = ledger
    let seen = 0
    let all = 0
    for await (const { key, value } of this.#each(this.#store.log)) {
      const version = numberedKeyVersion(key)
      const content = this.#attempt(() =>
        openRecord(value, numberedKeySeed(key), () => `a value that version ${version} superseded`),
      )
      all++
      if (version > oldestVersion) seen++
      if (version > latestVersion) this.#problem(`the log has version ${version}, above the latest`)
      if (content) this.#checkEntry(numberedKeyPart(key), content, version, version > oldestVersion)
    }
    if (seen !== this.#namedEntries) {
      this.#problem(
        `the window sees ${seen} values of the log, the version lists of keys lead to ${this.#namedEntries}`,
      )
    }
    if (all !== supersededEntries) {
      this.#problem(`the log has ${all} values, the ledger record counts ${supersededEntries}`)
    }
    return seen
  }

  #checkEntry(keyId: number, content: Buffer, version: bigint, seen: boolean): void {
    const flags = content[0]!
    const value = content.subarray(ENTRY_HEADER_LENGTH)
    if (flags === 0) this.#payloadBytes += value.length
    else if ((flags & ~(DELETED | LARGE)) !== 0) this.#problem(`the log of version ${version} has flags ${flags}`)
    if (seen && !this.#keyIds.has(keyId))
      this.#problem(`the log of version ${version} names key ${keyId}, which does not exist`)
    if ((flags & LARGE) !== 0) this.#supersededLarge.set(value.readUIntBE(0, 6), value.readUInt32BE(6))
  }

  async #checkRetiredRecords({ retired: counted }: LedgerRecord): Promise<void> {
    let count = 0
    for await (const { key, value } of this.#each(this.#store.retired)) {
      const version = numberedKeyVersion(key)
      count++
      const what = () => `what version ${version} retired`
      const retired = this.#attempt(() => decodeRetired(version, openRecord(value, numberedKeySeed(key), what)))
      if (!retired) continue
      for (const stored of retired.deletions) this.#toRetire.delete(deletionName(stored, version))
      for (const { keyId, number } of retired.chunks) this.#toRetire.delete(chunkName(keyId, number, version))
      for (const large of retired.large) this.#checkRetired(large, version)
    }
    if (count !== counted)
      this.#problem(`the database retired has ${count} records, the ledger record counts ${counted}`)
    for (const name of this.#toRetire) this.#problem(`${name} is not retired by its version`)
  }

  /** A version retires the large values that it supersedes; the log was read before. */
  #checkRetired(large: LargeBytes, version: bigint): void {
    this.#nameLarge(large)
    if (this.#supersededLarge.get(large.id) === large.length) this.#supersededLarge.delete(large.id)
    else this.#problem(`version ${version} retires the large value ${large.id}, which it did not supersede`)
  }

  async #checkIndex(): Promise<void> {
    for await (const { key, value } of this.#each(this.#store.index)) {
      const keyId = numberedKeyId(key)
      this.#attempt(() =>
        openRecord(
          value,
          numberedKeySeed(key),
          () => `part ${numberedKeyPart(key)} of the version index of key ${keyId}`,
        ),
      )
      if (!this.#indexedKeys.has(keyId)) this.#problem(`the version index has key ${keyId}, which does not exist`)
      if (numberedKeyPart(key) === DIRECTORY) continue
      const directory = this.#attempt(() => readDirectory(this.#store, keyId, this.#options))
      const place = directory ? numberedKeyPart(key) - directory.firstChunk : 0
      if (!directory || place < 0 || place >= directory.firstVersions.count) {
        this.#problem(`chunk ${numberedKeyPart(key)} of key ${keyId} is not in its directory`)
      }
    }
  }

  async #checkLarge({ nextLargeId }: LedgerRecord): Promise<void> {
    const found = new Map<number, number>()
    for await (const { key, value } of this.#each(this.#store.large)) {
      const id = numberedKeyId(key)
      const content = this.#attempt(() =>
        openRecord(value, numberedKeySeed(key), () => `piece ${numberedKeyPart(key)} of the large value ${id}`),
      )
      if (id >= nextLargeId) this.#problem(`the id of large value ${id} was never assigned`)
      found.set(id, (found.get(id) ?? 0) + (content?.length ?? 0))
    }
    for (const [id, length] of this.#large) {
      this.#payloadBytes += length
      if (found.get(id) !== length) this.#problem(`large value ${id} has ${found.get(id) ?? 0} bytes of ${length}`)
      found.delete(id)
    }
    for (const id of this.#supersededLarge.keys()) this.#problem(`large value ${id} was superseded and never retired`)
    for (const id of found.keys()) this.#problem(`nothing refers to large value ${id}`)
  }

  #nameLarge({ id, length }: LargeBytes): void {
    if (this.#large.has(id)) this.#problem(`two records refer to large value ${id}`)
    this.#large.set(id, length)
  }

  #expectEmpty(name: 'log' | 'retired' | 'index' | 'blocks'): void {
    const [any] = this.#store[name].getKeys({ ...WHOLE, limit: 1, ...this.#options })
    if (any) this.#problem(`the store has no ledger record, but its database ${name} has records`)
  }

  async *#each<K>(table: Table<K>): AsyncGenerator<{ key: K; value: Buffer }> {
    for (const entry of table.getRange({ ...WHOLE, ...this.#options })) {
      if (++this.#records % RECORDS_BETWEEN_TURNS === 0) {
        this.#onProgress(this.#records)
        await nextTurn()
      }
      yield entry
    }
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!isLedgerStateError(error) && !(error instanceof RangeError)) throw error
      this.#problem(error.message)
      return undefined
    }
  }

  #problem(text: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(text)
  }
}

function deletionName(stored: Uint8Array, version: bigint): string {
  return `the deletion of ${Buffer.from(stored.subarray(1)).toString('hex')} at version ${version}`
}

function chunkName(keyId: number, number: number, version: bigint): string {
  return `chunk ${number} of key ${keyId}, written at version ${version},`
}
