import type { RequestListener } from 'node:http'
import { hexToBytes, LedgerStateError, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader, type StateWriter } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { overriding } from '@ledger-state/testing/overriding'
import { tableItemKey } from '@ledger-state/type-tag'
import { type InjectOptions, inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from './create-request-listener.js'
import type { AnswerReport, RequestListenerOptions } from './request-listener-options.js'

const HANDLE = parseAddress('0x7ab1e')
const ITEM = '/v1/tables/0x7ab1e/item'
const JSON_BODY = { 'content-type': 'application/json' }
const KEY_1 = '{"key_type":"u64","value_type":"u64","key":"1"}'

/** Versions 0 to 9. Each is a block, and writes its number to key 1 of the table. */
async function tenVersions(): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const write: Write = [
      tableItemKey(HANDLE, hexToBytes('0x0100000000000000')),
      Uint8Array.of(Number(version), 0, 0, 0, 0, 0, 0, 0),
    ]
    const block = { height: version, epoch: 2n, timestampUsec: 1_700_000_000_000_000n + version }
    await engine.commit([{ version, block, writes: [write] }], { chainId: 4 })
  }
  return engine
}

function listenerOf(engine: StateReader, options: Partial<RequestListenerOptions> = {}): RequestListener {
  return createRequestListener({ ledger: createLedger(engine), ...options })
}

async function ask(listener: RequestListener, request: InjectOptions) {
  const { statusCode: status, headers, body } = await inject(listener, request)
  return { status, headers, body }
}

const post = (
  url: string,
  payload: string | Buffer = KEY_1,
  headers: Record<string, string> = JSON_BODY,
): InjectOptions => ({
  method: 'POST',
  url,
  payload,
  headers,
})

describe('answers', () => {
  it('carry the chain state, on success and on failure, under the chosen word', async () => {
    const listener = listenerOf(await tenVersions(), { headerWord: 'aptos' })
    const expected = {
      'x-aptos-chain-id': '4',
      'x-aptos-ledger-version': '9',
      'x-aptos-ledger-oldest-version': '0',
      'x-aptos-ledger-timestampusec': '1700000000000009',
      'x-aptos-epoch': '2',
      'x-aptos-block-height': '9',
      'x-aptos-oldest-block-height': '0',
    }
    const requests = [
      post(ITEM),
      post(`${ITEM}?ledger_version=10`),
      post('/v1/tables/zz/item'),
      { url: '/nowhere' },
      { url: '/v1' },
    ] as InjectOptions[]
    const answers = await Promise.all(requests.map((request) => ask(listener, request)))
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 404, 200])
    for (const { headers } of answers) {
      expect(headers).toMatchObject(expected)
      expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toHaveLength(7)
    }
  })

  it('carry the chain state as published clients read it, in addition to the word, unless that is switched off', async () => {
    const engine = await tenVersions()
    const named = async (options: { headerWord?: string; compatibleHeaders?: boolean }) => {
      const page = { url: '/v1/accounts/0x1/balance/0xa', headers: { origin: 'https://page.example' } }
      const { headers } = await ask(listenerOf(engine, options), page)
      const states = Object.keys(headers).filter((name) => /^x-.*-ledger-version$/.test(name))
      const exposed = String(headers['access-control-expose-headers']).split(',')
      return { states, cursors: exposed.filter((name) => name.endsWith('-cursor')), count: exposed.length }
    }
    expect(await named({})).toMatchObject({
      states: ['x-svc-ledger-version', 'x-aptos-ledger-version'],
      cursors: ['x-svc-cursor', 'x-aptos-cursor'],
    })
    expect(await named({ headerWord: 'demo' })).toMatchObject({
      states: ['x-demo-ledger-version', 'x-aptos-ledger-version'],
    })
    expect(await named({ compatibleHeaders: false })).toMatchObject({
      states: ['x-svc-ledger-version'],
      cursors: ['x-svc-cursor'],
    })
  })

  it('are refused over a ledger whose chain id is not a uint8, when the listener is made and when the ledger is first seen', async () => {
    const engine = createMemoryEngine()
    const reports: unknown[] = []
    const listener = listenerOf(engine, { onUnexpectedError: (error) => reports.push(error) })
    await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes: [] }], {
      chainId: 256n,
    })
    const fault = expect.objectContaining({ code: 'chain_id_too_large', message: expect.stringContaining('256') })
    expect(() => listenerOf(engine)).toThrow(fault)
    const { status, headers } = await ask(listener, { url: '/v1' })
    expect([status, headers['x-svc-chain-id'], reports]).toEqual([500, undefined, [fault]])
  })

  it('read the version asked for', async () => {
    const listener = listenerOf(await tenVersions())
    const read = async (query: string) => (await ask(listener, post(`${ITEM}?${query}`))).body
    expect(await read('ledger_version=3')).toBe('"3"')
    expect(await read('x=1&ledger_version=%2B3&ledger_version=4')).toBe('"3"')
    expect(await read('ledger_version=%2533')).toBe('"3"')
    expect(await read('ledger%5Fversion=3')).toBe('"3"')
    expect(await read('%zz=1&ledger_version=3&%ff')).toBe('"3"')
    for (const bad of ['', '+3', '-1', 'x', '%zz', '%25zz', '18446744073709551616']) {
      expect(JSON.parse(await read(`ledger_version=${bad}`))).toMatchObject({ error_code: 'web_framework_error' })
    }
  })

  it('name the archive that has the pruned versions, if one is known', async () => {
    const engine = await tenVersions()
    await engine.prune(3n)
    const archivalEndpoint = 'https://archive.example/v1'
    const { status, body } = await ask(listenerOf(engine, { archivalEndpoint }), post(`${ITEM}?ledger_version=1`))
    expect([status, body]).toEqual([
      410,
      '{"message":"Ledger version(1) has been pruned","error_code":"version_pruned","oldest_ledger_version":"7","archival_endpoint":"https://archive.example/v1"}',
    ])
  })

  it('are 410 when the pruner passes between the version check and the read, and speak of the pinned state', async () => {
    const engine = await tenVersions()
    const overtaken = overriding<StateReader>(engine, {
      at(version) {
        const view = engine.at(version)
        // The memory engine prunes within the call, as far as reads can see.
        if (version !== undefined) void engine.prune(2n)
        return view
      },
    })
    const { status, headers, body } = await ask(listenerOf(overtaken), post(`${ITEM}?ledger_version=1`))
    expect([status, JSON.parse(body)]).toEqual([
      410,
      expect.objectContaining({ error_code: 'version_pruned', oldest_ledger_version: '8' }),
    ])
    expect(headers['x-svc-ledger-oldest-version']).toBe('0')
  })

  it('are 503 with Retry-After as long as there is no ledger', async () => {
    const { status, headers, body } = await ask(listenerOf(createMemoryEngine()), post(ITEM))
    expect([status, headers['retry-after'], JSON.parse(body).error_code]).toEqual([503, '5', 'internal_error'])
    expect(headers).not.toHaveProperty('x-svc-chain-id')
  })

  it.each([
    ['/v1/transactions', undefined, 503],
    [`/v1/transactions/by_hash/${'ab'.repeat(32)}`, undefined, 503],
    ['/v1/transactions/by_hash/zz', undefined, 400],
    ['/v1/accounts/0x1/transactions', undefined, 503],
    ['/v1/accounts/0x1/events/0', undefined, 503],
    ['/v1/events/0x1::a::B', undefined, 503],
    ['/v1/graphql', { query: '{ledger_infos{chain_id}}' }, 503],
  ])('of %s are the same without a ledger: it may keep transactions later', async (url, body, expected) => {
    const request = body ? { method: 'POST' as const, url, payload: body } : { url }
    const { status, headers } = await ask(listenerOf(createMemoryEngine()), request)
    expect([status, headers['retry-after']]).toEqual([expected, expected === 503 ? '5' : undefined])
  })

  it('hide the cause of an internal error and report it, and the next request is answered', async () => {
    const engine = await tenVersions()
    let broken = true
    const failing = overriding<StateReader>(engine, {
      at: (version) => ({
        ...engine.at(version),
        get(key) {
          if (broken) throw new TypeError('secret /etc/path')
          return engine.at(version).get(key)
        },
      }),
    })
    const reports: unknown[] = []
    const listener = listenerOf(failing, { onUnexpectedError: (error) => reports.push(error) })
    const { status, body } = await ask(listener, post(ITEM))
    expect([status, body]).toEqual([500, '{"message":"internal error","error_code":"internal_error"}'])
    expect(reports).toEqual([expect.any(TypeError)])
    broken = false
    expect((await ask(listener, post(ITEM))).body).toBe('"9"')
  })

  it('do not show the error codes of the store', async () => {
    const failing = overriding<StateReader>(createMemoryEngine(), {
      at() {
        throw new LedgerStateError('store_failed', 'the store in /secret failed')
      },
    })
    expect((await ask(listenerOf(failing), post(ITEM))).body).not.toContain('secret')
  })
})

describe('requests', () => {
  it.each([
    ['unknown path', { url: '/v1/tables' }, 404],
    ['trailing slash', { ...post(`${ITEM}/`) }, 404],
    ['empty handle', post('/v1/tables//item'), 400],
    ['empty account', { url: '/v1/accounts//balance/0xa' }, 400],
    ['no asset', { url: '/v1/accounts/0x1/balance/' }, 404],
    ['bad percent-encoding', { url: '/v1/accounts/%zz/balance/0xa' }, 400],
    ['bad percent-encoding of an unknown path', { url: '/v1/tables/%zz' }, 404],
    ['bad percent-encoding, another method', { url: '/v1/accounts/%zz/balance/0xa', method: 'PUT' }, 405],
    ['bad UTF-8 in the path', { url: '/v1/accounts/%ff/balance/0xa' }, 400],
    ['a type as asset', { url: '/v1/accounts/0x1/balance/u8' }, 400],
    ['no content type', post(ITEM, KEY_1, {}), 415],
    ['another content type', post(ITEM, KEY_1, { 'content-type': 'text/plain' }), 415],
    ['a JSON suffix', post(ITEM, KEY_1, { 'content-type': 'application/vnd.x+json;v=1' }), 200],
    ['empty body', post(ITEM, ''), 400],
    ['no UTF-8', post(ITEM, Buffer.from([0x7b, 0xff])), 400],
    ['an array', post(ITEM, '[]'), 400],
    ['JSON too deep', post(ITEM, '['.repeat(200)), 400],
    ['no key type', post(ITEM, '{"value_type":"u8"}'), 400],
    ['a reference type', post(ITEM, '{"key_type":"&u8","value_type":"u8"}'), 400],
    [
      'members of prototypes',
      post(ITEM, '{"__proto__":{"key":"2"},"constructor":1,"key_type":"u64","value_type":"u64","key":"1"}'),
      200,
    ],
    ['a raw key that is not hex', post('/v1/tables/0x7ab1e/raw_item', '{"key":"0xzz"}'), 400],
    ['a raw key as bare string', post('/v1/tables/0x7ab1e/raw_item', '"0x01"'), 400],
    ['health, old ledger', { url: '/v1/-/healthy?duration_secs=10' }, 503],
    ['health, a long time', { url: '/v1/-/healthy?duration_secs=4294967295' }, 200],
    ['health, a long time with zeros', { url: '/v1/-/healthy?duration_secs=%2B000000000004294967295' }, 200],
    ['health, a time that is encoded twice', { url: '/v1/-/healthy?duration_secs=%2534294967295' }, 200],
    ['health, too long a time', { url: '/v1/-/healthy?duration_secs=4294967296' }, 400],
    ['health, no number', { url: '/v1/-/healthy?duration_secs=x' }, 400],
    ['health', { url: '/v1/-/healthy' }, 200],
  ] as [string, InjectOptions, number][])(
    'of the kind “%s” are answered as they should: %j with %i',
    async (_name, request, status) => {
      const answer = await ask(listenerOf(await tenVersions()), request)
      expect(answer.status).toBe(status)
      if (status >= 400) {
        expect(answer.headers['content-type']).toContain('application/json')
        expect(JSON.parse(answer.body)).toEqual({ message: expect.stringMatching(/./), error_code: expect.any(String) })
      }
    },
  )

  it.each(['text/plain', 'nonsense', 'application/json,text/plain', ';'])(
    'with a content type that is not accepted are refused by its name: %s',
    async (contentType) => {
      const { status, body } = await ask(
        listenerOf(await tenVersions()),
        post(ITEM, KEY_1, { 'content-type': contentType }),
      )
      expect([status, JSON.parse(body).message]).toEqual([
        415,
        expect.stringContaining(`not supported: ${contentType};`),
      ])
    },
  )

  it('with bodies over the limit are refused, and one of just that size is accepted', async () => {
    const listener = listenerOf(await tenVersions(), { bodyLimitBytes: 1_000 })
    expect((await ask(listener, post(ITEM, KEY_1.padEnd(1_000)))).status).toBe(200)
    expect((await ask(listener, post(ITEM, KEY_1.padEnd(1_001)))).status).toBe(413)
  })

  it('with a wrong method are answered with the methods that the path has', async () => {
    const listener = listenerOf(await tenVersions())
    const allow = async (method: InjectOptions['method'], url: string) => {
      const { status, headers } = await ask(listener, { method: method!, url })
      return [status, headers.allow]
    }
    expect(await allow('GET', ITEM)).toEqual([405, 'POST'])
    expect(await allow('DELETE', '/v1/accounts/0x1/balance/0xa')).toEqual([405, 'GET, HEAD'])
    expect(await allow('OPTIONS', ITEM)).toEqual([405, 'POST'])
    expect(await allow('HEAD', '/v1/accounts/0x1/balance/0xa')).toEqual([200, undefined])
  })

  it('from pages of other origins may read answers and errors', async () => {
    const listener = listenerOf(await tenVersions())
    const headers = { ...JSON_BODY, origin: 'https://app.example' }
    for (const request of [
      post(ITEM, KEY_1, headers),
      post(ITEM, 'x', headers),
      { url: '/nowhere', headers },
    ] as InjectOptions[]) {
      expect((await ask(listener, request)).headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-expose-headers': expect.stringMatching(/x-svc-ledger-version.*,ETag,Retry-After$/),
        vary: expect.stringContaining('Origin'),
      })
    }
    const preflight = (method: string) =>
      ask(listener, {
        method: 'OPTIONS',
        url: '/anywhere',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': method,
          'access-control-request-headers': 'x-a',
        },
      })
    const { status, headers: allowed } = await preflight('POST')
    expect([status, allowed['access-control-allow-headers'], allowed['access-control-max-age']]).toEqual([
      200,
      'x-a',
      '86400',
    ])
    expect((await preflight('PUT')).status).toBe(403)
  })
})

describe('the headers for caches', () => {
  it.each([
    ['a balance', { url: '/v1/accounts/0x1/balance/0xa' }, 'Accept, Origin', 'no-cache'],
    ['a balance at a version', { url: '/v1/accounts/0x1/balance/0xa?ledger_version=3' }, 'Accept, Origin', 'no-cache'],
    ['the ledger info', { url: '/v1' }, 'Accept, Origin', 'no-cache'],
    ['an item', post(ITEM), 'Accept, Origin', undefined],
    ['a refused request', { url: '/v1/accounts/zz/balance/0xa' }, 'Accept, Origin', 'no-cache'],
    ['an unknown path', { url: '/nowhere' }, 'Origin', 'no-cache'],
    ['a long document', { url: '/v1/spec.json' }, 'Accept-Encoding, Origin', 'no-cache'],
  ] as [string, InjectOptions, string, string | undefined][])(
    'name the headers that the answer depends on: %s',
    async (_name, request, vary, cacheControl) => {
      const { headers } = await ask(listenerOf(await tenVersions()), request)
      expect([headers.vary, headers['cache-control']]).toEqual([vary, cacheControl])
    },
  )
})

describe('onAnswered', () => {
  it('is called once for every answer, with the path of its operation', async () => {
    const told: AnswerReport[] = []
    const listener = listenerOf(await tenVersions(), { onAnswered: (answered) => told.push(answered) })
    const origin = { origin: 'https://app.example' }
    const { headers } = await ask(listener, { url: '/v1' })
    const requests: InjectOptions[] = [
      post(ITEM),
      post(ITEM, KEY_1, { ...JSON_BODY, ...origin }),
      post(ITEM, KEY_1.replace('"1"', '"2"')),
      post(ITEM, '{'),
      post('/v1/tables/items:batch', '{"requests":[]}'),
      { url: '/v1', headers: { 'if-none-match': String(headers.etag) } },
      { method: 'HEAD', url: '/v1' },
      { url: '/v1/spec.json', headers: { 'accept-encoding': 'gzip' } },
      { url: '/nowhere' },
      { method: 'PUT', url: ITEM },
      { method: 'OPTIONS', url: '/v1', headers: { ...origin, 'access-control-request-method': 'GET' } },
      { method: 'OPTIONS', url: '/v1', headers: { ...origin, 'access-control-request-method': 'PUT' } },
    ]
    told.length = 0
    const answers = []
    for (const request of requests) answers.push(await ask(listener, request))
    const item = '/v1/tables/{table_handle}/item'
    const batch = '/v1/tables/items:batch'
    const routes = [item, item, item, item, batch, '/v1', '/v1', '/v1/spec.json', 'other', 'other', 'other', 'other']
    expect(told.map(({ route, status }) => [route, status])).toEqual(
      answers.map(({ status }, at) => [routes[at], status]),
    )
    for (const { seconds } of told) expect(seconds).toBeGreaterThanOrEqual(0)
    expect(told[0]).toMatchObject({ method: 'POST', url: ITEM })
  })
})
