import { readFileSync } from 'node:fs'
import { LedgerStateError } from '@ledger-state/core'
import {
  type AsyncState,
  createMemoryEngine,
  engineToAsync,
  type StateReader,
  type StateWriter,
} from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { openSource } from '@ledger-state/feed'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { commitNext, createRandomLedger, type RandomRequest, randomRequest } from '../../testing/random-ledger.ts'
import { createRequestListener } from './create-request-listener.js'

const seed = testSeed()

function ask(ledger: Ledger | AsyncLedger) {
  const unexpected: unknown[] = []
  const listener = createRequestListener({
    ledger,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    onUnexpectedError: (error) => unexpected.push(error),
  })
  return async ({ method, url, headers, payload }: RandomRequest) => {
    const answer = await inject(listener, { method, url, headers, ...(payload !== undefined && { payload }) })
    expect(unexpected).toEqual([])
    const { date: _date, ...others } = answer.headers
    return { status: answer.statusCode, headers: others, body: answer.rawPayload.toString('latin1') }
  }
}

const askLocal = (engine: StateReader) => ask(createLedger(engine))

function askAsync(engine: StateWriter, random: Random, pageSize?: number) {
  const state = delayState(engineToAsync(engine), { random, ...(pageSize !== undefined && { pageSize }) })
  return { state, send: ask(createAsyncLedger(state)) }
}

async function expectSameAnswers(engine: StateWriter, requests: readonly RandomRequest[], random: Random) {
  const local = askLocal(engine)
  const { send } = askAsync(engine, random, 1 + random.below(40))
  for (const request of requests) {
    const [expected, found] = [await local(request), await send(request)]
    expect({ request, ...found }).toEqual({ request, ...expected })
  }
}

describe('a service over an async ledger', () => {
  it(`answers every operation as one over a ledger of this process does (TEST_SEED=${seed})`, async () => {
    const random = createRandom(seed)
    const engine = await createRandomLedger(random)
    await expectSameAnswers(engine, manyRequests(random, isSlowRun ? 300 : 100), random)
  })

  it(`reads one state in each request while versions are committed (TEST_SEED=${seed})`, async () => {
    const random = createRandom(seed)
    const engine = await createRandomLedger(random)
    const { send } = askAsync(engine, random)
    const sending: Promise<{ request: RandomRequest; found: Awaited<ReturnType<typeof send>> }>[] = []
    for (let round = 0; round < (isSlowRun ? 40 : 12); round++) {
      // Requests that name no state are read at the latest version, which the headers of the answer name.
      for (const request of manyRequests(random, 10)) {
        if (!request.url.includes('?')) sending.push(send(request).then((found) => ({ request, found })))
      }
      await commitNext(engine, random)
      await new Promise((next) => setImmediate(next))
    }
    const local = askLocal(engine)
    for (const { request, found } of await Promise.all(sending)) {
      const version = found.headers['x-svc-ledger-version']
      const { status, body } = await local({ ...request, url: `${request.url}${stateParameter(request.url, version)}` })
      if (!isAboutLedger(request.url)) expect({ request, ...found }).toMatchObject({ request, status, body })
    }
  })

  it(`answers 410 for versions pruned meanwhile, and never a wrong value (TEST_SEED=${seed})`, async () => {
    const windows = [71n, 60n, 50n, 40n, 30n, 20n]
    // The same ledger with each of the windows, by its oldest version.
    const locals = new Map<string, ReturnType<typeof askLocal>>()
    for (const window of windows) {
      const pruned = await createRandomLedger(createRandom(seed))
      await pruned.prune(window)
      locals.set(String(pruned.ledger!.oldestVersion), askLocal(pruned))
    }
    const random = createRandom(seed)
    const engine = await createRandomLedger(random)
    const { send } = askAsync(engine, random, 2)
    const requests = manyRequests(random, isSlowRun ? 200 : 60)
    const answering = Promise.all(requests.map(send))
    for (const window of windows) {
      await new Promise((next) => setImmediate(next))
      await engine.prune(window)
    }
    for (const [at, { status, headers, body }] of (await answering).entries()) {
      if (status === 410 || body.includes('pruned')) continue
      const local = locals.get(String(headers['x-svc-ledger-oldest-version']))!
      expect({ request: requests[at], status, body }).toEqual({
        request: requests[at],
        ...(await bodyOf(local, requests[at]!)),
      })
    }
  })

  it('is 503 while no server answers, even in its health, and recovers by itself', async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
    const state = engineToAsync(engine)
    let isGone = false
    const refuse = async (): Promise<never> => {
      throw new LedgerStateError(
        'unavailable',
        'the store reader@db.internal:5432/ledger does not answer: it took too long',
      )
    }
    const flaky: AsyncState = {
      get ledger() {
        return state.ledger
      },
      snapshot: () => (isGone ? refuse() : state.snapshot()),
    }
    const send = ask(createAsyncLedger(flaky))
    const balance = get('/v1/accounts/0x1/balance/0xa')
    const health = get('/v1/-/healthy')
    expect((await send(balance)).status).toBe(200)
    isGone = true
    for (const request of [balance, health]) {
      const { status, headers, body } = await send(request)
      expect([status, headers['retry-after']]).toEqual([503, '5'])
      expect(String(body)).not.toContain('db.internal')
    }
    // A fault in the request itself is found without a database server.
    expect((await send(get('/v1/accounts/zz/balance/0xa'))).status).toBe(400)
    isGone = false
    for (const request of [balance, health]) expect((await send(request)).status).toBe(200)
  })

  it('is 503 while the store is empty', async () => {
    const send = ask(createAsyncLedger(engineToAsync(createMemoryEngine())))
    expect((await send(get('/v1/accounts/0x1/balance/0xa'))).status).toBe(503)
  })
})

function manyRequests(random: Random, count: number): RandomRequest[] {
  return Array.from({ length: count }, () => randomRequest(random))
}

async function bodyOf(send: ReturnType<typeof askLocal>, request: RandomRequest) {
  const { status, body } = await send(request)
  return { status, body }
}

function get(url: string): RandomRequest {
  return { method: 'GET', url, headers: {} }
}

/** Whether an answer is about the latest state, whatever the request asks for. */
function isAboutLedger(url: string): boolean {
  return /^\/v1(\/-|\/blocks|$)/.test(url)
}

/** Parameter that names a version, in the form of the operation. */
function stateParameter(url: string, version: unknown): string {
  if (/\/(history|changes)$/.test(url)) return `?to=${version}`
  return `?ledger_version=${version}`
}

interface KitRequest {
  readonly area: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body_text?: string
}

describe.skipIf(!hasSharedData)('a service over an async ledger, asked by the conformance kit', () => {
  it.each([
    ['fixture', 'fixture.ndjson.gz', 'requests.json', 901n, undefined],
    ['accounts', 'account-fixture.ndjson.gz', 'account-requests.json', 301n, 'accounts'],
  ] as const)(
    'answers the requests of %s as one over a ledger of this process does',
    async (_name, feed, kit, window, area) => {
      const engine = createMemoryEngine()
      const source = await openSource(sharedPath(`conformance/${feed}`))
      for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
      await engine.prune(window)
      const { requests } = JSON.parse(readFileSync(sharedPath(`conformance/${kit}`), 'utf8')) as {
        readonly requests: readonly KitRequest[]
      }
      const asked = requests.flatMap(({ area: of, method, path, headers, body_text }): RandomRequest[] => {
        if ((method !== 'GET' && method !== 'POST') || (area !== undefined && of !== area)) return []
        return [{ method, url: path, headers, ...(body_text !== undefined && { payload: body_text }) }]
      })
      expect(asked.length).toBeGreaterThan(100)
      await expectSameAnswers(engine, asked, createRandom(seed))
    },
  )
})
