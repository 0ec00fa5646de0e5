import { LedgerStateError } from '@ledger-state/core'
import { atFailurePoint } from './failure-points.js'
import { putLarge } from './large-values.js'
import { encodeLatest, MAX_INLINE_VALUE_LENGTH } from './latest-record.js'
import { encodeBlock, encodeLedgerRecord } from './ledger-record.js'
import { LEDGER_KEY, type LmdbStore } from './lmdb-store.js'
import { versionKey } from './numbered-key.js'
import type { ImportBase, KeyedEntry } from './ports.js'
import type { RecordBuilder } from './record.js'
import { SharedRecord } from './shared-record.js'
import { isLongKey } from './stored-key.js'
import { duplicateKey } from './validate-batch.js'
import { VersionList } from './version-list.js'

/** Stands in the database `meta` while an import goes on. */
const IMPORTING_KEY = Buffer.from('importing')

/** Takes the entries of a state in, part by part, each within a transaction of the caller. */
export class StateImporter {
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #base: ImportBase
  readonly #shared = new SharedRecord()
  #counts = { nextKeyId: 0, nextLargeId: 0, payloadBytes: 0 }

  constructor(store: LmdbStore, builder: RecordBuilder, base: ImportBase) {
    this.#store = store
    this.#builder = builder
    this.#base = base
  }

  begin(): void {
    if (this.#store.meta.getBinary(LEDGER_KEY)) {
      throw new LedgerStateError(
        'store_not_empty',
        'a state is imported into an empty store only; this one has versions',
      )
    }
    this.#store.meta.putSync(IMPORTING_KEY, Buffer.of(1))
  }

  add(entries: readonly KeyedEntry[]): void {
    const { latest } = this.#store
    // Counted when all of it is in: the transaction may be run again.
    const counts = { ...this.#counts }
    for (const { key, version, value } of entries) {
      if (this.#shared.load(latest, key, {})) throw duplicateKey(this.#base.version)
      const longKey = isLongKey(key) ? this.#putLarge(counts, key) : undefined
      const stored = value.length > MAX_INLINE_VALUE_LENGTH ? this.#putLarge(counts, value) : value
      const keyId = counts.nextKeyId++
      counts.payloadBytes += key.length + value.length
      const record = { keyId, version, older: new VersionList(), indexed: false, longKey, value: stored }
      latest.putSync(key, encodeLatest(this.#builder, key, record))
    }
    atFailurePoint('import: part done')
    this.#counts = counts
  }

  finish(): void {
    const { chainId, version, block } = this.#base
    const { meta, blocks } = this.#store
    blocks.putSync(versionKey(version, 0), encodeBlock(this.#builder, version, block))
    const ledger = { chainId, latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    const record = {
      ledger,
      ...this.#counts,
      blocks: 1,
      retired: 0,
      supersededEntries: 0,
    }
    meta.putSync(LEDGER_KEY, encodeLedgerRecord(this.#builder, record))
    meta.removeSync(IMPORTING_KEY)
    atFailurePoint('import: before it counts')
  }

  #putLarge(counts: { nextLargeId: number }, bytes: Uint8Array) {
    const id = counts.nextLargeId++
    putLarge(this.#store, this.#builder, id, bytes)
    return { id, length: bytes.length }
  }
}

/** Throws away what an import left that never came to its end. */
export function dropUnfinishedImport({ root, meta, latest, large }: LmdbStore): void {
  if (!meta.getBinary(IMPORTING_KEY)) return
  root.transactionSync(() => {
    latest.clearSync()
    large.clearSync()
    meta.removeSync(IMPORTING_KEY)
  })
}
