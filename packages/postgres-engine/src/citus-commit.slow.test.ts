import { eventually } from '@ledger-state/testing/eventually'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CITUS_MISSING, type CitusCluster, ON_CITUS, startCitus } from '../testing/citus-cluster.ts'
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import { openPostgresEngine, openPostgresEngineReader } from './open-postgres-engine.js'

const KEYS = 20
const PATIENCE = { patienceMs: 60_000, writePatienceMs: 300_000 }

let cluster: CitusCluster
let proxy: TcpProxy

describe.skipIf(CITUS_MISSING !== undefined)(`a commit ${ON_CITUS}`, () => {
  beforeAll(async () => {
    cluster = await startCitus({ workers: 2 })
    proxy = await startTcpProxy(cluster.portOf('worker-1'))
    await cluster.reroute('worker-1', proxy.port)
  }, 180_000)

  afterAll(async () => {
    await proxy?.close()
    cluster?.close()
  })

  it('is not told of before each worker has it', { timeout: 300_000 }, async () => {
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
})
