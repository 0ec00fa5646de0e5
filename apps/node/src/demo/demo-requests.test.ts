import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { type OpenApiDocument, operationsOf, toRequest } from '@ledger-state/explorer/open-api'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIGUREHEAD_TOKENS, FIGUREHEADS, HARBOUR } from './demo-addresses.js'
import { DEMO_WINDOW, openDemoLedger } from './demo-ledger.js'
import { quoteOf } from './demo-market.js'
import { DEMO_REQUESTS } from './demo-requests.js'

const engine = createMemoryEngine()
const server = createHttpServer({ ledger: createLedger(engine), examples: DEMO_REQUESTS })
let address: string

beforeAll(async () => {
  await ingestSource(engine, openDemoLedger(), { retain: DEMO_WINDOW })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it('each operation has an example that finds something', async () => {
  const document = (await (await fetch(`${address}/v1/spec.json`)).json()) as OpenApiDocument
  for (const operation of operationsOf(document)) {
    // The demonstration ledger has no whole transactions.
    // A stream has no end.
    if (/transactions|transaction_summaries|\/events\b|stream/.test(operation.path)) continue
    const { path, body } = toRequest(operation, operation.example.parameters, operation.example.body)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${address}/v1${path}`, body === undefined ? {} : { method: 'POST', body, headers })
    const text = await answer.text()
    expect(answer.status, `${operation.id}: ${text}`).toBe(200)
    expect(text, operation.id).not.toMatch(/^(|\[\]|0)$|"status":4|"items":\[\]/)
  }
})

it('tokens and their collection are whole, so an indexer’s tables have them', async () => {
  const ask = async (query: string): Promise<unknown> => {
    const init = { method: 'POST', body: JSON.stringify({ query }), headers: { 'content-type': 'application/json' } }
    return ((await (await fetch(`${address}/v1/graphql`, init)).json()) as { data?: unknown }).data
  }
  const byName = `where: {creator_address: {_eq: "${HARBOUR}"}, collection_name: {_eq: "Figureheads"}}`
  expect(await ask(`{ current_collections_v2(${byName}) { collection_id current_supply max_supply uri } }`)).toEqual({
    current_collections_v2: [
      { collection_id: FIGUREHEADS, current_supply: 8, max_supply: 8, uri: 'https://harbour.example/figureheads' },
    ],
  })
  const ofCollection = `where: {current_token_data: {collection_id: {_eq: "${FIGUREHEADS}"}}}`
  const token = 'current_token_data { token_name token_uri current_collection { collection_name } }'
  const owned = await ask(`{ current_token_ownerships_v2(${ofCollection}) { token_data_id ${token} } }`)
  const tokens = FIGUREHEAD_TOKENS.map((token_data_id, at) => ({
    token_data_id,
    current_token_data: {
      token_name: expect.stringMatching(/^[A-Z]/),
      token_uri: `https://harbour.example/figureheads/${at + 1}`,
      current_collection: { collection_name: 'Figureheads' },
    },
  }))
  expect(owned).toEqual({
    current_token_ownerships_v2: tokens.toSorted((a, b) => (a.token_data_id < b.token_data_id ? -1 : 1)),
  })
})

describe('the views of the demonstration ledger', () => {
  async function view(name: string, args: readonly string[], version: number) {
    const body = JSON.stringify({ function: `${HARBOUR}::market::${name}`, type_arguments: [], arguments: args })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${address}/v1/view?ledger_version=${version}`, { method: 'POST', body, headers })
    return { status: answer.status, body: (await answer.json()) as unknown }
  }

  it('quote the prices that follow from the reserves of the pool, at each version', async () => {
    const quotes = new Set<unknown>()
    for (const version of [1_000, 1_500, 2_999]) {
      const reserves = await view('reserves', [], version)
      const [beans, aptos] = (reserves.body as string[]).map(BigInt) as [bigint, bigint]
      const { status, body } = await view('quote', ['1000000'], version)
      expect([status, body]).toEqual([200, [String(quoteOf(1_000_000n, beans, aptos))]])
      quotes.add(String(body))
    }
    expect(quotes.size).toBe(3)
  })

  it('abort with an error of their module', async () => {
    const { status, body } = await view('quote', ['0'], 1_500)
    expect(status).toBe(400)
    expect((body as { message: string }).message).toContain('ENOTHING_PAID')
  })
})
