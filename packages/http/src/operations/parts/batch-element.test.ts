import { readFileSync } from 'node:fs'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createLedger } from '@ledger-state/ledger'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../../server/create-request-listener.js'

interface Result {
  readonly status: number
  readonly value?: unknown
  readonly cursor?: string
  readonly complete?: boolean
  readonly error?: { readonly error_code: string; readonly message: string }
}

interface KitRequest {
  readonly area: string
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
}

function ask(engine: StateReader) {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  const batch = async (requests: readonly object[], query = '') => {
    const { statusCode, body } = await inject(listener, {
      method: 'POST',
      url: `/v1/batch${query}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ requests }),
    })
    return { status: statusCode, results: JSON.parse(body) as Result[] }
  }
  return { batch, get: (url: string) => inject(listener, url) }
}

/** Item 1 of table 7 is the number of the version, from 0 to 9; versions 2 to 9 are kept. */
async function smallEngine() {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    const key = tableItemKey(parseAddress('0x7'), Uint8Array.of(1))
    await engine.commit([{ version, block, writes: [[key, Uint8Array.of(Number(version))]] }], { chainId: 4 })
  }
  await engine.prune(8n)
  return engine
}

const ITEM = { key_type: 'u8', value_type: 'u8', key: 1 }

describe('POST /v1/batch', () => {
  it('does any operation at the state of the batch, or at that which an element names', async () => {
    const { batch } = ask(await smallEngine())
    const { status, results } = await batch(
      [
        { path: '/v1/tables/0x7/item', body: ITEM },
        { path: '/v1/tables/0x7/item?ledger_version=3', body: ITEM },
        { path: '/v1/tables/0x7/raw_item', body: { key: '0x01' } },
        { path: '/v1/tables/0x7/item/history?limit=2', body: ITEM },
        { path: '/v1/tables/0x7/items?key_type=u8' },
        { path: '/v1/accounts/0x1/balance/0xa' },
        { path: '/v1/blocks/by_height/4' },
        { path: '/v1' },
      ],
      '?ledger_version=5',
    )
    expect(status).toBe(200)
    const change = (version: number) => ({ version: `${version}`, timestamp: `${version}`, value: version })
    expect(results.slice(0, 6)).toEqual([
      { status: 200, value: 5 },
      { status: 200, value: 3 },
      { status: 200, bytes: '0x05' },
      { status: 200, value: [change(5), change(4)], cursor: '3.0.5', complete: true },
      {
        status: 200,
        value: { key_type: 'u8', value_type: null, found_in: null, items: [{ key: 1, raw_value: '0x05' }] },
      },
      { status: 200, value: 0 },
    ])
    expect(results.slice(6)).toMatchObject([
      { status: 200, value: { block_height: '4', first_version: '4' } },
      { status: 200, value: { chain_id: 4 } },
    ])
  })

  it('keeps the errors of elements apart', async () => {
    const { batch } = ask(await smallEngine())
    const { status, results } = await batch([
      { path: '/v1/tables/0x7/item?ledger_version=1', body: ITEM },
      { path: '/v1/blocks/by_height/1' },
      { path: '/v1/accounts/0x1?ledger_version=10' },
      { path: '/v1/accounts/0x1/module/coin' },
      { path: '/v1/accounts/zz/resources' },
      { path: '/v1/tables/0x7/item', body: { ...ITEM, key: 'x' } },
      { path: '/v1/tables/0x7/item' },
      { path: '/v1/batch', body: { requests: [] } },
      { path: '/v1/nothing' },
      { path: '' },
      { body: {} },
      { path: '/v1/accounts/0x1/balance/0xa' },
    ])
    expect(status).toBe(200)
    expect(results.map((one) => [one.status, one.error?.error_code])).toEqual([
      [410, 'version_pruned'],
      [410, 'block_pruned'],
      [404, 'version_not_found'],
      [404, 'module_not_found'],
      [400, 'web_framework_error'],
      [400, 'invalid_input'],
      [405, 'web_framework_error'],
      [403, 'api_disabled'],
      [404, 'web_framework_error'],
      [404, 'web_framework_error'],
      [400, 'web_framework_error'],
      [200, undefined],
    ])
  })

  it('knows every path that is served, and says of those that it does not do that they are none of its elements', async () => {
    const { batch, get } = ask(await smallEngine())
    const document = JSON.parse((await get('/v1/spec.json')).body) as { readonly paths: Record<string, object> }
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path: `/v1${path}`, ...(method === 'post' && { body: {} }) })),
    )
    const descriptions = ['/v1/spec', '/v1/spec.json', '/v1/spec.yaml']
    const { results } = await batch([...operations, ...descriptions.map((path) => ({ path }))])
    const batches = ['/v1/tables/items:batch', '/v1/balances:batch', '/v1/resources:batch', '/v1/batch']
    const refused = [...batches, ...descriptions].map((path) => ({
      message: `${path} cannot be an element of a batch: request it separately`,
      error_code: 'api_disabled',
    }))
    const unknown = { message: 'not found', error_code: 'web_framework_error' }
    expect(results.flatMap(({ error }) => (error?.message === unknown.message ? [error] : []))).toEqual([])
    expect(results.flatMap(({ error }) => (error?.message.includes('separately') ? [error] : []))).toEqual(refused)
  })

  it('ends if a pruner overtakes its state', async () => {
    const engine = await smallEngine()
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
    const { batch } = ask(overtaken)
    const item = { path: '/v1/tables/0x7/item', body: ITEM }
    expect((await batch([item, item], '?ledger_version=5')).status).toBe(410)
  })

  it('takes a thousand elements, and no more', async () => {
    const { batch } = ask(await smallEngine())
    const item = { path: '/v1/tables/0x7/item', body: ITEM }
    expect((await batch(new Array(1_000).fill(item))).results).toHaveLength(1_000)
    expect((await batch(new Array(1_001).fill(item))).status).toBe(400)
  })

  it.skipIf(!hasSharedData)('gives the answers of the single operations, for every GET of the kit', async () => {
    const kit = JSON.parse(readFileSync(sharedPath('conformance/account-requests.json'), 'utf8')) as {
      readonly requests: readonly KitRequest[]
    }
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('conformance/account-fixture.ndjson.gz'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    await engine.prune(301n)
    const { batch, get } = ask(engine)
    const paths = kit.requests.flatMap(({ area, method, path, headers }) =>
      area === 'accounts' && method === 'GET' && headers.accept === undefined ? [path] : [],
    )
    expect(paths.length).toBeGreaterThan(50)
    const { results } = await batch(paths.map((path) => ({ path })))
    for (const [at, path] of paths.entries()) {
      const { statusCode, headers, body } = await get(path)
      const { status, cursor, ...result } = results[at]!
      expect([path, status, cursor]).toEqual([path, statusCode, headers['x-svc-cursor']])
      expect(result).toEqual(statusCode === 200 ? { value: JSON.parse(body) } : { error: JSON.parse(body) })
    }
  })
})
