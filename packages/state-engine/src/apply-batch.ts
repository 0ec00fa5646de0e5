import type { VersionWrites, Write } from '@ledger-state/core'
import { encodeBlock, encodeLedgerRecord, type LedgerRecord } from './ledger-record.js'
import { LEDGER_KEY, type LmdbStore } from './lmdb-store.js'
import { decodeLatest, encodeHistory, encodeHistoryKey, encodeLatest, encodeVersion } from './records.js'
import { StaleListBuilder } from './stale-list.js'
import { duplicateKey, validateBatch } from './validate-batch.js'

/** A key that the batch writes, as it stands after the versions applied so far. */
interface BatchKey {
  readonly key: Uint8Array
  /** Undefined as long as the key was never written, or was forgotten. */
  keyId: number | undefined
  /** Of the newest write that is kept. */
  version: bigint
  value: Uint8Array | null
  /** Newest version of the batch that wrote the key, also where it wrote nothing new (deleted what is not there). */
  touchedBy: bigint | undefined
  changed: boolean
}

/**
 * Writes a batch within the transaction at hand. Each `latest` record is read and written once, however many versions
 * of the batch write its key.
 */
export function applyBatch(
  store: LmdbStore,
  versions: readonly VersionWrites[],
  chainId: number,
  before: LedgerRecord | undefined,
): void {
  validateBatch(versions, chainId, before?.ledger)
  if (versions.length === 0) return
  const keys = new Map<string, BatchKey>()
  let nextKeyId = before?.nextKeyId ?? 0
  let latestBlock = before?.ledger.latestBlock

  for (const { version, block, writes } of versions) {
    if (block) {
      latestBlock = block
      store.blocks.putSync(encodeVersion(version), encodeBlock(block))
    }
    const stale = new StaleListBuilder()
    for (const write of writes) {
      const batchKey = loadBatchKey(store, keys, write)
      if (batchKey.touchedBy === version) throw duplicateKey(version)
      batchKey.touchedBy = version
      const value = write[1]
      if (value === null && batchKey.value === null) continue
      if (batchKey.value !== null) {
        store.history.putSync(
          encodeHistoryKey(batchKey.keyId!, version),
          encodeHistory(batchKey.version, batchKey.value),
        )
        stale.addSuperseded(batchKey.keyId!)
      }
      if (value === null) stale.addDeletion(batchKey.key)
      batchKey.keyId ??= nextKeyId++
      batchKey.version = version
      batchKey.value = value
      batchKey.changed = true
    }
    const staleRecord = stale.toRecord()
    if (staleRecord) store.stale.putSync(encodeVersion(version), staleRecord)
  }

  for (const { key, keyId, version, value, changed } of keys.values()) {
    if (changed) store.latest.putSync(key, encodeLatest(key, { keyId: keyId!, version, value }))
  }
  const oldest = before?.ledger ?? { oldestVersion: versions[0]!.version, oldestBlock: versions[0]!.block! }
  const ledger = {
    chainId,
    latestVersion: versions.at(-1)!.version,
    latestBlock: latestBlock!,
    oldestVersion: oldest.oldestVersion,
    oldestBlock: oldest.oldestBlock,
  }
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord({ ledger, nextKeyId }))
}

function loadBatchKey(store: LmdbStore, keys: Map<string, BatchKey>, [key]: Write): BatchKey {
  const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
  const known = keys.get(text)
  if (known) return known
  const bytes = store.latest.getBinary(key)
  const latest = bytes && decodeLatest(key, bytes)
  const batchKey: BatchKey = {
    key,
    keyId: latest?.keyId,
    version: latest?.version ?? 0n,
    value: latest?.value ?? null,
    touchedBy: undefined,
    changed: false,
  }
  keys.set(text, batchKey)
  return batchKey
}
