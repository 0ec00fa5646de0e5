// Transactions and events of a store that keeps them, and of a slice. The files are read back with DuckDB.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger, transactionAt, wholeTransactionAt } from '@ledger-state/ledger'
import { isOwnKey } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportParquet } from './export-parquet.js'
import type { Manifest } from './manifest.js'

const SOURCES = ['data/genesis/devnet.genesis.blob', 'conformance/transactions/gallery']

// This needs the shared folder.
describe.runIf(hasSharedData)('an export of a store with whole transactions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-transactions-'))
  let duck: DuckDBConnection
  let whole: { readonly engine: LmdbEngineReader; readonly manifest: Manifest }
  let expected: ReturnType<typeof expectedOf>

  /** @param ofGenesis what the store keeps of the transaction of its first source */
  async function exported(name: string, member?: Uint8Array, ofGenesis: 'whole' | 'summary' = 'whole') {
    const path = join(folder, name)
    const writer = openStateEngine({ path })
    for (const [at, one] of SOURCES.entries()) {
      const source = await openSource(sharedPath(one), { thread: false, unsigned: true })
      const only = member && { spec: { accounts: [member], tables: [], types: [] } }
      await ingestSource(writer, source, { keepTransactions: at === 0 ? ofGenesis : 'whole', only })
      await source.close()
    }
    await writer.close()
    const engine = openStateEngineReader({ path })
    const signal = new AbortController().signal
    // The state of the genesis is in several files.
    const options = { engine, folder: join(folder, `${name}-lake`), signal, bytesOfRange: 500_000 }
    return { engine, manifest: await exportParquet(options) }
  }

  const read = async (sql: string) => (await duck.runAndReadAll(sql)).getRowObjectsJson()
  const files = (name: string, table: string) => `'${join(folder, `${name}-lake`, table)}/*.parquet'`

  beforeAll(async () => {
    duck = await (await DuckDBInstance.create(':memory:')).connect()
    whole = await exported('whole')
    expected = expectedOf(whole.engine)
  })
  afterAll(async () => {
    duck.closeSync()
    await whole.engine.close()
    rmSync(folder, { recursive: true })
  })

  /** The whole transactions of the store, as full nodes print them, as the rows of the tables. */
  function expectedOf(engine: LmdbEngineReader) {
    const ledger = createLedger(engine)
    const transactions: Record<string, unknown>[] = []
    const events: ({ readonly version: string } & Record<string, unknown>)[] = []
    const { oldestVersion, latestVersion } = engine.ledger!
    for (let version = oldestVersion; version <= latestVersion; version++) {
      const printed = wholeTransactionAt(ledger.at(version), version)?.toJson()
      if (printed === undefined) continue
      const { hash, type, success, sender, payload, events: ofIt = [] } = JSON.parse(printed)
      const from = sender ? `0x${sender.slice(2).padStart(64, '0')}` : null
      const called = payload?.function ?? payload?.transaction_payload?.function ?? null
      transactions.push({ version: String(version), hash, type, success, sender: from, function: called })
      for (const [at, { type, data }] of ofIt.entries())
        events.push({ version: String(version), at: String(at), type, data })
    }
    return { transactions, events }
  }

  const TRANSACTIONS = `SELECT version, '0x' || lower(hex(hash)) AS hash, type, success, sender, "function"`

  it('has each transaction and each event once, those of the first version and of versions that write nothing, too', async () => {
    const { transactions, events } = expected
    expect([transactions.length, events.length]).toEqual([252, 1390])
    const silent = `FROM ${files('whole', 'transactions')} WHERE version NOT IN (SELECT version FROM ${files('whole', 'writes')})`
    expect(await read(`SELECT count(*) AS n ${silent}`)).toEqual([{ n: '86' }])
    expect(await read(`${TRANSACTIONS} FROM ${files('whole', 'transactions')} ORDER BY version`)).toEqual(transactions)
    const found = await read(
      `SELECT version, event_index AS at, type, data FROM ${files('whole', 'events')} ORDER BY version, event_index`,
    )
    expect(found.map(({ data, ...rest }) => ({ ...rest, data: JSON.parse(String(data)) }))).toEqual(events)
    expect(whole.manifest.is_slice).toBe(false)
    expect(whole.manifest.ranges.filter(({ isState }) => isState).length).toBeGreaterThan(1)
  })

  it('has addresses in one form in all tables, so that they join', async () => {
    const addresses = [
      ['transactions', 'sender'],
      ['writes', 'address'],
      ['balances', 'owner'],
      ['balances', 'storage'],
    ] as const
    for (const [table, column] of addresses) {
      const other = `FROM ${files('whole', table)} WHERE NOT regexp_full_match(${column}, '0x[0-9a-f]{64}')`
      expect([column, await read(`SELECT ${column} ${other}`)]).toEqual([column, []])
    }
    const senders = `SELECT DISTINCT sender FROM ${files('whole', 'transactions')} WHERE sender IS NOT NULL`
    const accounts = `SELECT address FROM ${files('whole', 'writes')} WHERE type = '0x1::account::Account'`
    const [found] = await read(
      `SELECT count(*) AS n, count(*) FILTER (sender LIKE '0x0%') AS zeros FROM (${senders}) WHERE sender IN (${accounts})`,
    )
    expect(found).toEqual({ n: '72', zeros: '3' })
  })

  it('of a store that kept summaries at first has no events of them', async () => {
    const { engine } = await exported('late', undefined, 'summary')
    const { oldestVersion } = engine.ledger!
    const { events, transactions } = expectedOf(engine)
    expect([transactions.length, events.some(({ version }) => version === String(oldestVersion))]).toEqual([251, false])
    const count = async (table: string) => (await read(`SELECT count(*) AS n FROM ${files('late', table)}`))[0]
    expect(await count('events')).toEqual({ n: String(events.length) })
    expect(await count('transactions')).toEqual({ n: '252' })
    await engine.close()
  })

  it('of a slice has the transactions of the slice, and its manifest says that it is one', async () => {
    const sender = firstSender(whole.engine)
    const { engine, manifest } = await exported('slice', sender)
    expect(manifest.is_slice).toBe(true)
    // Of a version that wrote a value of the slice the store knows the transaction, although it does not keep all of it.
    const versions = new Set(expectedOf(engine).transactions.map(({ version }) => version))
    const { oldestVersion, latestVersion } = engine.ledger!
    for (const { version, writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
      if (writes.some(([key]) => !isOwnKey(key))) versions.add(String(version))
    }
    const transactions = expected.transactions.filter(({ version }) => versions.has(version))
    expect(transactions.length).toBe(165)
    expect(await read(`${TRANSACTIONS} FROM ${files('slice', 'transactions')} ORDER BY version`)).toEqual(transactions)
    let writes = 0
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
