import { isLedgerStateError } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CITUS_MISSING, type CitusCluster, ON_CITUS, startCitus } from '../testing/citus-cluster.ts'
import { removeStore } from '../testing/contract-on.ts'
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import { openPostgresEngine, openPostgresEngineReader } from './open-postgres-engine.js'
import { hashKey } from './schema/key-hash.js'

const KEYS = 20
const PATIENCE = { patienceMs: 60_000, writePatienceMs: 300_000 }

let cluster: CitusCluster
let proxy: TcpProxy

describe.skipIf(CITUS_MISSING !== undefined)(`reads, ${ON_CITUS}`, () => {
  beforeAll(async () => {
    cluster = await startCitus({ workers: 2 })
    proxy = await startTcpProxy(cluster.portOf('worker-1'))
    await cluster.reroute('worker-1', proxy.port)
  }, 180_000)

  afterAll(async () => {
    await proxy?.close()
    cluster?.close()
  })

  it('is not a commit before each worker has it', { timeout: 300_000 }, async () => {
    const engine = await openPostgresEngine({ url: cluster.url, ...PATIENCE })
    const reader = await openPostgresEngineReader({ url: cluster.url, headMaxAgeMs: 0, ...PATIENCE })
    await engine.commit(versionsFrom(0n, 1, KEYS), CHAIN)
    const isCut = proxy.cutOn('COMMIT PREPARED', 'before').then(() => proxy.refuse())
    const committing = engine.commit(versionsFrom(1n, 1, KEYS), CHAIN)
    await isCut
    const written = 'SELECT written_version FROM ledger_state.head'
    await eventually(
      async () => (await cluster.sql(written))[0]?.written_version === '1',
      () => 'the coordinator to have committed',
    )
    expect((await reader.snapshot()).ledger?.latestVersion).toBe(0n)
    proxy.accept()
    await committing
    const snapshot = await reader.snapshot()
    expect(snapshot.ledger?.latestVersion).toBe(1n)
    const entries = await snapshot.at().load(Array.from({ length: KEYS }, (_, number) => keyOf(number)))
    expect(entries.map((entry) => entry?.version)).toEqual(entries.map(() => 1n))
    expect((await engine.check()).problems).toEqual([])
    await reader.close()
    await engine.close()
  })

  it('is a version that was pruned, where its rows are dropped while they are asked for', {
    timeout: 300_000,
  }, async () => {
    const engine = await openPostgresEngine({ url: cluster.url, ...PATIENCE })
    const first = (engine.ledger?.latestVersion ?? -1n) + 1n
    await engine.commit(versionsFrom(first, 2), CHAIN)
    const view = (await engine.snapshot()).at(first)
    const hash = `'\\x${hashKey(keyOf(0)).toString('hex')}'`
    const [shard] = await cluster.sql(`
      SELECT nodeport, 'ledger_state.entries_' || shardid AS name FROM citus_shards
      WHERE shardid = get_shard_id_for_distribution_column('ledger_state.entries', ${hash}::bytea)`)
    const worker = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${shard!.nodeport}/postgres` })
    worker.on('error', () => {})
    await worker.connect()
    await worker.query('SET citus.enable_manual_changes_to_shards = on')
    await worker.query('BEGIN')
    await worker.query(`LOCK TABLE ${shard!.name}`)
    const asked = view.load([keyOf(0)]).catch((error: unknown) => error)
    const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${shard!.name}'::regclass`
    await eventually(
      async () => (await worker.query(waiting)).rowCount === 1,
      () => 'the worker to be asked',
    )
    // The steps of a prune, in their order.
    await cluster.sql(`UPDATE ledger_state.head SET oldest_version = ${first + 1n}, oldest_block = ${first + 1n}`)
    await worker.query(`DELETE FROM ${shard!.name} WHERE key_hash = ${hash} AND version = ${first}`)
    await worker.query('COMMIT')
    await worker.end()
    expect(isLedgerStateError(await asked, 'version_pruned')).toBe(true)
    await engine.close()
  })

  it('has the commits of a user without any right on the cluster, who owns the store', {
    timeout: 300_000,
  }, async () => {
    await removeStore(cluster.url)
    await cluster.sql('CREATE ROLE owner LOGIN')
    await cluster.sql('GRANT CREATE ON DATABASE postgres TO owner')
    await cluster.sql('CREATE ROLE guest LOGIN')
    const as = (user: string) => cluster.url.replace('postgres@', `${user}@`)
    const engine = await openPostgresEngine({ url: as('owner'), ...PATIENCE })
    await engine.commit(versionsFrom(0n, 3, KEYS), CHAIN)
    await engine.prune(1n)
    await cluster.sql('GRANT USAGE ON SCHEMA ledger_state TO guest')
    await cluster.sql('GRANT SELECT ON ALL TABLES IN SCHEMA ledger_state TO guest')
    const reader = await openPostgresEngineReader({ url: as('guest'), headMaxAgeMs: 0, ...PATIENCE })
    const view = (await reader.snapshot()).at()
    const keys = Array.from({ length: KEYS }, (_, number) => keyOf(number))
    expect((await view.load(keys)).map((entry) => entry?.version)).toEqual(keys.map(() => 2n))
    expect((await view.scan(new Uint8Array(0))).entries).toHaveLength(KEYS)
    expect((await reader.check()).problems).toEqual([])
    await reader.close()
    await engine.close()
  })
})
