import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_WINDOW, openDemoLedger } from './demo-ledger.js'
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

it.each(Object.entries(DEMO_REQUESTS))('the example of %s finds something', async (_, { target, body }) => {
  const request = body && {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  }
  const answer = await fetch(`${address}${target}`, request)
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  expect(text).not.toMatch(/^(|\[\]|0)$|"status":4|"items":\[\]/)
})

/** The modules of the demonstration ledger declare types, and have no code that could run. */
const WITHOUT_EXAMPLE = ['view', 'get_view_history']

it('every operation but those that run code has an example of the demonstration ledger', async () => {
  const { paths } = (await (await fetch(`${address}/v1/spec.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect([...Object.keys(DEMO_REQUESTS), ...WITHOUT_EXAMPLE].sort()).toEqual(ids.sort())
})
