import type { Buffer } from 'node:buffer'
import type { LedgerInfo } from '@ledger-state/core'
import { noLedger, U64_MAX } from '@ledger-state/core'
import { type NumberedKey, numberedKeySeed, numberedKeyVersion, versionKey } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, openRecord, type RecordBuilder } from '../bytes/record.js'
import { dropLarge } from '../databases/large-values.js'
import { DELETED, decodeLatest } from '../databases/latest-record.js'
import { decodeBlock, decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { decodeRetired, ENTRY_HEADER_LENGTH } from '../databases/superseded-log.js'
import { dropChunk, dropIndex } from '../databases/version-index.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { PRUNE_STEP_ENTRIES, windowStart } from '../port/window.js'
import { atFailurePoint } from './failure-points.js'

export interface PruneStep {
  readonly dropped: number
  readonly done: boolean
}

/** Raises the oldest version, within the transaction of the caller. From then on readers refuse what is below it. */
export function raiseOldest(store: LmdbStore, builder: RecordBuilder, retainVersions: bigint): void {
  const bytes = store.meta.getBinary(LEDGER_KEY)
  if (!bytes) throw noLedger()
  const record = decodeLedgerRecord(bytes)
  const { ledger } = record
  const start = versionKey(windowStart(ledger.latestVersion, retainVersions), 0)
  const [floor] = [
    ...store.blocks.getRange({ start, end: undefined, limit: 1 }),
    // If no block starts inside the window, the newest block stays whole.
    ...store.blocks.getRange({ start: undefined, end: undefined, reverse: true, limit: 1 }),
  ]
  const oldestVersion = numberedKeyVersion(floor!.key)
  if (oldestVersion <= ledger.oldestVersion) return
  const raised: LedgerInfo = { ...ledger, oldestVersion, oldestBlock: decodeBlock(floor!.key, floor!.value) }
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, { ...record, ledger: raised }))
  atFailurePoint('prune: floor raised')
}

/** Drops, within the transaction of the caller, a bounded part of what no version of the window can see. */
export function pruneStep(store: LmdbStore, builder: RecordBuilder): PruneStep {
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  const { oldestVersion } = record.ledger
  const end = oldestVersion === U64_MAX ? undefined : versionKey(oldestVersion + 1n, 0)
  const range = { start: undefined, end, limit: PRUNE_STEP_ENTRIES }
  const dropper = new Dropper(store, builder)
  const superseded = [...store.log.getRange(range)]
  for (const { key, value } of superseded) dropper.dropSuperseded(key, value)
  const retired = [...store.retired.getRange(range)]
  for (const { key, value } of retired) dropper.dropRetired(key, value)
  const blocks = [
    ...store.blocks.getKeys({ start: undefined, end: versionKey(oldestVersion, 0), limit: PRUNE_STEP_ENTRIES }),
  ]
  for (const key of blocks) store.blocks.removeSync(key)
  if (superseded.length + retired.length + blocks.length > 0) {
    const left: LedgerRecord = {
      ...record,
      blocks: record.blocks - blocks.length,
      retired: record.retired - retired.length,
      supersededEntries: record.supersededEntries - dropper.entries,
      payloadBytes: record.payloadBytes - dropper.bytes,
    }
    store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, left))
  }
  atFailurePoint('prune: step before the transaction ends')
  return {
    dropped: dropper.entries + dropper.deletions,
    done: [superseded, retired, blocks].every(({ length }) => length < PRUNE_STEP_ENTRIES),
  }
}

class Dropper {
  /** Superseded values. */
  entries = 0
  /** Keys that were deleted and are now forgotten. */
  deletions = 0
  /** Bytes of payload dropped. */
  bytes = 0
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #shared = new SharedRecord()

  constructor(store: LmdbStore, builder: RecordBuilder) {
    this.#store = store
    this.#builder = builder
  }

  dropSuperseded(key: NumberedKey, record: Buffer): void {
    this.entries++
    // Large values are counted where they are dropped.
    if (record[0] === 0) this.bytes += record.length - ENTRY_HEADER_LENGTH - CHECKSUM_LENGTH
    this.#store.log.removeSync(key)
  }

  dropRetired(key: NumberedKey, record: Buffer): void {
    const version = numberedKeyVersion(key)
    const content = openRecord(record, numberedKeySeed(key), () => `what version ${version} retired`)
    const { deletions, chunks, large } = decodeRetired(version, content)
    this.#store.retired.removeSync(key)
    for (const stored of deletions) this.#forget(stored, version)
    for (const { keyId, number } of chunks) dropChunk(this.#store, this.#builder, keyId, number, version)
    for (const bytes of large) {
      dropLarge(this.#store, bytes)
      this.bytes += bytes.length
    }
  }

  /** Forgets a key unless it was written again after it was deleted. */
  #forget(stored: Uint8Array, version: bigint): void {
    const shared = this.#shared
    if (!shared.load(this.#store.latestByStoredKey, stored, {})) return
    if (!(shared.bytes[0]! & DELETED) || shared.view.getBigUint64(8) !== version) return
    const { keyId, longKey } = decodeLatest(shared)
    this.#store.latestByStoredKey.removeSync(stored)
    dropIndex(this.#store, keyId)
    if (longKey) dropLarge(this.#store, longKey)
    this.bytes += longKey ? longKey.length : stored.length - 1
    this.deletions++
  }
}
