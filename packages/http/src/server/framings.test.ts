import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { tableItemKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpServer, type HttpServerOptions } from './create-http-server.js'
import type { AnswerReport } from './request-listener-options.js'

const BODY_LIMIT = 2_000

async function serverOf(options: Partial<HttpServerOptions> = {}) {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 4n; version++) {
    const key = (byte: number) => tableItemKey(parseAddress('0x7'), Uint8Array.of(byte))
    const writes = [
      [key(1), Uint8Array.of(Number(version))],
      [key(2), Buffer.alloc(1_500, 'abc')],
    ] as const
    const block = { height: version, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version, block, writes: [...writes] }], { chainId: 4 })
  }
  await engine.prune(3n)
  const limits = { bodyLimitBytes: BODY_LIMIT, maxEventLoopDelayMs: Number.POSITIVE_INFINITY }
  const server = createHttpServer({ ledger: createLedger(engine), ...limits, ...options })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

let server: Awaited<ReturnType<typeof serverOf>>
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  server = await serverOf()
})
afterAll(async () => {
  agent.destroy()
  server.close()
  await once(server, 'close')
})

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload: string | Buffer | undefined
}

async function ask({ method, url, headers, payload }: Asked) {
  const { port } = server.address() as AddressInfo
  const outgoing = request({ host: '127.0.0.1', port, agent, method, path: url, headers })
  outgoing.end(payload)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...decided } = answer.headers
  return { status: answer.statusCode, headers: decided, body: Buffer.concat(chunks).toString('latin1') }
}

/** The same request with other framings of its body, and from a page of another origin. */
const FRAMINGS: Readonly<Record<string, (one: Asked) => Asked>> = {
  'in chunks': ({ headers, payload, ...rest }) => ({
    ...rest,
    payload,
    headers: payload === undefined ? headers : { ...headers, 'transfer-encoding': 'chunked' },
  }),
  compressed: ({ headers, payload, ...rest }) => ({
    ...rest,
    payload: payload === undefined ? undefined : gzipSync(payload),
    headers: payload === undefined ? headers : { ...headers, 'content-encoding': 'gzip' },
  }),
  'with a content encoding that changes nothing': (one) => ({
    ...one,
    headers: { ...one.headers, 'content-encoding': 'identity' },
  }),
  'from another origin': (one) => ({ ...one, headers: { ...one.headers, origin: 'https://a.example' } }),
}

/** Headers and body that every framing has in common. */
function withoutCors({ headers, ...rest }: Awaited<ReturnType<typeof ask>>) {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('access-control-'))
  return { ...rest, headers: Object.fromEntries(kept) }
}

const segment = fc.constantFrom(
  '0x7',
  '7',
  '%30x7',
  '0x1::aptos_coin::AptosCoin',
  '0x1%3A%3Aa%3A%3AB%3Cu8%3E',
  'a%2Fb',
  '%zz',
  '%ff',
  '',
  'item',
  'items:batch',
  '0x7#a',
  '%C3%A9',
  'x'.repeat(5_000),
) // prettier-ignore
const path = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(segment, fc.constantFrom('item', 'raw_item', 'items', '%69tem'))
      .map(([a, b]) => `/v1/tables/${a}/${b}`),
  }, // prettier-ignore
  { weight: 4, arbitrary: fc.tuple(segment, segment).map(([a, b]) => `/v1/accounts/${a}/balance/${b}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('/v1', '/v1/', '/v1/-/healthy', '/v1/balances:batch', '/v1/tables/items:batch'),
  },
  fc.constantFrom('/', '//v1', '/v1/spec.json', '/v1/tables', '/V1', 'http://host/v1', '/v1/../v1'),
)
const query = fc.constantFrom(
  '',
  '?',
  '?ledger_version=3',
  '?ledger_version=1',
  '?ledger_version=0',
  '?ledger_version=9',
  '?ledger_version=%33',
  '?ledger_version=x',
  '?a#b',
)
const optional = (name: string, ...values: string[]) =>
  fc
    .option(fc.constantFrom(...values), { nil: undefined, freq: 2 })
    .map((value) => (value === undefined ? {} : { [name]: value }))
const headers = fc
  .tuple(
    optional('content-type', 'application/json', 'text/plain', 'application/json; charset=utf-8', 'nonsense'),
    optional('accept', 'application/json', 'application/x-bcs', '*/*', 'text/html'),
    optional('accept-encoding', 'br', 'gzip', 'identity'),
    optional('if-none-match', '*', '"0-json"'),
  )
  .map((parts) => Object.assign({}, ...parts) as Record<string, string>)
const payload = fc.oneof(
  fc.constantFrom('{"key":"0x01"}', '{"key":"0x02"}', '{"key":"0x03"}', '{"key_type":"u8","value_type":"u8","key":1}'),
  fc.constantFrom(
    '{"requests":[{"address":"0x7","asset_type":"0xa"}]}',
    '{"requests":[{"table_handle":"0x7","raw_key":"0x02"}]}',
    '',
    '{',
    'null',
    ' '.repeat(BODY_LIMIT),
    ' '.repeat(BODY_LIMIT + 1),
  ),
)
const asked: fc.Arbitrary<Asked> = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'POST', 'POST', 'POST', 'HEAD', 'PUT', 'OPTIONS'),
    path,
    query,
    headers,
    payload,
  })
  .map(({ method, path, query, headers, payload }) => ({
    method,
    url: path + query,
    headers,
    payload: method === 'POST' || method === 'PUT' ? payload : undefined,
  }))

describe('a request', () => {
  it.each(Object.keys(FRAMINGS))('that comes %s is answered as the plain one is', async (framing) => {
    await fc.assert(
      fc.asyncProperty(asked, async (one) => {
        expect(withoutCors(await ask(FRAMINGS[framing]!(one)))).toEqual(await ask(one))
      }),
      { numRuns: isSlowRun ? 1_000 : 250 },
    )
  })

  it('is reported once, with its route', async () => {
    const told: AnswerReport[] = []
    const telling = await serverOf({ onAnswered: (answered) => told.push(answered) })
    const { port } = telling.address() as AddressInfo
    for (const address of ['0x1', 'zz']) await fetch(`http://127.0.0.1:${port}/v1/accounts/${address}/balance/0xa?x`)
    telling.close()
    await once(telling, 'close')
    const route = '/v1/accounts/{address}/balance/{asset_type}'
    expect(told).toEqual([
      { method: 'GET', url: '/v1/accounts/0x1/balance/0xa?x', route, status: 200, seconds: expect.any(Number) },
      { method: 'GET', url: '/v1/accounts/zz/balance/0xa?x', route, status: 400, seconds: expect.any(Number) },
    ])
  })

  it.each([
    ['plain', 'content-length: 14', '{"key":"0x01"}'],
    ['chunked', 'transfer-encoding: chunked', 'e\r\n{"key":"0x01"}\r\n0\r\n\r\n'],
  ])('that is %s is timed since the end of its headers', async (_name, framing, body) => {
    const told: AnswerReport[] = []
    const telling = await serverOf({ onAnswered: (answered) => told.push(answered) })
    const socket = connect((telling.address() as AddressInfo).port, '127.0.0.1')
    const head = 'POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json'
    socket.write(`${head}\r\nconnection: close\r\n${framing}\r\n\r\n`)
    await once(telling, 'request')
    await new Promise((resolve) => setTimeout(resolve, 200))
    socket.write(body)
    socket.resume()
    await once(socket, 'close')
    telling.close()
    await once(telling, 'close')
    expect(told).toEqual([expect.objectContaining({ status: 200 })])
    expect(told[0]!.seconds).toBeGreaterThan(0.19)
  })

  it('takes its turn among others on one connection', async () => {
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`
    const item = '{"key":"0x01"}'
    const post = (framing: string, body: string) =>
      `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`
    socket.write(
      get('/v1/accounts/0x1/balance/0xa') +
        get('/v1/spec.json', 'accept-encoding: br\r\n') +
        post('content-length: 14', item) +
        post('transfer-encoding: chunked', `e\r\n${item}\r\n0\r\n\r\n`) +
        get('/v1/accounts/zz/balance/0xa') +
        // A body where none is expected is discarded.
        get('/v1/accounts/0x1/balance/0xa', 'content-length: 3\r\n').concat('xyz') +
        get('/nowhere', 'connection: close\r\n'),
    )
    await once(socket, 'close')
    expect(text.match(/HTTP\/1.1 \d+/g)?.map((line) => Number(line.slice(-3)))).toEqual([
      200, 200, 200, 200, 400, 200, 404,
    ])
  })

  it('comes in as slowly as it likes, in pieces of any size', async () => {
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    const whole =
      'POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{"key":"0x01"}'
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    for (const byte of whole) {
      socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await once(socket, 'close')
    expect([text.slice(0, 13), text.at(-1)]).toEqual(['HTTP/1.1 200 ', '\u0003'])
  })

  it('that comes while the server closes is refused', async () => {
    const closing = await serverOf()
    const { port } = closing.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const received = once(closing, 'request')
    // Keeps the connection busy, so that it is not closed as an idle one.
    socket.write(
      'POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n',
    )
    await received
    const closed = once(closing.close(), 'close')
    await expect.poll(() => closing.listening).toBe(false)
    socket.write('{"key":"0x01"}GET /v1/accounts/0x1/balance/0xa HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'close')
    await closed
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  })
})
