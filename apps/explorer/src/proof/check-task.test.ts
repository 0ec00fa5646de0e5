import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequestListener } from '@ledger-state/http'
import {
  CHECKPOINT,
  createProvenLedger,
  EPOCH,
  type ProvenLedger,
  waypointOf,
} from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import { readEndingsFrom, readProofFrom } from '@ledger-state/light-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseExactly } from '../api/exact-json.ts'
import { checkTask } from './check-task.ts'

const [KEY_TYPE, VALUE_TYPE] = ['u64', '0xcafe::game::Score']
let proven: ProvenLedger
let server: Server
let url: string
/** The path at which the node answers that it is busy. */
let busyAt: string | undefined

beforeAll(async () => {
  proven = await createProvenLedger()
  const api = createRequestListener({
    ledger: createLedger(proven.engine),
    proofs: proven.proofs,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  server = createServer((request, response) => {
    if (busyAt !== undefined && request.url!.includes(busyAt)) response.writeHead(503).end('{}')
    else api(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  proven.close()
})

/** The result for an item, whose answer may be changed. */
async function resultOf(key: string, change = (answer: string) => answer) {
  busyAt = undefined
  const body = `{"key_type":"${KEY_TYPE}","value_type":"${VALUE_TYPE}","key":${key}}`
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const asked = await fetch(`${url}/tables/0x7ab1e/item?ledger_version=${CHECKPOINT}&proof=true`, {
    method: 'POST',
    headers,
    body,
  })
  const answer = change(await asked.text())
  const question = {
    kind: 'table_item',
    handle: '0x7ab1e',
    keyType: KEY_TYPE,
    valueType: VALUE_TYPE,
    key: parseExactly(key),
  } as const
  return async (busy?: string) => {
    busyAt = busy
    const task = { answer, question, version: String(CHECKPOINT), waypoint: waypointOf(1), hashSalt: null, url }
    const reads = { readEndings: readEndingsFrom(url), readProof: readProofFrom(url), onReached: () => {} }
    return await checkTask(task, reads)
  }
}

it('a node that does not give all parts of a proof is not accused', async () => {
  const run = await resultOf('"3"')
  for (const part of ['/-/epoch_endings', '/experimental/state_values/raw']) {
    expect(await run(part), part).toEqual({
      unavailable: expect.stringContaining('the node gave no answer: status 503'),
    })
    expect(await run()).toMatchObject({ believed: { json: '{"first":"3","second":"9"}', epoch: String(EPOCH) } })
  }
})

it('a node that lies is refused', async () => {
  const run = await resultOf('"3"', (answer) => answer.replace('"second":"9"', '"second":"8"'))
  expect(await run()).toEqual({ refused: expect.stringContaining('but the answer says') })
})

it('a key above 2^53 that a visitor wrote as a number is proven', async () => {
  for (const key of ['9007199254740993', '"9007199254740993"', '18446744073709551615']) {
    const run = await resultOf(key)
    expect(await run(), key).toMatchObject({ believed: { json: null } })
  }
})
