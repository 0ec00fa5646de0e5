import { testSeed } from '@ledger-state/testing/random'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CITUS_MISSING, type CitusCluster, ON_CITUS, startCitus } from '../testing/citus-cluster.ts'
import { clearStore } from '../testing/clear-store.ts'
import { KnowingClients } from '../testing/knowing-clients.ts'
import { openPostgresEngine } from './open-postgres-engine.js'

const SEED = testSeed()
const LONG = { timeout: 600_000 }

let cluster: CitusCluster
let clients: KnowingClients

describe.skipIf(CITUS_MISSING !== undefined)(`clients that know every answer, ${ON_CITUS} (TEST_SEED=${SEED})`, () => {
  beforeAll(async () => {
    cluster = await startCitus({ workers: 2, spares: 1, shards: 6 })
    const engine = await openPostgresEngine({ url: cluster.url, patienceMs: 60_000 })
    await engine.close()
  }, 180_000)

  afterAll(() => cluster?.close())

  beforeEach(async () => {
    await clearStore(cluster.url)
    clients = new KnowingClients(cluster.url)
    clients.start(2, SEED)
    await clients.proceed()
  }, 180_000)

  afterEach(async () => {
    await clients.finish()
    expect(clients.faults).toEqual([])
  }, 600_000)

  it.each(['worker-1', 'coordinator'])('outlive kill -9 of %s', LONG, async (name) => {
    cluster.kill(name)
    await clients.fail()
    await cluster.start(name)
    await clients.proceed()
  })

  it('wait for a worker that is stopped, and continue', LONG, async () => {
    cluster.halt('worker-2')
    try {
      await clients.fail()
    } finally {
      cluster.proceed('worker-2')
    }
    await clients.proceed()
  })

  it('continue while a worker is added and shards move', LONG, async () => {
    await cluster.add('worker-3')
    await cluster.sql("SELECT rebalance_table_shards('ledger_state.entries', shard_transfer_mode := 'force_logical')")
    const moved = await cluster.sql(`SELECT FROM citus_shards WHERE nodeport = ${cluster.portOf('worker-3')}`)
    expect(moved).toHaveLength(4)
    await clients.proceed()
  })

  it('continue while a shard is split', LONG, async () => {
    const [shard] = await cluster.sql(`
      SELECT shardid, shardminvalue::int + 1000 AS point FROM pg_dist_shard
      WHERE logicalrelid = 'ledger_state.entries'::regclass LIMIT 1`)
    const [node] = await cluster.sql(`SELECT nodeid FROM pg_dist_node WHERE nodeport = ${cluster.portOf('worker-1')}`)
    await cluster.sql(`SELECT citus_split_shard_by_split_points(
      ${shard!.shardid}, ARRAY['${shard!.point}'], ARRAY[${node!.nodeid}, ${node!.nodeid}], 'force_logical')`)
    await clients.proceed()
  })
})
