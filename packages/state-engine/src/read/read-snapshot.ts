import { type LedgerInfo, LedgerStateError } from '@ledger-state/core'
import type { Transaction } from 'lmdb'
import { decodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'

/** One state of the store. */
export interface ReadSnapshot {
  readonly options: { readonly transaction: Transaction }
  readonly record: LedgerRecord | undefined
  readonly ledger: LedgerInfo | undefined
}

/** How long reads share one snapshot: the delay with which they see what another process commits. */
const SHARED_MS = 20
/** Reads in one turn of the event loop, where no timer comes through, after which the clock is looked at. */
const READS_BETWEEN_CLOCKS = 4_096

/**
 * One snapshot for all reads of a few milliseconds: to take one costs more than two look-ups. A snapshot keeps the pages
 * that it sees from being used again, so it is let go when nothing reads.
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
    if (this.#closed) throw new LedgerStateError('store_closed', 'the store is closed')
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
