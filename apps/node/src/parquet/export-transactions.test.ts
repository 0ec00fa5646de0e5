// Transactions and events of a store that keeps them, and of a slice. The files are read back with DuckDB.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { addressToShortHex, bytesToHex } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger, eventsAtVersion, transactionAt } from '@ledger-state/ledger'
import { isOwnKey } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { typeTagToText } from '@ledger-state/type-tag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportParquet } from './export-parquet.js'
import type { Manifest } from './manifest.js'

const SOURCES = ['data/genesis/devnet.genesis.blob', 'conformance/transactions/gallery']

// This needs the shared folder.
describe.runIf(hasSharedData)('an export of a store with whole transactions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-transactions-'))
  let duck: DuckDBConnection
  let whole: { readonly engine: LmdbEngineReader; readonly manifest: Manifest }

  async function exported(name: string, member?: Uint8Array) {
    const path = join(folder, name)
    const writer = openStateEngine({ path })
    for (const one of SOURCES) {
      const source = await openSource(sharedPath(one), { thread: false, unsigned: true })
      const only = member && { spec: { accounts: [member], tables: [], types: [] } }
      await ingestSource(writer, source, { keepTransactions: 'whole', only })
      await source.close()
    }
    await writer.close()
    const engine = openStateEngineReader({ path })
    const signal = new AbortController().signal
    return { engine, manifest: await exportParquet({ engine, folder: join(folder, `${name}-lake`), signal }) }
  }

  const read = async (sql: string) => (await duck.runAndReadAll(sql)).getRowObjectsJson()
  const files = (name: string, table: string) => `'${join(folder, `${name}-lake`, table)}/*.parquet'`

  beforeAll(async () => {
    duck = await (await DuckDBInstance.create(':memory:')).connect()
    whole = await exported('whole')
  })
  afterAll(async () => {
    duck.closeSync()
    await whole.engine.close()
    rmSync(folder, { recursive: true })
  })

  /** The transactions of the ledger, as the rows of the tables. */
  function expectedOf(engine: LmdbEngineReader) {
    const ledger = createLedger(engine)
    const transactions: object[] = []
    const events: object[] = []
    const { oldestVersion, latestVersion } = engine.ledger!
    for (let version = oldestVersion + 1n; version <= latestVersion; version++) {
      const state = ledger.at(version)
      const found = transactionAt(state, version)
      if (found) {
        transactions.push({
          version: String(version),
          hash: bytesToHex(found.hash),
          type: `${found.kind}_transaction`,
          success: found.isSuccess,
          sender: found.sender ? addressToShortHex(found.sender) : null,
          function: found.entryFunction ?? null,
        })
      }
      for (const { index, event, dataToJson } of eventsAtVersion(state, version)) {
        events.push({
          version: String(version),
          at: String(index),
          type: typeTagToText(event.type),
          data: dataToJson() ?? null,
        })
      }
    }
    return { transactions, events }
  }

  const TRANSACTIONS = `SELECT version, '0x' || lower(hex(hash)) AS hash, type, success, sender, "function"`

  it('has each transaction and each event', async () => {
    const { transactions, events } = expectedOf(whole.engine)
    expect(transactions.length).toBeGreaterThan(20)
    expect(events.length).toBeGreaterThan(20)
    expect(await read(`${TRANSACTIONS} FROM ${files('whole', 'transactions')} ORDER BY version`)).toEqual(transactions)
    const found = await read(
      `SELECT version, event_index AS at, type, data FROM ${files('whole', 'events')} ORDER BY version, event_index`,
    )
    expect(found).toEqual(events)
    expect(whole.manifest.is_slice).toBe(false)
  })

  it('of a slice has the transactions of the slice, and its manifest says that it is one', async () => {
    const sender = firstSender(whole.engine)
    const { engine, manifest } = await exported('slice', sender)
    expect(manifest.is_slice).toBe(true)
    const { transactions } = expectedOf(engine)
    expect(transactions.length).toBeGreaterThan(0)
    expect(transactions.length).toBeLessThan(expectedOf(whole.engine).transactions.length)
    expect(await read(`${TRANSACTIONS} FROM ${files('slice', 'transactions')} ORDER BY version`)).toEqual(transactions)
    let writes = 0
    const { oldestVersion, latestVersion } = engine.ledger!
    for (const { key } of engine.at(oldestVersion).scan(new Uint8Array(0))) writes += Number(!isOwnKey(key))
    for (const one of engine.versions(oldestVersion + 1n, latestVersion)) {
      writes += one.writes.filter(([key]) => !isOwnKey(key)).length
    }
    expect(await read(`SELECT count(*) AS n FROM ${files('slice', 'writes')}`)).toEqual([{ n: String(writes) }])
    await engine.close()
  })
})

/** Sender of the first transaction that has one. */
function firstSender(engine: LmdbEngineReader): Uint8Array {
  const ledger = createLedger(engine)
  for (let version = 1n; ; version++) {
    const { sender } = transactionAt(ledger.at(version), version) ?? {}
    if (sender) return sender
  }
}
