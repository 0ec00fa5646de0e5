// Views of the kits over a database, compared with the answers of a real vm.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { AsyncState, AsyncStateView } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { createAsyncLedger } from '@ledger-state/ledger'
import { openPostgresEngine } from '@ledger-state/postgres-engine'
import { CITUS_MISSING, ON_CITUS, startCitus } from '@ledger-state/postgres-engine/testing/citus-cluster'
import { startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'

interface KitRequest {
  readonly id: string
  readonly area: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body_text?: string
  readonly body_hex?: string
  readonly expect: { readonly status: number; readonly json_text?: string; readonly body_hex?: string }
}

interface Kit {
  readonly sources: readonly { readonly area: string; readonly serve: string; readonly window: number | 'all' }[]
  readonly requests: readonly KitRequest[]
}

/** One in this many requests of the kit is sent. */
const EVERY = 20
/** Rounds of the longest chain of look-ups of any request: settings, modules, and values that name others. */
const MOST_ROUNDS = 10
const PATIENCE = { patienceMs: 60_000, writePatienceMs: 120_000 }

function countRounds(state: AsyncState): { readonly state: AsyncState; readonly counts: { rounds: number } } {
  const counts = { rounds: 0 }
  const counted = (view: AsyncStateView): AsyncStateView =>
    overriding(view, {
      load: (keys: readonly Uint8Array[]) => {
        counts.rounds++
        return view.load(keys)
      },
    })
  const snapshot: AsyncState['snapshot'] = async () => {
    const own = await state.snapshot()
    return overriding(own, { at: (version?: bigint) => counted(own.at(version)) })
  }
  return { state: overriding<AsyncState>(state, { snapshot }), counts }
}

async function expectKit(url: string): Promise<void> {
  const kit = JSON.parse(readFileSync(sharedPath('conformance/views-framework.json'), 'utf8')) as Kit
  const { area, serve } = kit.sources.find((one) => one.area === 'states-devnet')!
  const engine = await openPostgresEngine({ url, ...PATIENCE })
  const source = await openSource(sharedPath(serve.replace(/^shared\//, '')))
  for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
  await source.close()
  const { state, counts } = countRounds(engine)
  const server = createHttpServer({ ledger: createAsyncLedger(state), maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const differences: unknown[] = []
  let most = 0
  try {
    const requests = kit.requests.filter((one) => one.area === area).filter((_, at) => at % EVERY === 0)
    expect(requests.length).toBeGreaterThan(20)
    for (const { id, path, headers, body_text, body_hex, expect: expected } of requests) {
      const body = body_hex === undefined ? body_text! : Buffer.from(body_hex.replace(/^0x/, ''), 'hex')
      const before = counts.rounds
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
      const bytes = Buffer.from(await answer.arrayBuffer())
      most = Math.max(most, counts.rounds - before)
      const isRight =
        answer.status === expected.status &&
        (expected.json_text === undefined || bytes.toString() === expected.json_text) &&
        (expected.body_hex === undefined || `0x${bytes.toString('hex')}` === expected.body_hex)
      if (!isRight) differences.push([id, expected, answer.status, bytes.toString().slice(0, 400)])
    }
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await engine.close()
  }
  expect(differences).toEqual([])
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(MOST_ROUNDS)
}

describe.skipIf(!hasSharedData)('views of the kit over a database', () => {
  it('give the answers of a real VM on PostgreSQL, in few round trips', async () => {
    const server = await startPostgres()
    try {
      await expectKit(server.url())
    } finally {
      await server.close()
    }
  })

  it.skipIf(CITUS_MISSING !== undefined)(`give the answers of a real VM ${ON_CITUS}, in few round trips`, async () => {
    const cluster = await startCitus({ workers: 2, shards: 4 })
    try {
      await expectKit(cluster.url)
    } finally {
      await cluster.close()
    }
  })
})
