import { type RequestFailure, sendRequest } from '@ledger-state/core/requests'
import { createMemoryEngine } from '@ledger-state/engine'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'
import { openRawConnection } from '@ledger-state/testing/raw-connection'
import { afterEach, describe, expect, it } from 'vitest'
import { type FakeUpstream, sendJson, startFakeUpstream } from '../../testing/fake-upstream.ts'
import { RAW_ITEM_BODY, type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import type { HttpServerOptions } from '../server/create-http-server.js'
import { FORWARD_KINDS, type Forwarded, type ForwardKind, type UpstreamChange } from './forward-options.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Bed {
  readonly upstream: FakeUpstream
  readonly port: number
  readonly url: string
  readonly running: RunningServer
  readonly forwarded: Forwarded[]
  readonly changes: UpstreamChange[]
  /** Commits versions up to this one. */
  readonly reach: (latest: bigint) => Promise<void>
  readonly prune: (oldest: bigint) => Promise<void>
}

/** A service of chain 4 with versions 0 to 3, and its upstream, which is at version 9. */
async function openBed(
  options: Partial<HttpServerOptions> = {},
  { kinds = FORWARD_KINDS, headers = {} }: { kinds?: readonly ForwardKind[]; headers?: Record<string, string> } = {},
): Promise<Bed> {
  const upstream = await startFakeUpstream()
  closing.push(() => upstream.close())
  const engine = createMemoryEngine()
  const reach = async (latest: bigint): Promise<void> => {
    for (let version = (engine.ledger?.latestVersion ?? -1n) + 1n; version <= latest; version++) {
      const block = { height: version, epoch: 0n, timestampUsec: version }
      await engine.commit([{ version, block, writes: [] }], { chainId: 4n })
    }
  }
  await reach(3n)
  const forwarded: Forwarded[] = []
  const changes: UpstreamChange[] = []
  const running = await startServerOver(engine, {
    maxHoldMs: PATIENCE_MS,
    ...options,
    forward: {
      upstreams: Object.fromEntries(kinds.map((kind) => [kind, upstream.url])),
      headers,
      onForwarded: (one) => forwarded.push(one),
      onUpstreamChange: (change) => changes.push(change),
    },
  })
  closing.push(() => stopServer(running))
  const url = `http://127.0.0.1:${running.port}`
  const prune = async (oldest: bigint) => void (await engine.prune(oldest))
  return { upstream, port: running.port, url, running, forwarded, changes, reach, prune }
}

const HASH = `0x${'0a'.repeat(32)}`
const errorOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { message: string }).message,
]

describe('an operation that is not served here', () => {
  it.each([
    ['gas', 'GET', '/v1/estimate_gas_price', '/v1/estimate_gas_price'],
    ['transactions', 'GET', '/v1/transactions?limit=2&start=7&other=1', '/v1/transactions?start=7&limit=2'],
    ['submit', 'POST', '/v1/transactions', '/v1/transactions'],
    ['submit', 'POST', '/v1/transactions/batch', '/v1/transactions/batch'],
    ['simulate', 'POST', '/v1/transactions/simulate?estimate_gas_unit_price=true', undefined],
    ['submit', 'POST', '/v1/transactions/encode_submission', undefined],
    ['transactions', 'GET', `/v1/transactions/by_hash/${HASH}`, undefined],
    ['transactions', 'GET', `/v1/transactions/wait_by_hash/${HASH}`, undefined],
    ['transactions', 'GET', '/v1/transactions/by_version/1', undefined],
    ['transactions', 'GET', '/v1/transactions/auxiliary_info?start_version=1', undefined],
    ['transactions', 'GET', '/v1/accounts/0x1/transactions', undefined],
    ['transactions', 'GET', '/v1/accounts/0x1/transaction_summaries?end_version=5', undefined],
    ['events', 'GET', '/v1/accounts/0x1/events/0', undefined],
    [
      'events',
      'GET',
      '/v1/accounts/0x1/events/0x1::a::B%3Cu8,%20u8%3E/field',
      '/v1/accounts/0x1/events/0x1%3A%3Aa%3A%3AB%3Cu8%2C%20u8%3E/field',
    ],
    ['blocks', 'GET', '/v1/blocks/by_height/1?with_transactions=true', undefined],
  ] as const)('is asked of the upstream of its kind: %s %s %s', async (kind, method, path, asked) => {
    const { upstream, url, forwarded } = await openBed({}, { kinds: [kind] })
    const body = method === 'POST' ? { body: '{"a":1}', headers: { 'content-type': 'application/x+bcs' } } : {}
    const response = await fetch(`${url}${path}`, { method, ...body })
    expect([response.status, await response.text()]).toEqual([200, '{"answered":true}'])
    expect(response.headers.get('x-svc-answered-by')).toBe('upstream')
    expect(upstream.requests).toMatchObject([{ method, url: asked ?? path, body: method === 'POST' ? '{"a":1}' : '' }])
    if (method === 'POST') expect(upstream.requests[0]!.headers['content-type']).toBe('application/x+bcs')
    await eventually(
      () => forwarded.length === 1,
      () => 'its end',
    )
    expect(forwarded).toMatchObject([{ kind, status: 200, bytes: 17 }])
  })

  it('has the status, body, content type and chain state of the upstream, under both words, and none of ours', async () => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) => {
      const headers = { 'content-type': 'application/x-bcs', 'x-aptos-cursor': 'c0', 'x-aptos-gas-used': '77' }
      sendJson(upstream, response, 'x', { status: 404, headers })
    }
    const response = await fetch(`${url}/v1/transactions`, {
      headers: { accept: 'application/x-bcs', origin: 'http://a' },
    })
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      404,
      '"x"',
      'application/x-bcs',
    ])
    for (const word of ['svc', 'aptos']) {
      const told = ['chain-id', 'ledger-version', 'epoch', 'cursor', 'gas-used'].map((name) =>
        response.headers.get(`x-${word}-${name}`),
      )
      expect(told).toEqual(['4', '9', '2', 'c0', '77'])
    }
    expect(upstream.requests[0]!.headers.accept).toBe('application/x-bcs')
    expect(response.headers.get('access-control-expose-headers')).toContain('x-svc-answered-by')
  })

  it.each([
    ['text/html', 'application/octet-stream'],
    ['TEXT/HTML; charset=utf-8', 'application/octet-stream'],
    ['text/html; application/json', 'application/octet-stream'],
    ['application/json, text/html', 'application/octet-stream'],
    ['application/jsonx', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['application/xhtml+xml', 'application/octet-stream'],
    ['text/xml', 'application/octet-stream'],
    ['*/*', 'application/octet-stream'],
    ['', 'application/octet-stream'],
    ['Application/JSON;charset=utf-8', 'application/json'],
    ['application/x-bcs', 'application/x-bcs'],
  ])('runs in no browser under our address: %s is %s', async (sent, passed) => {
    const { upstream, url } = await openBed()
    for (const status of [200, 404]) {
      upstream.answer = (_, response) =>
        void response.writeHead(status, { ...upstream.chainHeaders(), 'content-type': sent }).end('<script>1</script>')
      const response = await fetch(`${url}/v1/transactions`)
      expect([response.status, await response.text()]).toEqual([status, '<script>1</script>'])
      const header = (name: string) => response.headers.get(name)
      expect([header('content-type'), header('x-content-type-options')]).toEqual([passed, 'nosniff'])
      expect(header('content-security-policy')).toBe("default-src 'none'; sandbox")
    }
  })

  it('has no chain state if the upstream sent none', async () => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) => void response.writeHead(400).end('no')
    const response = await fetch(`${url}/v1/transactions`)
    expect([response.status, response.headers.has('x-svc-ledger-version')]).toEqual([400, false])
  })

  it('is sent with the credentials that were configured, and with none of the client', async () => {
    const { upstream, url } = await openBed({}, { headers: { authorization: 'Bearer ours' } })
    const headers = { authorization: 'Bearer theirs', cookie: 'a=b', 'x-forwarded-host': 'evil', 'x-api-key': 'k' }
    await fetch(`${url}/v1/transactions`, { headers })
    const [{ headers: sent }] = upstream.requests as [(typeof upstream.requests)[0]]
    expect(sent.authorization).toBe('Bearer ours')
    expect([sent.cookie, sent['x-forwarded-host'], sent['x-api-key']]).toEqual([undefined, undefined, undefined])
  })

  it('is 403 if its kind has no upstream, and in a batch', async () => {
    const { upstream, url } = await openBed({}, { kinds: ['gas'] })
    for (const path of [
      '/v1/transactions',
      '/v1/accounts/0x1/events/0',
      '/v1/blocks/by_height/1?with_transactions=true',
    ]) {
      expect((await fetch(`${url}${path}`)).status).toBe(403)
    }
    const response = await fetch(`${url}/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"requests":[{"path":"/v1/transactions"}]}',
    })
    expect(await response.json()).toMatchObject([{ status: 403 }])
    expect(upstream.requests).toEqual([])
  })

  it('has an answer of any length as it comes, and one of one piece with its length', async () => {
    const { upstream, url } = await openBed()
    const long = 'x'.repeat(3_000_000)
    upstream.answer = (_, response) => sendJson(upstream, response, long)
    const response = await fetch(`${url}/v1/transactions`)
    expect(response.headers.get('content-length')).toBe(null)
    expect(await response.json()).toBe(long)
    upstream.answer = (_, response) => sendJson(upstream, response, 'short')
    expect((await fetch(`${url}/v1/transactions`)).headers.get('content-length')).toBe('7')
    const head = await fetch(`${url}/v1/transactions`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})

describe('the path of a request', () => {
  it.each([
    '/v1/transactions/by_hash/..%2f..%2fadmin',
    '/v1/transactions/by_hash/%2e%2e',
    '/v1/transactions/by_hash/..',
    '/v1/transactions/by_hash/.',
    '/v1/transactions/by_hash/%252e%252e',
    '/v1/transactions/by_hash/..%5c..%5cadmin',
    '/v1/transactions/by_hash/@evil.example',
    '/v1/transactions/by_hash/%2F%2Fevil.example%2F',
    '/v1/transactions/by_hash//evil.example',
    '/v1/transactions/by_hash/%0d%0aHost:%20evil',
    '/v1/transactions/by_hash/x%3Fstart=1%23',
    '/v1/transactions?start=1%0d%0aHost:%20evil%0d%0a%0d%0aGET%20/admin',
    '/v1/transactions?start=1%26admin=1%23',
    '/v1/transactions?start=//evil.example',
    '//evil.example/v1/transactions',
    'http://evil.example/v1/transactions',
    'http://evil.example/v1/transactions/by_hash/%2e%2e',
    '/v1/transactions/../../admin',
    '/v1/accounts/%2e%2e/events/%2e%2e/%2e%2e',
    '/v1/accounts/0x1/events/../../transactions',
  ])('chooses neither host nor operation: %s', async (target) => {
    const { upstream, port } = await openBed()
    const client = openRawConnection(port)
    client.socket.write(`GET ${target} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`)
    await client.closed
    const [status] = client.statuses()
    expect([200, 400, 404]).toContain(status)
    for (const { url, headers } of upstream.requests) {
      const { origin, pathname, search } = new URL(url, upstream.url)
      expect(`${origin}/v1`).toBe(upstream.url)
      expect(pathname).toMatch(/^\/v1\/transactions(\/by_hash\/[^/]+)?$/)
      expect([...new URLSearchParams(search).keys()].filter((name) => name !== 'start')).toEqual([])
      expect(headers.host).toBe(new URL(upstream.url).host)
    }
    // A path on the list arrives unchanged, in one segment or one value.
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
  })
})

describe('an upstream of another chain', () => {
  it('is refused before it is asked for anything, and used again when it is of this chain', async () => {
    const { upstream, url, changes } = await openBed()
    upstream.chainId = 5
    const refusal = [503, expect.stringContaining('serves chain 5; this is chain 4')]
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual(refusal)
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual(refusal)
    expect([upstream.requests.length, upstream.looks]).toEqual([0, 1])
    upstream.chainId = 4
    await eventually(
      async () => (await fetch(`${url}/v1/transactions`)).status === 200,
      () => 'an answer',
    )
    expect(changes).toEqual([
      { url: upstream.url, why: expect.stringContaining('chain 5') },
      { url: upstream.url, why: undefined },
    ])
  })

  it('is noticed by an answer, which is not passed on', async () => {
    const { upstream, url, changes } = await openBed()
    expect((await fetch(`${url}/v1/transactions`)).status).toBe(200)
    upstream.chainId = 5
    const response = await fetch(`${url}/v1/transactions`)
    expect(response.headers.get('x-svc-chain-id')).toBe('4')
    expect(await errorOf(response)).toEqual([503, expect.stringContaining('serves chain 5')])
    expect(changes).toHaveLength(1)
  })

  it('is noticed when it does not report its chain', async () => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual([
      503,
      expect.stringContaining('does not report its chain'),
    ])
  })
})

describe('an upstream that', () => {
  const answers = (what: string) => [503, expect.stringContaining(what)]

  it('is away is noticed at once, and used when it is back', async () => {
    const { upstream, url, changes } = await openBed()
    const port = Number(new URL(upstream.url).port)
    await upstream.close()
    closing.shift()
    const response = await fetch(`${url}/v1/transactions`)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await errorOf(response)).toEqual(answers('cannot be reached'))
    expect((await fetch(`${url}/v1`)).status).toBe(200)
    // The operator reads the words of the one HTTP client, which `ingest` and `replicate` show for the same failure.
    const failure = (await sendRequest(upstream.url, {})) as RequestFailure
    const again = await startFakeUpstream(port)
    closing.unshift(() => again.close())
    await eventually(
      async () => (await fetch(`${url}/v1/transactions`)).status === 200,
      () => 'an answer',
    )
    expect(changes).toEqual([
      { url: upstream.url, why: expect.stringMatching(/cannot be reached: fetch failed: connect ECONNREFUSED/) },
      { url: upstream.url, why: undefined },
    ])
    expect(changes[0]!.why!.endsWith(`: ${failure.why}`)).toBe(true)
  })

  it('redirects is not followed', async () => {
    const { upstream, url } = await openBed()
    const other = await startFakeUpstream()
    closing.push(() => other.close())
    upstream.answer = (_, response) =>
      void response.writeHead(307, { location: `${other.url}/transactions`, ...upstream.chainHeaders() }).end()
    const response = await fetch(`${url}/v1/transactions`, { redirect: 'manual' })
    expect([response.headers.get('location'), other.requests]).toEqual([null, []])
    expect(await errorOf(response)).toEqual(answers('status 307'))
  })

  it('never answers, or trickles, is left after its time, and its place is free', async () => {
    const { upstream, url, forwarded } = await openBed({ forwardTimeoutMs: 150, maxForwards: 1 })
    upstream.answer = () => {}
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual(answers('did not answer in time'))
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...upstream.chainHeaders() })
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(timer))
    }
    await eventually(
      async () => (await errorOf(await fetch(`${url}/v1/transactions`)))[0] === 503,
      () => 'a refusal',
    )
    upstream.answer = (_, response) => sendJson(upstream, response, 1)
    // A busy machine may take longer than the limit of this test.
    await eventually(
      async () => (await fetch(`${url}/v1/transactions`)).status === 200,
      () => 'an answer in time',
    )
    expect(forwarded.map(({ status }) => status)).toContain(503)
  })

  it('ends in the middle is noticed in time, or ends the answer', async () => {
    const { upstream, url } = await openBed()
    const send = (bytes: number, length: number) => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { ...upstream.chainHeaders(), 'content-length': String(length) })
        response.write('x'.repeat(bytes), () => response.destroy())
      }
    }
    send(10, 100)
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual(answers('its answer ended early'))
    send(1_000_000, 2_000_000)
    await expect(fetch(`${url}/v1/transactions`).then((response) => response.text())).rejects.toThrow()
  })

  it('lies about its length is not accepted', async () => {
    const { upstream, url } = await openBed()
    upstream.answerAll = (request, { socket }) => {
      const info = JSON.stringify({ chain_id: 4, ledger_version: '9' })
      const body = request.url === '/v1' ? info : '{"a":1}EXTRA'
      const length = request.url === '/v1' ? info.length : 7
      const headers = Object.entries(upstream.chainHeaders()).map(([name, value]) => `${name}: ${value}\r\n`)
      socket!.end(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n${headers.join('')}\r\n${body}`)
    }
    const response = await fetch(`${url}/v1/transactions`)
    expect((await response.text()).includes('EXTRA')).toBe(false)
  })

  it('answers without end is cut off at the limit', async () => {
    const { upstream, url, forwarded } = await openBed({ forwardAnswerLimitBytes: 300_000 })
    upstream.answer = (_, response) => {
      response.writeHead(200, upstream.chainHeaders())
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    await expect(fetch(`${url}/v1/transactions`).then((response) => response.arrayBuffer())).rejects.toThrow()
    await eventually(
      () => forwarded.length === 1,
      () => 'its end',
    )
    expect(forwarded[0]!.bytes).toBeLessThan(1_000_000)
    upstream.answer = (_, response) =>
      void response.writeHead(200, { ...upstream.chainHeaders(), 'content-length': String(2 ** 30) }).flushHeaders()
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual(answers('longer than 300000 bytes'))
  })

  it('has headers of its connection keeps them', async () => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) =>
      sendJson(upstream, response, 1, {
        headers: {
          connection: 'x-secret, close',
          'x-secret': '1',
          'keep-alive': 'timeout=99',
          'proxy-authenticate': 'Basic',
          'set-cookie': 'a=b',
          server: 'nginx',
          'access-control-allow-origin': 'http://evil.example',
          'strict-transport-security': 'max-age=1',
          upgrade: 'h2c',
        },
      })
    const { headers } = await fetch(`${url}/v1/transactions`)
    const passed = ['x-secret', 'proxy-authenticate', 'set-cookie', 'server', 'access-control-allow-origin', 'upgrade']
    expect(passed.filter((name) => headers.has(name))).toEqual([])
    expect([headers.get('connection'), headers.get('strict-transport-security')]).toEqual(['keep-alive', null])
  })

  it.each([
    ['9'.repeat(8_000), '3600'],
    ['Fri, 31 Dec 9999 23:59:59 GMT', '3600'],
    ['-1 or "x"', null],
  ])('asks for a pause without bounds, and the client is asked for a bounded one: %#', async (asked, passed) => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) =>
      sendJson(upstream, response, { message: 'slow down' }, { status: 429, headers: { 'retry-after': asked } })
    const { status, headers } = await fetch(`${url}/v1/transactions`)
    expect([status, headers.get('retry-after')]).toEqual([429, passed])
  })

  it('asks for a pause gets one, and others are answered how long', async () => {
    const { upstream, url } = await openBed()
    upstream.answer = (_, response) =>
      sendJson(upstream, response, { message: 'slow down' }, { status: 429, headers: { 'retry-after': '600' } })
    const first = await fetch(`${url}/v1/transactions`)
    expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([
      429,
      '600',
      { message: 'slow down' },
    ])
    const looks = upstream.looks
    const second = await fetch(`${url}/v1/estimate_gas_price`)
    const seconds = Number(second.headers.get('retry-after'))
    expect(second.status).toBe(503)
    expect(seconds).toBeGreaterThan(500)
    expect(seconds).toBeLessThanOrEqual(600)
    // The upstream is not asked for its newest version, either.
    expect((await fetch(`${url}/v1/accounts/0x1?ledger_version=90`)).status).toBe(404)
    expect([upstream.requests.length, upstream.looks]).toEqual([1, looks])
  })
})

describe('a service that forwards to itself', () => {
  it('notices that a request comes back, and refuses it', async () => {
    const { upstream, url } = await openBed()
    const seen: (string | undefined)[] = []
    // The upstream is a proxy in front of the same service.
    upstream.answer = async ({ url: asked, headers }, response) => {
      seen.push(headers.via as string)
      const again = await fetch(`${url}${asked}`, { headers: { via: headers.via as string } })
      sendJson(upstream, response, await again.json(), { status: again.status })
    }
    expect(await errorOf(await fetch(`${url}/v1/transactions`))).toEqual([
      503,
      expect.stringContaining('forwarded 4 times'),
    ])
    expect(seen.map((via) => via!.split(', '))).toEqual(
      [1, 2, 3, 4].map((hops) => Array.from({ length: hops }, () => '1.1 ledger-state')),
    )
  })
})

describe('the limits of forwarding', () => {
  it('let through no more at one time than they say; reads of this ledger stay served', async () => {
    const { upstream, url } = await openBed({ maxForwards: 3, maxForwardQueue: 20 })
    await fetch(`${url}/v1/transactions`)
    let most = 0
    let under = 0
    const waiting: (() => void)[] = []
    upstream.answer = (_, response) => {
      most = Math.max(most, ++under)
      waiting.push(() => {
        under--
        sendJson(upstream, response, 1)
      })
    }
    const answers = Array.from({ length: 30 }, () => fetch(`${url}/v1/transactions`).then(({ status }) => status))
    await eventually(
      () => under === 3,
      () => 'three at the upstream',
    )
    // 3 are forwarded and 20 wait; 7 are refused while the others wait.
    const refused: number[] = []
    for (const answer of answers) void answer.then((status) => refused.push(status))
    await eventually(
      () => refused.length === 7,
      () => `7 refusals: ${refused}`,
    )
    expect(new Set(refused)).toEqual(new Set([503]))
    for (let count = 0; count < 50; count++) expect((await fetch(`${url}/v1`)).status).toBe(200)
    const timer = setInterval(() => {
      for (const go of waiting.splice(0)) go()
    }, 1)
    const statuses = await Promise.all(answers)
    clearInterval(timer)
    expect([statuses.filter((status) => status === 200).length, most]).toEqual([23, 3])
  })

  it('refuse a body that is too large, before it is sent on', async () => {
    const { upstream, url } = await openBed({ forwardBodyLimitBytes: 100 })
    const send = (length: number) => fetch(`${url}/v1/transactions`, { method: 'POST', body: 'x'.repeat(length) })
    expect((await send(101)).status).toBe(413)
    expect((await send(100)).status).toBe(200)
    expect(upstream.requests.length).toBe(1)
  })

  it('end a request whose client leaves, even one that waits', async () => {
    const { upstream, url, forwarded } = await openBed({ maxForwards: 1 })
    await fetch(`${url}/v1/transactions`)
    let closed = 0
    upstream.answer = (_, response) => void response.on('close', () => closed++)
    const leave = new AbortController()
    const asked = [1, 2].map(() => fetch(`${url}/v1/transactions`, { signal: leave.signal }).catch(() => {}))
    await eventually(
      () => upstream.requests.length === 2,
      () => 'the first',
    )
    leave.abort()
    await Promise.all(asked)
    // The place of the first may go to the other before the server notices that the other left.
    await eventually(
      () => forwarded.length >= 2 && closed === upstream.requests.length - 1,
      () => `the end at the upstream: ${closed} of ${upstream.requests.length - 1}`,
    )
    upstream.answer = (_, response) => sendJson(upstream, response, 1)
    expect((await fetch(`${url}/v1/transactions`)).status).toBe(200)
    const statuses = forwarded.map(({ status }) => status)
    expect([statuses[0], statuses.at(-1), new Set(statuses.slice(1, -1))]).toEqual([200, 200, new Set([499])])
  })

  it('bound the part in memory of an answer that its client does not read', async () => {
    const { upstream, port, forwarded } = await openBed({ forwardTimeoutMs: 700 })
    let sent = 0
    upstream.answer = (_, response) => {
      response.writeHead(200, upstream.chainHeaders())
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        while (!response.destroyed && sent < 60_000_000) {
          sent += chunk.length
          if (!response.write(chunk)) break
        }
        if (sent >= 60_000_000) response.end()
      }
      response.on('drain', more)
      more()
    }
    const client = openRawConnection(port)
    client.socket.pause()
    client.socket.write('GET /v1/transactions HTTP/1.1\r\nhost: x\r\n\r\n')
    await eventually(
      () => forwarded.length === 1,
      () => 'its end',
    )
    // Buffers of sockets hold a few MB.
    expect(sent).toBeLessThan(40_000_000)
    client.socket.resume()
    await client.closed
  })
})

describe('a version that an answer names', () => {
  const transaction = (upstream: FakeUpstream, version: number, type = 'user_transaction') => {
    upstream.answer = (_, response) =>
      sendJson(upstream, response, { ...(version >= 0 && { version: String(version) }), hash: HASH, type })
  }

  it('is served by the time that the answer arrives', async () => {
    const { upstream, url, reach } = await openBed()
    transaction(upstream, 5)
    const answer = fetch(`${url}/v1/transactions/by_hash/${HASH}`)
    let isThere = false
    void answer.then(() => {
      isThere = true
    })
    await eventually(
      () => upstream.requests.length === 1,
      () => 'the request',
    )
    await reach(4n)
    // This is answered after the server has looked for version 4.
    expect(await (await fetch(`${url}/v1`)).json()).toMatchObject({ ledger_version: '4' })
    expect(isThere).toBe(false)
    await reach(5n)
    expect(await (await answer).json()).toMatchObject({ version: '5' })
    expect((await fetch(`${url}/v1?x`)).headers.get('x-svc-ledger-version')).toBe('5')
  })

  it('makes the answer 503 if it does not come, as for `min-ledger-version`; a pending transaction names none', async () => {
    const { upstream, url } = await openBed({ maxHoldMs: 50 })
    transaction(upstream, 5)
    const response = await fetch(`${url}/v1/transactions/wait_by_hash/${HASH}`)
    expect([response.headers.has('retry-after'), ...(await errorOf(response))]).toEqual([
      true,
      503,
      'version 5 is not served here yet; the newest is 3',
    ])
    transaction(upstream, -1, 'pending_transaction')
    expect((await fetch(`${url}/v1/transactions/by_hash/${HASH}`)).status).toBe(200)
    transaction(upstream, 2)
    expect((await fetch(`${url}/v1/transactions/by_version/2`)).status).toBe(200)
  })

  it('is read in BCS, and taken from the headers if a long answer names it late', async () => {
    const { upstream, url } = await openBed({ maxHoldMs: 50 })
    const statusOf = async (body: Uint8Array | string, type: string) => {
      upstream.answer = (_, response) =>
        void response.writeHead(200, { 'content-type': type, ...upstream.chainHeaders() }).end(body)
      return (await fetch(`${url}/v1/transactions/by_hash/${HASH}`)).status
    }
    const bcs = 'application/x-bcs'
    expect(await statusOf(Uint8Array.of(0, 5, 0, 0, 0, 0, 0, 0, 0, 1), bcs)).toBe(503)
    expect(await statusOf(Uint8Array.of(0, 3, 0, 0, 0, 0, 0, 0, 0, 1), bcs)).toBe(200)
    expect(await statusOf(Uint8Array.of(1, 5, 0, 0, 0, 0, 0, 0, 0, 1), bcs)).toBe(200)
    const late = `{"payload":{"version":"2"},"x":"${'"version\\":'.replaceAll('"', '\\"')}${'y'.repeat(70_000)}","version":"3"}`
    expect(await statusOf(late, 'application/json')).toBe(503)
    upstream.version = 3
    expect(await statusOf(late, 'application/json')).toBe(200)
  })

  it('is waited for by clients that read at it, through any connection, if the upstream has it', async () => {
    const { upstream, url, reach } = await openBed()
    const reads = [
      '/v1/accounts/0x1/balance/0xa?ledger_version=8',
      '/v1/blocks/by_version/9',
      '/v1/accounts/0x1/resources?ledger_version=9',
      '/v1/accounts/0x1/balance/0xa/history?from=2&to=9',
    ].map((path) => fetch(`${url}${path}`).then(({ status }) => status))
    expect((await fetch(`${url}/v1/accounts/0x1?ledger_version=10`)).status).toBe(404)
    expect(upstream.looks).toBeGreaterThan(0)
    await reach(9n)
    expect(await Promise.all(reads)).toEqual([200, 200, 200, 200])
  })

  it('is not waited for because an upstream once announced a version that it does not have', async () => {
    const { upstream, url, reach } = await openBed({ maxHoldMs: 50 })
    const statusAt = async (version: bigint | number) =>
      (await fetch(`${url}/v1/accounts/0x1/balance/0xa?ledger_version=${version}`)).status
    upstream.version = 1_000
    expect((await fetch(`${url}/v1/transactions`)).status).toBe(200)
    upstream.version = 3
    // A lie is accepted for a second at most, and one wait that was in vain ends it.
    expect([404, 503]).toContain(await statusAt(500))
    for (let round = 0; round < 3; round++) expect(await statusAt(500)).toBe(404)
    await reach(4n)
    expect(await statusAt(4)).toBe(200)
  })

  it('is not waited for if an upstream always announces versions that it does not have', async () => {
    for (const version of [1_000, Number.MAX_SAFE_INTEGER]) {
      const { upstream, url } = await openBed({ maxHoldMs: 50 })
      upstream.version = version
      const statuses: number[] = []
      for (let round = 0; round < 5; round++) {
        statuses.push((await fetch(`${url}/v1/accounts/0x1/balance/0xa?ledger_version=${version - 1}`)).status)
        expect((await fetch(`${url}/v1/transactions`)).status).toBe(200)
      }
      // No node could catch up by so many versions, so not even the first request waits.
      expect(statuses).toEqual([version === 1_000 ? 503 : 404, 404, 404, 404, 404])
    }
  })

  it('is 404 at once if no upstream has it, and many clients that ask cause few requests', async () => {
    const { upstream, url } = await openBed()
    const ask = () => fetch(`${url}/v1/accounts/0x1/balance/0xa?ledger_version=99999`).then(({ status }) => status)
    const began = performance.now()
    for (let round = 0; round < 3; round++) {
      const statuses = await Promise.all(Array.from({ length: 100 }, ask))
      expect(new Set(statuses)).toEqual(new Set([404]))
    }
    expect(upstream.looks).toBeLessThanOrEqual(2 + (performance.now() - began) / 200)
  })
})

describe('a read at a version that was pruned here', () => {
  const ITEM = '/v1/tables/0x7/raw_item?ledger_version=0'
  const item = { method: 'POST', body: RAW_ITEM_BODY, headers: { 'content-type': 'application/json' } }
  const ACCOUNT = '/v1/accounts/0x7/resources?ledger_version=0'

  // A fullnode looks for the two types word by word, and answers JSON if it finds neither.
  it.each([
    [ITEM, '*/*', 'application/x-bcs'],
    [ITEM, 'application/*', 'application/x-bcs'],
    [ITEM, 'application/x-bcs;q=0.9', 'application/x-bcs'],
    [ITEM, 'application/json, application/x-bcs;q=0.5', 'application/x-bcs'],
    [ACCOUNT, '*/*', 'application/json'],
    [ACCOUNT, 'text/html, */*;q=0.8', 'application/json'],
    [ACCOUNT, 'application/x-bcs; q=1', 'application/x-bcs'],
    [ACCOUNT, 'application/json;q=0.1, application/x-bcs;charset=utf-8', 'application/x-bcs'],
    ['/v1/transactions/by_hash/0x1', 'application/x-bcs;q=0.9, application/json;q=0.1', 'application/x-bcs'],
  ])('asks for the format that it would have here: %s with %s', async (path, accept, expected) => {
    const { upstream, url, prune } = await openBed()
    await prune(2n)
    const init = path === ITEM ? item : { headers: {} }
    await fetch(`${url}${path}`, { ...init, headers: { ...init.headers, accept } })
    expect(upstream.requests.map((one) => one.headers.accept)).toEqual([expected])
  })

  it('is made there, with all headers that describe the state', async () => {
    const { upstream, url, prune } = await openBed()
    await prune(2n)
    upstream.answer = (_, response) =>
      sendJson(upstream, response, 1, { headers: { 'content-type': 'application/x-bcs' } })
    const response = await fetch(`${url}${ITEM}`, {
      ...item,
      headers: { ...item.headers, accept: 'application/x-bcs' },
    })
    expect([response.status, await response.text()]).toEqual([200, '1'])
    expect(response.headers.get('x-svc-answered-by')).toBe('upstream')
    const names = 'chain-id ledger-version ledger-oldest-version ledger-timestampusec block-height oldest-block-height'
    expect(names.split(' ').map((name) => response.headers.get(`x-svc-${name}`))).toEqual([
      '4',
      '9',
      '0',
      '5',
      '3',
      '0',
    ])
    expect(upstream.requests).toMatchObject([{ method: 'POST', url: ITEM, body: RAW_ITEM_BODY }])
    for (const path of [
      '/v1/accounts/0x1/balance/0xa?ledger_version=1',
      '/v1/accounts/0x1/resources?ledger_version=1&limit=5',
      '/v1/accounts/0x1/resource/0x1%3A%3Aa%3A%3AB?ledger_version=0',
      '/v1/blocks/by_height/0',
    ]) {
      expect((await fetch(`${url}${path}`)).headers.get('x-svc-answered-by'), path).toBe('upstream')
      expect(upstream.requests.at(-1)!.url).toBe(path)
    }
  })

  it('stays here if the version is kept, if it is wrong, or if no fullnode has such a read', async () => {
    const { upstream, url, prune } = await openBed()
    await prune(2n)
    const statuses: number[] = []
    for (const path of [
      '/v1/accounts/0x1/balance/0xa?ledger_version=2',
      '/v1/accounts/zz/balance/0xa?ledger_version=0',
      '/v1/accounts/0x1/balance/0xa?ledger_timestamp=0',
      '/v1/accounts/0x1/balance/0xa/history?from=0&to=1',
      '/v1/accounts/0x1/resource/0x1::a::B?ledger_version=0&proof=true',
    ]) {
      statuses.push((await fetch(`${url}${path}`)).status)
    }
    expect(statuses).toEqual([200, 400, 410, 410, 410])
    expect(upstream.requests).toEqual([])
  })

  it('is refused if the upstream does not describe its state, and 410 if reads are not forwarded', async () => {
    const { upstream, url, prune } = await openBed()
    await prune(2n)
    upstream.answer = (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/x-bcs', 'x-aptos-chain-id': '4' }).end('x')
    expect(
      await errorOf(await fetch(`${url}${ITEM}`, { ...item, headers: { ...item.headers, accept: '*/*' } })),
    ).toEqual([503, expect.stringContaining('missing headers')])
    const without = await openBed({}, { kinds: ['transactions'] })
    await without.prune(2n)
    expect(
      (await fetch(`${without.url}${ITEM}`, { ...item, headers: { ...item.headers, accept: '*/*' } })).status,
    ).toBe(410)
  })

  it('only has statuses and forms that reads of state have', async () => {
    const { upstream, url, prune } = await openBed()
    await prune(2n)
    const statusOf = async (status: number, headers: Record<string, string> = {}) => {
      upstream.answer = (_, response) => sendJson(upstream, response, { message: 'x' }, { status, headers })
      return (await fetch(`${url}/v1/accounts/0x1/balance/0xa?ledger_version=0`)).status
    }
    expect([await statusOf(410), await statusOf(404)]).toEqual([410, 404])
    for (const status of [502, 504]) {
      expect(await statusOf(status)).toBe(503)
      const answer = await fetch(`${url}/v1/accounts/0x1/balance/0xa?ledger_version=0`)
      expect(await errorOf(answer)).toEqual([
        503,
        expect.stringContaining(
          `it answers with status ${status}: a proxy or gateway answered, not the upstream itself`,
        ),
      ])
    }
    expect(await statusOf(404, { 'content-type': 'text/html' })).toBe(503)
    expect(await statusOf(429, { 'retry-after': '9' })).toBe(503)
  })

  it('must pass the filter of views', async () => {
    const { upstream, url, prune } = await openBed({
      viewFilter: { kind: 'block', names: ['0x1::coin'] },
    })
    await prune(2n)
    const view = (name: string) =>
      fetch(`${url}/v1/view?ledger_version=0`, {
        ...item,
        body: JSON.stringify({ function: name, type_arguments: [], arguments: [] }),
      }).then(({ status }) => status)
    expect([await view('0x1::coin::balance'), await view('0x1::other::call')]).toEqual([403, 200])
    expect(upstream.requests.length).toBe(1)
  })
})
