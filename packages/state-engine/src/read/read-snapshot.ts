import type { LedgerInfo } from '@ledger-state/core'
import { decodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadTransaction } from '../lmdb/table.js'
import { storeClosed } from '../port/errors.js'

/** One state of the store. */
export interface ReadSnapshot {
  readonly options: { readonly transaction: ReadTransaction }
  readonly record: LedgerRecord | undefined
  readonly ledger: LedgerInfo | undefined
}

/** How long reads share a snapshot, and so how late they see commits of other processes. */
const SHARED_MS = 20
/** Reads after which the clock is checked: within one turn of the event loop no timer fires. */
const READS_BETWEEN_CLOCKS = 4_096

/**
 * Shares one snapshot among all reads of some milliseconds: taking one costs more than two look-ups. While a snapshot is
 * held, the pages that it sees cannot be reused, so an idle engine releases it.
 */
export class ReadSnapshots {
  readonly #store: LmdbStore
  #current: ReadSnapshot | undefined
  #takenAt = 0
  #readsLeft = 0
  #ticker: NodeJS.Timeout | undefined
  #idleTicks = 0
  #closed = false
  #seen: { bytes: Buffer; record: LedgerRecord } | undefined

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** @throws `store_closed` */
  current(): ReadSnapshot {
    if (this.#current !== undefined && --this.#readsLeft > 0) return this.#current
    return this.#renew()
  }

  #renew(): ReadSnapshot {
    if (this.#closed) throw storeClosed()
    const now = performance.now()
    this.#readsLeft = READS_BETWEEN_CLOCKS
    if (this.#current && now - this.#takenAt < SHARED_MS) return this.#current
    this.release()
    const transaction = this.#store.root.useReadTransaction()
    const options = { transaction }
    try {
      const bytes = this.#store.meta.getBinary(LEDGER_KEY, options)
      if (bytes && !this.#seen?.bytes.equals(bytes)) this.#seen = { bytes, record: decodeLedgerRecord(bytes) }
      const record = bytes && this.#seen!.record
      this.#current = { options, record, ledger: record?.ledger }
    } catch (error) {
      transaction.done()
      throw error
    }
    this.#takenAt = now
    this.#idleTicks = 0
    this.#ticker ??= setInterval(this.#tick, SHARED_MS).unref()
    return this.#current
  }

  release(): void {
    this.#current?.options.transaction.done()
    this.#current = undefined
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#ticker)
    this.#ticker = undefined
    this.release()
  }

  readonly #tick = (): void => {
    if (this.#current) this.release()
    else if (++this.#idleTicks >= 4) {
      clearInterval(this.#ticker)
      this.#ticker = undefined
    }
  }
}
