import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { versionKey } from '../bytes/numbered-key.js'
import type { RecordBuilder } from '../bytes/record.js'
import { isLongKey, keySeed, keyToStoredKey } from '../bytes/stored-key.js'
import { VersionList } from '../bytes/version-list.js'
import { putLarge } from '../databases/large-values.js'
import {
  decodeLatest,
  encodeLatest,
  isLarge,
  type LatestRecord,
  MAX_INLINE_VALUE_LENGTH,
  MAX_LISTED,
  type StoredValue,
} from '../databases/latest-record.js'
import { encodeBlock, encodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { putMark } from '../databases/mark.js'
import {
  MAX_LOGGED_VALUE_LENGTH,
  putRetired,
  putSuperseded,
  type Retired,
  type SupersededEntry,
} from '../databases/superseded-log.js'
import { addVersions } from '../databases/version-index.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { duplicateKey } from '../port/errors.js'
import type { CommitOptions } from '../port/ports.js'
import { validateBatch } from '../port/validate-batch.js'
import { atFailurePoint } from './failure-points.js'
import { dropUnfinishedImport } from './import-state.js'

/** A key that the batch writes, with its state after the versions applied so far. */
interface BatchKey {
  readonly key: Uint8Array
  /** Undefined until the key is written for the first time, or again after it was forgotten. */
  record: LatestRecord | undefined
  /** Newest version of the batch that wrote the key, even if it deleted a key that was not there. */
  touchedBy: bigint | undefined
  changed: boolean
}

/**
 * Writes a batch within the transaction of the caller. Each `latest` record is read and written once, however many
 * versions of the batch write its key.
 */
export function applyBatch(
  store: LmdbStore,
  builder: RecordBuilder,
  versions: readonly VersionWrites[],
  options: CommitOptions,
  before: LedgerRecord | undefined,
): void {
  const chainId = validateBatch(versions, options, before?.ledger)
  if (versions.length === 0) return
  atFailurePoint('commit: began')
  if (!before) dropUnfinishedImport(store)
  putMark(store, builder, options.mark)
  new BatchWriter(store, builder, before).apply(versions, chainId, before)
}

const NO_OPTIONS = {}

class BatchWriter {
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #keys = new Map<string, BatchKey>()
  readonly #shared = new SharedRecord()
  readonly #oldestVersion: bigint
  #nextKeyId: number
  #nextLargeId: number
  #blocks: number
  #retired: number
  #supersededEntries: number
  #payloadBytes: number

  constructor(store: LmdbStore, builder: RecordBuilder, before: LedgerRecord | undefined) {
    this.#store = store
    this.#builder = builder
    this.#oldestVersion = before?.ledger.oldestVersion ?? 0n
    this.#nextKeyId = before?.nextKeyId ?? 0
    this.#nextLargeId = before?.nextLargeId ?? 0
    this.#blocks = before?.blocks ?? 0
    this.#retired = before?.retired ?? 0
    this.#supersededEntries = before?.supersededEntries ?? 0
    this.#payloadBytes = before?.payloadBytes ?? 0
  }

  apply(versions: readonly VersionWrites[], chainId: bigint, before: LedgerRecord | undefined): void {
    let latestBlock = before?.ledger.latestBlock
    let retired: Retired = { deletions: [], chunks: [], large: [] }
    for (const [at, record] of versions.entries()) {
      const { version, block } = record
      if (block) {
        latestBlock = block
        this.#blocks++
        this.#store.blocks.putSync(versionKey(version, 0), encodeBlock(this.#builder, version, block), { append: true })
      }
      retired = { deletions: [], chunks: [], large: [] }
      this.#supersede(record, retired)
      // Writing the keys below adds to what the last version retires.
      if (at < versions.length - 1) this.#retired += putRetired(this.#store, this.#builder, version, retired)
    }
    atFailurePoint('commit: log written')
    const latestVersion = versions.at(-1)!.version
    for (const batchKey of this.#keys.values()) if (batchKey.changed) this.#putLatest(batchKey, latestVersion, retired)
    this.#retired += putRetired(this.#store, this.#builder, latestVersion, retired)
    atFailurePoint('commit: latest written')
    const oldest = before?.ledger ?? { oldestVersion: versions[0]!.version, oldestBlock: versions[0]!.block! }
    const ledger = {
      chainId,
      latestVersion,
      latestBlock: latestBlock!,
      oldestVersion: oldest.oldestVersion,
      oldestBlock: oldest.oldestBlock,
    }
    const first = versions[0]!.version
    const record: LedgerRecord = {
      ledger,
      base: before?.base ?? { version: first, complete: first === 0n },
      nextKeyId: this.#nextKeyId,
      nextLargeId: this.#nextLargeId,
      blocks: this.#blocks,
      retired: this.#retired,
      supersededEntries: this.#supersededEntries,
      payloadBytes: this.#payloadBytes,
    }
    this.#store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(this.#builder, record))
    atFailurePoint('commit: before the transaction ends')
  }

  /** Puts the values that a version supersedes into the log. */
  #supersede({ version, writes }: VersionWrites, retired: Retired): void {
    const entries: SupersededEntry[] = []
    for (const [key, value] of writes) {
      const batchKey = this.#load(key)
      if (batchKey.touchedBy === version) throw duplicateKey(version)
      batchKey.touchedBy = version
      const superseded = batchKey.record
      if (value === null && (superseded?.value ?? null) === null) continue
      if (superseded) {
        const value = this.#toLogged(superseded.value)
        if (isLarge(value)) retired.large.push(value)
        entries.push({ keyId: superseded.keyId, value })
        superseded.older.push(superseded.version)
      }
      if (value === null) retired.deletions.push(keyToStoredKey(key))
      this.#payloadBytes += (value?.length ?? 0) + (superseded ? 0 : key.length)
      batchKey.record = {
        keyId: superseded?.keyId ?? this.#nextKeyId++,
        version,
        older: superseded?.older ?? new VersionList(),
        indexed: superseded?.indexed ?? false,
        longKey: superseded ? superseded.longKey : this.#storeLongKey(key),
        value: this.#storeValue(value),
      }
      batchKey.changed = true
    }
    this.#supersededEntries += entries.length
    putSuperseded(this.#store, this.#builder, version, entries)
  }

  #putLatest({ key, record }: BatchKey, latestVersion: bigint, retired: Retired): void {
    const latest = record!
    let { older, indexed } = latest
    // No version of the window sees what was superseded at or below the oldest version.
    let unseen = 0
    while (unseen < older.count && this.#supersededBy(latest, unseen) <= this.#oldestVersion) unseen++
    if (unseen > 0) older = older.slice(unseen)
    if (older.count >= MAX_LISTED) {
      const moved = older.count - (older.count % MAX_LISTED)
      const chunks = addVersions(this.#store, this.#builder, latest.keyId, older.slice(0, moved), latestVersion)
      for (const number of chunks) retired.chunks.push({ keyId: latest.keyId, number })
      older = older.slice(moved)
      indexed = true
    }
    this.#store.latest.putSync(key, encodeLatest(this.#builder, key, { ...latest, older, indexed }))
  }

  #supersededBy({ older, version }: LatestRecord, place: number): bigint {
    return place + 1 < older.count ? older.at(place + 1) : version
  }

  #load(key: Uint8Array): BatchKey {
    const text = Buffer.prototype.latin1Slice.call(key, 0, key.length)
    const known = this.#keys.get(text)
    if (known) return known
    let record: LatestRecord | undefined
    if (this.#shared.load(this.#store.latest, key, NO_OPTIONS)) {
      // A damaged record must not get a new checksum.
      if (this.#store.verifyReads) this.#shared.verify(keySeed(key))
      record = decodeLatest(this.#shared)
    }
    const batchKey: BatchKey = { key, record, touchedBy: undefined, changed: false }
    this.#keys.set(text, batchKey)
    return batchKey
  }

  #toLogged(value: StoredValue): StoredValue {
    if (value === null || isLarge(value) || value.length <= MAX_LOGGED_VALUE_LENGTH) return value
    return this.#storeLarge(value)
  }

  #storeValue(value: Uint8Array | null): StoredValue {
    if (value === null || value.length <= MAX_INLINE_VALUE_LENGTH) return value
    return this.#storeLarge(value)
  }

  #storeLongKey(key: Uint8Array) {
    return isLongKey(key) ? this.#storeLarge(key) : undefined
  }

  #storeLarge(bytes: Uint8Array) {
    const id = this.#nextLargeId++
    putLarge(this.#store, this.#builder, id, bytes)
    return { id, length: bytes.length }
  }
}
