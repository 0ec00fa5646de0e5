import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import type { SourceOptions } from '@ledger-state/feed'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { commitSource } from '../../testing/commit-source.js'
import { readPages } from '../../testing/read-pages.js'
import { createRequestListener } from '../server/create-request-listener.js'

const KIT = 'conformance/transactions'
interface Expectation {
  readonly status: number
  readonly error_code?: string
  readonly message?: string
  readonly message_starts?: string
  readonly json?: unknown
  readonly null_ok?: readonly string[]
  readonly body_hex?: string
  readonly body_length?: number
  readonly body_sha256?: string
}

interface KitRequest {
  readonly id: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly expect: Expectation
}

function readKit(name: string): readonly KitRequest[] {
  const text = readFileSync(sharedPath(`${KIT}/${name}-requests.json`), 'utf8')
  return (JSON.parse(text) as { requests: readonly KitRequest[] }).requests
}

type Json = { readonly [name: string]: Json }

/** The expected value, with null at those JSON pointers where null is as good and was found. */
function withNulls(expected: unknown, got: unknown, pointers: readonly string[] = []): unknown {
  const copy = structuredClone(expected) as Json
  for (const pointer of pointers) {
    const parts = pointer.split('/').slice(1)
    const last = parts.pop()!
    const inside = (root: Json) => parts.reduce<Json | undefined>((value, part) => value?.[part], root)
    const [from, to] = [inside(got as Json), inside(copy)]
    if (from?.[last] === null && to) (to as Record<string, unknown>)[last] = null
  }
  return copy
}

function expectAnswer(id: string, wanted: Expectation, status: number, body: Buffer): void {
  expect({ id, status }).toEqual({ id, status: wanted.status })
  if (wanted.body_hex !== undefined)
    expect({ id, body: `0x${body.toString('hex')}` }).toEqual({ id, body: wanted.body_hex })
  if (wanted.body_sha256 !== undefined) {
    const sha256 = createHash('sha256').update(body).digest('hex')
    expect({ id, length: body.length, sha256 }).toEqual({ id, length: wanted.body_length, sha256: wanted.body_sha256 })
  }
  if (wanted.json !== undefined) {
    const got: unknown = JSON.parse(body.toString())
    expect({ id, got }).toEqual({ id, got: withNulls(wanted.json, got, wanted.null_ok) })
  }
  if (wanted.error_code === undefined) return
  const { error_code: code, message } = JSON.parse(body.toString()) as { error_code: string; message: string }
  expect({ id, code }).toEqual({ id, code: wanted.error_code })
  if (wanted.message !== undefined) expect(message).toBe(wanted.message)
  expect(message.startsWith(wanted.message_starts ?? '')).toBe(true)
}

async function sendAll(ledger: Ledger | AsyncLedger, requests: readonly KitRequest[]): Promise<void> {
  const unexpected: unknown[] = []
  const listener = createRequestListener({
    ledger,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    onUnexpectedError: (error) => unexpected.push(error),
  })
  for (const { id, path, headers, expect: wanted } of requests) {
    const { statusCode, rawPayload } = await inject(listener, { method: 'GET', url: path, headers: { ...headers } })
    expect(unexpected).toEqual([])
    expectAnswer(id, wanted, statusCode, rawPayload)
  }
}

/** Every request in the slow run, else some of them, which the seed chooses. */
function someOf(requests: readonly KitRequest[], count: number): readonly KitRequest[] {
  if (isSlowRun) return requests
  const random = createRandom(testSeed())
  return Array.from({ length: count }, () => requests[random.below(requests.length)]!)
}

const DEVNET = 'data/genesis/devnet.genesis.blob'
const TESTNET = 'data/genesis/testnet.genesis.blob'
const ZEROL: SourceOptions = { hashSalt: 'DIEM::' }

// These need the shared folder.
describe
  .runIf(hasSharedData)
  .each([
    ['transactions', [DEVNET, `${KIT}/gallery`], {}],
    ['made-transactions', [DEVNET, `${KIT}/made`], {}],
    ['testnet-transactions', [TESTNET, `${KIT}/testnet`], {}],
    ...(isSlowRun ? [['zerol-transactions', ['data/backup/transaction_1-.90bf'], ZEROL] as const] : []),
  ] as const)(`the kit %s (TEST_SEED=${testSeed()})`, (name, sources, options) => {
  const requests = hasSharedData ? readKit(name) : []
  let engine: StateWriter
  beforeAll(async () => {
    engine = createMemoryEngine()
    for (const source of sources) await commitSource(engine, source, options)
  })

  it('is answered by a ledger of this process, also a second time', async () => {
    const ledger = createLedger(engine)
    const asked = someOf(requests, 150)
    await sendAll(ledger, asked)
    await sendAll(ledger, asked)
  })

  it('is answered over an engine on other machines', async () => {
    const random = createRandom(testSeed())
    const state = delayState(engineToAsync(engine), { random, pageSize: 20 })
    await sendAll(createAsyncLedger(state), someOf(requests, 40))
  })
})

/** All items of a list, in pages of some size. */
async function allPages(ledger: Ledger | AsyncLedger, path: string, limit: number): Promise<unknown[]> {
  const listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  return (await readPages(listener, path, limit)).flat()
}

describe.runIf(hasSharedData)('the lists that fullnodes do not have', () => {
  let engine: StateWriter
  let ledgers: readonly (Ledger | AsyncLedger)[]
  beforeAll(async () => {
    engine = createMemoryEngine()
    for (const source of [TESTNET, `${KIT}/testnet`]) await commitSource(engine, source, {})
    const state = delayState(engineToAsync(engine), { random: createRandom(testSeed()), pageSize: 2 })
    ledgers = [createLedger(engine), createAsyncLedger(state)]
  })

  it('give the events of a type as their stream does, and the transactions that changed an account', async () => {
    for (const ledger of ledgers) {
      const stream = await allPages(ledger, '/v1/accounts/0x1/events/3?start=0', 100)
      expect(stream.length).toBeGreaterThan(1)
      for (const limit of [1, 2, 100]) {
        const events = await allPages(ledger, '/v1/events/0x1::block::NewBlockEvent?order=asc', limit)
        expect(events).toEqual(stream)
        const newest = await allPages(ledger, '/v1/events/0x1::block::NewBlockEvent?', limit)
        expect(newest).toEqual(stream.toReversed())
        const changes = await allPages(ledger, '/v1/accounts/0x1/affecting_transactions?from=1&order=asc', limit)
        // Version 3 is a state checkpoint.
        expect((changes as { version: string }[]).map(({ version }) => version)).toEqual(['1', '2'])
        const inRange = await allPages(ledger, '/v1/accounts/0x1/affecting_transactions?to=1', limit)
        expect((inRange as { version: string }[]).map(({ version }) => version)).toEqual(['1', '0'])
      }
      expect(await allPages(ledger, '/v1/events/0x1::block::Nothing?', 5)).toEqual([])
    }
  })

  it('refuse a cursor that is none, and a type that is none', async () => {
    const listener = createRequestListener({ ledger: ledgers[0]! })
    for (const path of ['/v1/events/0x1::block::NewBlockEvent?start=7', '/v1/events/0x1::block']) {
      const { statusCode, body } = await inject(listener, path)
      expect([statusCode, body]).toEqual([400, expect.stringContaining('failed to parse')])
    }
  })

  it('are elements of a batch, like all operations on transactions', async () => {
    const listener = createRequestListener({ ledger: ledgers[0]! })
    const paths = [
      '/v1/transactions/by_version/1',
      '/v1/events/0x1::block::NewBlockEvent?limit=1',
      '/v1/transactions?limit=2',
    ]
    const payload = JSON.stringify({ requests: paths.map((path) => ({ path })) })
    const headers = { 'content-type': 'application/json' }
    const { body } = await inject(listener, { method: 'POST', url: '/v1/batch', headers, payload })
    const results = JSON.parse(body) as { status: number; value: unknown }[]
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const [at, path] of paths.entries()) {
      expect(results[at]!.value).toEqual(JSON.parse((await inject(listener, path)).body))
    }
  })
})
