import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { DEFAULT_BUDGET, type ViewUsage } from '@ledger-state/move-vm'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { DEAR_VIEWS } from '@ledger-state/testing/hostile-clients'
import { randomTypeTree } from '@ledger-state/testing/hostile-types'
import { createRandom } from '@ledger-state/testing/random'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GET_BALANCE, POST_BATCH, POST_ITEM } from './requests.ts'
import { ITEM_TABLE, writeServedStore } from './served-store.ts'
import { sampleAnswer } from './servers.ts'

let folder: string
let port: number
const usages: ViewUsage[] = []
let close: () => Promise<void>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'served-'))
  await writeServedStore(folder)
  const engine = openStateEngineReader({ path: folder })
  const server = createHttpServer({ ledger: createLedger(engine), onView: ({ usage }) => usages.push(usage) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await engine.close()
  }
})
afterAll(async () => {
  await close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the store that is served', () => {
  it.each([GET_BALANCE, POST_ITEM, POST_BATCH])('has the requested data: $name', async ({ makeRequest }) => {
    // Throws if the status is not 200.
    const { body } = await sampleAnswer(port, makeRequest)
    expect(body).not.toBe('')
  })

  it.each(DEAR_VIEWS)('has a view that takes most of a budget: %s', async (name) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/view`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ function: `0x42::dear::${name}`, type_arguments: [], arguments: [] }),
    })
    expect([answer.status, await answer.json()]).toEqual([200, [expect.any(String)]])
    const { instructions, bytes } = usages.at(-1)!
    expect(Math.max(instructions / DEFAULT_BUDGET.instructions, bytes / DEFAULT_BUDGET.bytes)).toBeGreaterThan(0.9)
  })

  it('resolves the types of hostile clients', async () => {
    const type = randomTypeTree(createRandom(1), 7)
    expect(type.length).toBeGreaterThan(6_000)
    const answer = await fetch(`http://127.0.0.1:${port}/v1/tables/${ITEM_TABLE}/item`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key_type: type, value_type: 'u64', key: { data: [] } }),
    })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'table_item_not_found' })
  })
})
