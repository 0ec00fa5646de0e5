// The lists of holdings and GraphQL over a store in PostgreSQL, compared with those over an engine in memory.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { HoldingsModel, OWNERS, randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabaseWriter } from './open-database.js'

const VERSIONS = 80
const servers: Server[] = []
let postgres: PostgresServer
let writer: Awaited<ReturnType<typeof openDatabaseWriter>>
let urls: readonly string[]
let assets: readonly string[]

async function serve(ledger: Parameters<typeof createHttpServer>[0]['ledger']): Promise<string> {
  const server = createHttpServer({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

beforeAll(async () => {
  postgres = await startPostgres()
  const generated = randomHoldings(createRandom(testSeed()), VERSIONS)
  const model = new HoldingsModel(generated)
  const versions = withHoldings(generated.versions)
  const engine = createMemoryEngine()
  await engine.commit(versions, { chainId: 4n })
  writer = await openDatabaseWriter(await postgres.createDatabase('holdings'), true)
  await writer.commit(versions, { chainId: 4n })
  urls = [await serve(createLedger(engine)), await serve(createAsyncLedger(writer))]
  const held = OWNERS.flatMap((owner) => model.balances(owner, BigInt(VERSIONS - 1)))
  assets = [...new Set(held.map(({ assetType }) => assetType))]
}, 60_000)
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await writer?.close()
  await postgres?.close()
})

/** Expects the same answer of both, twice. Returns the body. */
async function expectSame(path: string, how: RequestInit = {}): Promise<string> {
  let text = ''
  for (let times = 0; times < 2; times++) {
    const [memory, database] = await Promise.all(urls.map((url) => fetch(url + path, how)))
    const bodies = await Promise.all([memory!.text(), database!.text()])
    expect([path, database!.status, bodies[1]]).toEqual([path, memory!.status, bodies[0]])
    expect(database!.headers.get('x-aptos-cursor')).toBe(memory!.headers.get('x-aptos-cursor'))
    expect(memory!.status, bodies[0]).toBe(200)
    text = bodies[0]!
  }
  return text
}

it(`are the same over PostgreSQL as over memory (TEST_SEED=${testSeed()})`, async () => {
  let shown = 0
  for (const version of [VERSIONS / 4, VERSIONS - 1]) {
    for (const owner of OWNERS) {
      for (const list of ['balances', 'objects', 'activities']) {
        const bound = list === 'activities' ? 'to' : 'ledger_version'
        for (const limit of [2, 100]) {
          shown += (await expectSame(`/accounts/${owner}/${list}?${bound}=${version}&limit=${limit}`)).length
        }
      }
      const query = `query q($owner: String!) {
        current_fungible_asset_balances(where: {owner_address: {_eq: $owner}}, order_by: [{amount: desc}]) {
          asset_type storage_id amount is_primary last_transaction_version last_transaction_timestamp
        }
        current_objects(where: {owner_address: {_eq: $owner}}) { object_address owner_address }
        current_token_ownerships_v2_aggregate(where: {owner_address: {_eq: $owner}}) { aggregate { count } }
      }`
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ query, variables: { owner, ledger_version: version } })
      shown += (await expectSame('/graphql', { method: 'POST', headers, body })).length
    }
    for (const asset of assets) {
      const path = `/assets/${encodeURIComponent(asset)}/holders?ledger_version=${version}`
      for (const rest of ['', '&limit=3', '&order=amount']) shown += (await expectSame(path + rest)).length
    }
  }
  expect(assets.length).toBeGreaterThan(0)
  expect(shown).toBeGreaterThan(10_000)
}, 120_000)
