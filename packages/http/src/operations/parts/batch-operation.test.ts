import { hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { overriding } from '@ledger-state/testing/overriding'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../../server/create-request-listener.js'

async function engineWithVersions() {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const key = tableItemKey(parseAddress('0x7'), hexToBytes('0x0100000000000000'))
    const block = { height: version, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version, block, writes: [[key, Uint8Array.of(Number(version))]] }], { chainId: 4 })
  }
  return engine
}

async function post(url: string, requests: unknown, engine?: StateReader) {
  const listener = createRequestListener({ ledger: createLedger(engine ?? (await engineWithVersions())) })
  const { statusCode, headers, body } = await inject(listener, {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ requests }),
  })
  return { status: statusCode, headers, body: JSON.parse(body) as unknown }
}

const item = (key: string, valueType = 'u8') => ({ table_handle: '0x7', key_type: 'u64', value_type: valueType, key })

describe('POST /v1/tables/items:batch', () => {
  it('answers each read with its own result or error, in order', async () => {
    const raw = { table_handle: '7', raw_key: '0x0100000000000000' }
    const { status, headers, body } = await post('/v1/tables/items:batch?ledger_version=5', [
      item('1'),
      raw,
      item('2'),
      item('x'),
      item('1', 'u64'),
      item('1', 'u9'),
      { ...raw, table_handle: 'zz' },
      {},
    ])
    expect(status).toBe(200)
    expect(headers['x-svc-ledger-version']).toBe('9')
    const error = (code: string) => ({ message: expect.any(String), error_code: code })
    expect(body).toEqual([
      { status: 200, value: 5 },
      { status: 200, bytes: '0x05' },
      { status: 404, error: error('table_item_not_found') },
      { status: 400, error: error('invalid_input') },
      { status: 400, error: error('invalid_input') },
      { status: 400, error: error('invalid_input') },
      { status: 400, error: error('web_framework_error') },
      { status: 400, error: error('web_framework_error') },
    ])
  })

  it('takes a thousand reads and no more', async () => {
    const { status, body } = await post('/v1/tables/items:batch', new Array(1_000).fill(item('1')))
    expect([status, (body as unknown[]).length]).toEqual([200, 1_000])
    expect((await post('/v1/tables/items:batch', new Array(1_001).fill(item('1')))).status).toBe(400)
    expect((await post('/v1/tables/items:batch', [])).body).toEqual([])
    for (const bad of ['x', [1], undefined]) expect((await post('/v1/tables/items:batch', bad)).status).toBe(400)
  })

  it.each([
    ['short', 0],
    ['long', 70_000],
  ])('is refused with the place of the fault, counted in characters: a %s one', async (_name, spaces) => {
    const listener = createRequestListener({ ledger: createLedger(await engineWithVersions()) })
    const refusal = async (text: string) => {
      const payload = text.padEnd(spaces)
      const headers = { 'content-type': 'application/json' }
      const { statusCode, body } = await inject(listener, { method: 'POST', url: '/v1/batch', headers, payload })
      return [statusCode, (JSON.parse(body) as { message: string }).message]
    }
    expect(await refusal('{"\u00e4\u00f6": 1, "requests": [{"path": "\u{1f600}"},]}')).toEqual([
      400,
      expect.stringMatching(/request payload: .*line 1 column 39/),
    ])
    expect(await refusal('[[1,[2]],["x"]]')).toEqual([400, expect.stringContaining('[[1,[2]],["x"]]')])
    expect(await refusal('{"requests":{"\u00e4":1}}')).toEqual([400, expect.stringContaining('array')])
    expect(await refusal('{"requests":[{},[]]}')).toEqual([400, expect.stringContaining('1')])
  })

  it('speaks of one state: versions are refused as a whole, and an overtaking pruner ends all of it', async () => {
    expect((await post('/v1/tables/items:batch?ledger_version=10', [item('1')])).status).toBe(404)
    const engine = await engineWithVersions()
    let reads = 0
    const overtaken = overriding<StateReader>(engine, {
      at(version) {
        const view = engine.at(version)
        const get = (key: Uint8Array) => {
          if (++reads === 2) void engine.prune(2n)
          return view.get(key)
        }
        return { ...view, get }
      },
    })
    expect((await post('/v1/tables/items:batch?ledger_version=5', [item('1'), item('1')], overtaken)).status).toBe(410)
  })
})

describe('POST /v1/balances:batch', () => {
  it('answers numbers', async () => {
    const { status, body } = await post('/v1/balances:batch', [
      { address: '0x1', asset_type: '0xa' },
      { address: '0x1', asset_type: 'u8' },
      { address: '0x1' },
    ])
    expect(status).toBe(200)
    expect(body).toEqual([
      { status: 200, value: 0 },
      expect.objectContaining({ status: 400 }),
      expect.objectContaining({ status: 400 }),
    ])
  })
})

describe('POST /v1/resources:batch', () => {
  it('answers resources, each with its type', async () => {
    const engine = createMemoryEngine()
    const module = writeModule({
      version: 7,
      address: parseAddress('0xa'),
      name: 'm',
      structs: [
        {
          kind: 'struct',
          name: 'S',
          abilities: ABILITY.key,
          typeParameters: [],
          fields: [{ name: 'value', type: { kind: 'u64' } }],
        },
      ],
    })
    const value = new Uint8Array(8).fill(1, 0, 1)
    const writes: Write[] = [
      [moduleKey(parseAddress('0xa'), 'm'), module],
      [resourceKey(parseAddress('0x1'), parseStructTag('0xa::m::S')), value],
    ]
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
    const asked = [
      { address: '0x1', resource_type: '0xa::m::S' },
      { address: '0x2', resource_type: '0xa::m::S' },
      { address: '0x1', resource_type: 'u8' },
      { address: '0x1' },
    ]
    const { status, body } = await post('/v1/resources:batch', asked, engine)
    expect(status).toBe(200)
    expect(body).toEqual([
      { status: 200, value: { type: '0xa::m::S', data: { value: '1' } } },
      { status: 404, error: expect.objectContaining({ error_code: 'resource_not_found' }) },
      { status: 400, error: expect.objectContaining({ error_code: 'web_framework_error' }) },
      { status: 400, error: expect.objectContaining({ error_code: 'web_framework_error' }) },
    ])
  })
})

describe('entity tags', () => {
  it('do not repeat data that the client already has, at the versions that it names', async () => {
    const listener = createRequestListener({ ledger: createLedger(await engineWithVersions()) })
    const get = (query: string, headers: Record<string, string> = {}) =>
      inject(listener, { url: `/v1/accounts/0x1/balance/0xa${query}`, headers })
    const { headers } = await get('?ledger_version=5')
    expect([headers.etag, headers['cache-control']]).toEqual(['"0-json"', 'no-cache'])
    const again = await get('?ledger_version=5', { 'if-none-match': 'W/"x", "0-json"' })
    expect([again.statusCode, again.body, again.headers['x-svc-ledger-version']]).toEqual([304, '', '9'])
    expect(
      (await get('?ledger_version=5', { 'if-none-match': '"0-json"', accept: 'application/x-bcs' })).statusCode,
    ).toBe(200)
    expect((await get('')).headers).not.toHaveProperty('etag')
  })
})
