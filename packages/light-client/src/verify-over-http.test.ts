// The functions that ask a node themselves, over HTTP, also a node that lies.
import { readFileSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import { CHECKPOINT, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { APT } from '../testing/asset-writes.ts'
import { callNode, type NodeCall, stateCalls, transactionCalls } from '../testing/node-reads.ts'
import { rememberingBls } from '../testing/remembering-bls.ts'
import {
  type HonestAnswer,
  type Lie,
  serveHostile,
  stateListener,
  transactionListener,
} from '../testing/serve-ledgers.ts'
import * as client from './index.js'
import { MOST_ANSWER_BYTES } from './read-body.js'

type Hostile = Awaited<ReturnType<typeof serveHostile>>

const bls = rememberingBls()
/** Version of an event of the type `vector<u64>`. */
let eventAt: bigint
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const DOCUMENTED = new Set([...README.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code))

let state: Awaited<ReturnType<typeof stateListener>>
let hostile: Hostile
let transactions: Hostile
let waypoint: string
beforeAll(async () => {
  state = await stateListener()
  hostile = await serveHostile(state.listener)
  const made = await transactionListener()
  waypoint = made.waypoint
  transactions = await serveHostile(made.listener)
  const page = await fetch(`${transactions.url}/events/vector%3Cu64%3E?order=asc`)
  eventAt = BigInt(((await page.json()) as { version: string }[])[2]!.version)
})
beforeEach(() => {
  hostile.tell(() => undefined)
  transactions.tell(() => undefined)
})
afterAll(() => {
  state.close()
  hostile.close()
  transactions.close()
})

/** Calls of every function, with the server that each asks. */
function allCalls(): { readonly server: Hostile; readonly call: NodeCall }[] {
  return [
    ...stateCalls(waypointOf(1)).map((call) => ({ server: hostile, call })),
    ...transactionCalls(waypoint, eventAt).map((call) => ({ server: transactions, call })),
  ]
}

async function run({ url }: Hostile, call: NodeCall, further: object = {}): Promise<unknown> {
  return await callNode(call, { url, bls, ...further })
}

/** Checks that a call ends with an error of the package that is documented and says nothing twice. */
async function expectRefused(work: Promise<unknown>, what: string, code?: string): Promise<void> {
  const error: unknown = await work.then(
    (result) =>
      new Error(
        `accepted: ${what}: ${JSON.stringify(result, (_, one) => (typeof one === 'bigint' ? String(one) : one))}`,
      ),
    (reason: unknown) => reason,
  )
  if (!isLedgerStateError(error)) throw error
  if (code !== undefined) expect([what, error.code, error.message]).toEqual([what, code, error.message])
  expect(DOCUMENTED.has(error.code), `${error.code} in the README`).toBe(true)
  const parts = error.message.split(': ')
  expect(new Set(parts).size, error.message).toBe(parts.length)
}

describe('a node that is asked', () => {
  it('is accepted, with and without a version, again and again', async () => {
    for (const further of [{}, { version: CHECKPOINT }]) {
      for (const call of stateCalls(waypointOf(1))) {
        const result = await run(hostile, call, further)
        expect(result).toMatchObject(call[2] as object)
        expect(result).toMatchObject({ version: CHECKPOINT, signers: { count: { signed: 4, total: 4 } } })
      }
    }
    const trailing = { url: `${hostile.url}//` }
    expect(await run(hostile, stateCalls(waypointOf(1))[0]!, trailing)).toMatchObject({ version: CHECKPOINT })
  })

  it('proves transactions by version and by hash, and events by stream and by type', async () => {
    const { url } = transactions
    const found = await client.verifyTransaction({ url, waypoint, bls, version: 21n })
    expect(found.writeSet?.length).toBeGreaterThan(0)
    const { hash } = found
    expect((await client.verifyTransaction({ url, waypoint, bls, hash })).version).toBe(21n)
    expect((await client.verifyTransaction({ url, waypoint, bls, hash, version: 21n })).version).toBe(21n)
    await expectRefused(
      client.verifyTransaction({ url, waypoint, bls, hash, version: 22n }),
      'other',
      'wrong_transaction',
    )
    const question = { kind: 'type', type: 'vector<u64>' } as const
    const event = await client.verifyEvent({ url, waypoint, bls, question, version: eventAt })
    expect(event.version).toBe(eventAt)
    const { creationNumber, sequenceNumber } = event.event.key!
    const address = `0x${Buffer.from(event.event.key!.address).toString('hex')}`
    const stream = { kind: 'stream', address, creationNumber, sequenceNumber } as const
    expect((await client.verifyEvent({ url, waypoint, bls, question: stream })).event).toEqual(event.event)
    await expectRefused(
      client.verifyEvent({ url, waypoint, bls, question: { ...stream, sequenceNumber: 2n ** 40n } }),
      'no such event',
      'invalid_answer',
    )
  })

  it('is asked nothing if the arguments are wrong', async () => {
    const { url } = hostile
    const wrong: [string, () => Promise<unknown>][] = [
      ['invalid_argument', () => client.verifyBalance({ url: 'node', waypoint, address: '0x1', asset: APT })],
      ['invalid_argument', () => client.verifyBalance({ url: 'ftp://node/v1', waypoint, address: '0x1', asset: APT })],
      ['invalid_argument', () => client.verifyBalance({ url: `${url}?a`, waypoint, address: '0x1', asset: APT })],
      [
        'invalid_argument',
        () => client.verifyBalance({ url: 'http://u:p@h/v1', waypoint, address: '0x1', asset: APT }),
      ],
      ['invalid_argument', () => client.verifyBalance({ url, waypoint: '0:ab', address: '0x1', asset: APT })],
      ['invalid_argument', () => client.verifyBalance({ url, address: '0x1', asset: APT } as never)],
      ['invalid_address', () => client.verifyBalance({ url, waypoint, address: '0xg', asset: APT })],
      ['invalid_address', () => client.verifyBalance({ url, waypoint, address: '0x1', asset: 'apt' })],
      ['invalid_type_tag', () => client.verifyBalance({ url, waypoint, address: '0x1', asset: '0x1::a' })],
      ['invalid_type_tag', () => client.verifyResource({ url, waypoint, address: '0x1', type: 'u8' })],
      ['invalid_argument', () => client.verifyTransaction({ url, waypoint })],
      ['invalid_argument', () => client.verifyEvent({ url, waypoint, question: { kind: 'all' } as never })],
      ['invalid_argument', () => client.verifyEvent({ url, waypoint } as never)],
      ['invalid_argument', () => client.verifyEvent({ url, waypoint, question: { kind: 'type', type: 'u8' } })],
      [
        'invalid_argument',
        () => client.verifyEvent({ url, waypoint, question: { kind: 'stream', address: '0x1', creationNumber: 0n } }),
      ],
      [
        'invalid_argument',
        () => client.verifyTableItem({ url, waypoint, handle: '0x1', keyType: 'u64', valueType: 'u64', key: 1n }),
      ],
    ]
    for (const [code, ask] of wrong) await expectRefused(ask(), String(ask), code)
    expect(hostile.asked).toBe(0)
  })

  it('is refused as a node of another chain', async () => {
    for (const { server, call } of allCalls()) {
      const other = waypointOf(0).replace(/.{4}$/, '0000')
      await expectRefused(run(server, call, { waypoint: other }), 'another waypoint')
      await expectRefused(run(server, call, { hashSalt: 'DIEM::' }), 'another salt', 'verification_failed')
    }
  })

  it('is refused if it lies in its list of versions', async () => {
    const [call] = stateCalls(waypointOf(1))
    for (const text of [
      '',
      'null',
      '[]',
      '{}',
      '{"proof_versions":[]}',
      '{"proof_versions":"41"}',
      '{"proof_versions":[41]}',
      '{"proof_versions":["-1"]}',
      '{"proof_versions":["18446744073709551616"]}',
      '{"proof_versions":["40"]}',
      `{"proof_versions":["${'9'.repeat(100_000)}"]}`,
      '<html>',
    ]) {
      hostile.tell(({ url }) => (url.includes('/-/trust') ? { body: bytesOf(text) } : undefined))
      await expectRefused(run(hostile, call!), text.slice(0, 50), 'invalid_answer')
    }
  })

  /** False answers that a client must refuse, whatever it asked. */
  const lies: Record<string, (honest: HonestAnswer) => Partial<HonestAnswer>> = {
    'no answer': () => ({ body: bytesOf('') }),
    'not found': () => ({
      status: 404,
      body: bytesOf('{"message":"Resource not found","error_code":"resource_not_found"}'),
    }),
    'a fault': () => ({ status: 500, body: bytesOf('{"message":"busy"}') }),
    'a page': () => ({ type: 'text/html', body: bytesOf('<html>hello') }),
    'a half': ({ body }) => ({ body: body.subarray(0, body.length / 2) }),
    'a byte more': ({ body }) => ({ body: bytesOf([...body, 0]) }),
    'no value and no proof': () => ({ body: bytesOf([0]) }),
    'a word': () => ({ body: bytesOf('null') }),
    'an error with status 200': () => ({ body: bytesOf('{"message":"x","error_code":"internal_error"}') }),
  }

  it.each(Object.keys(lies))('is refused if it answers any of its requests with %s', async (name) => {
    for (const { server, call } of allCalls()) {
      server.tell(() => undefined)
      await run(server, call)
      const requests = server.asked
      for (let at = 0; at < requests; at++) {
        server.tell(({ number }, honest) => (number === at ? lies[name]!(honest) : undefined))
        await expectRefused(run(server, call), `${name} for request ${at} of ${call[0]}`)
      }
    }
  })

  it("is refused if it answers with another account's balance, or none", async () => {
    const calls = stateCalls(waypointOf(1)).filter(([name, { asset }]) => name === 'verifyBalance' && asset === APT)
    for (const call of calls) {
      const address = String(call[1].address)
      const broken: Lie[] = [
        () => ({ status: 404, body: bytesOf('{"message":"no"}') }),
        (_, __, response) => {
          response.destroy()
          return 'answered'
        },
      ]
      for (const lie of broken) {
        hostile.tell((request, ...rest) => (request.number === 1 ? lie(request, ...rest) : undefined))
        await expectRefused(run(hostile, call), address, 'invalid_answer')
      }
      const answer = await answerAt1(calls.find(([, options]) => options.address !== address)!)
      hostile.tell(({ number }) => (number === 1 ? answer : undefined))
      await expectRefused(run(hostile, call), address, 'value_not_proven')
    }
  })

  /** The answer to the request after that for the versions with proofs. */
  async function answerAt1(call: NodeCall): Promise<HonestAnswer> {
    let found: HonestAnswer | undefined
    hostile.tell(({ number }, honest) => {
      if (number === 1) found = honest
      return undefined
    })
    await run(hostile, call)
    return found!
  }

  it('is never accepted with another result, whatever byte of an answer it changes', async () => {
    const random = createRandom(testSeed())
    for (let round = 0; round < (isSlowRun ? 20 : 2); round++) {
      for (const { server, call } of allCalls()) {
        server.tell(() => undefined)
        const honest = await run(server, call)
        const target = random.below(server.asked)
        let place = 0
        server.tell(({ number }, { body }) => {
          if (number !== target) return undefined
          const changed = Uint8Array.from(body)
          place = random.below(body.length)
          changed[place]! ^= 1 + random.below(255)
          return { body: changed }
        })
        const what = `byte ${place} of request ${target} of ${call[0]}`
        const result = await run(server, call).catch((error: unknown) => error)
        // A waypoint does not cover all of its own ledger info, nor the JSON of an event its data.
        if (result instanceof Error) await expectRefused(Promise.reject(result), what)
        else expect(result, what).toEqual(honest)
      }
    }
  })

  it('is refused if its answer has no end, and is read up to the limit only', async () => {
    for (const { server, call } of allCalls()) {
      let [taken, isClosed] = [0, false]
      server.tell((_, __, response) => {
        const piece = Buffer.alloc(1 << 20)
        const more = () => {
          while (!response.destroyed && response.write(piece)) taken += piece.length
        }
        response.on('drain', more)
        response.on('close', () => {
          isClosed = true
        })
        response.writeHead(200)
        more()
        return 'answered'
      })
      await expectRefused(run(server, call), 'endless', 'invalid_answer')
      expect(taken).toBeLessThan(4 * MOST_ANSWER_BYTES)
      await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true)
    }
  })

  const silences: Record<string, Lie> = {
    'says nothing': () => 'answered',
    'begins and stops': (_, { body }, response) => {
      response.writeHead(200).write(body.subarray(0, 10))
      return 'answered'
    },
  }

  it.each(Object.keys(silences))('is given up if it %s', async (name) => {
    for (const { server, call } of allCalls()) {
      server.tell(silences[name]!)
      await expectRefused(run(server, call, { timeoutMs: 50 }), name, 'invalid_answer')
      const stop = new AbortController()
      const reason = new Error('enough')
      server.tell((asked, honest, response) => {
        setImmediate(() => stop.abort(reason))
        return silences[name]!(asked, honest, response)
      })
      await expect(run(server, call, { signal: stop.signal })).rejects.toBe(reason)
    }
  })

  it('may redirect on the same server, and to no other one', async () => {
    let isAsked = false
    const other = await serveHostile(state.listener)
    other.tell(() => {
      isAsked = true
      return undefined
    })
    for (const call of stateCalls(waypointOf(1))) {
      const redirect =
        (to: string): Lie =>
        ({ url }, _, response) => {
          if (url.endsWith('&again')) return undefined
          response
            .writeHead(307, { location: `${to}${url.slice('/v1'.length)}${url.includes('?') ? '' : '?x'}&again` })
            .end()
          return 'answered'
        }
      hostile.tell(redirect('/v1'))
      expect(await run(hostile, call, { version: CHECKPOINT })).toMatchObject(call[2] as object)
      hostile.tell(redirect(other.url))
      await expectRefused(run(hostile, call, { version: CHECKPOINT }), 'a redirect', 'invalid_answer')
    }
    expect(isAsked).toBe(false)
    other.close()
  })
})

function bytesOf(from: string | readonly number[]): Uint8Array<ArrayBuffer> {
  return typeof from === 'string' ? new TextEncoder().encode(from) : Uint8Array.from(from)
}
