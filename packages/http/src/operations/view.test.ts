import { ByteWriter, hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import { type AsyncState, createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createAsyncLedger, createLedger, type ViewReport } from '@ledger-state/ledger'
import { eventually } from '@ledger-state/testing/eventually'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { parseStructTag, parseTypeTag, resourceKey, tableItemKey, writeTypeTag } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createRequestListener } from '../server/create-request-listener.js'
import type { RequestListenerOptions } from '../server/request-listener-options.js'
import type { ViewFilter } from './parts/view-rules.js'

const JSON_TYPE = 'application/json'
const BCS_TYPE = 'application/x.aptos.view_function+bcs'
const CHAIN_ID = { function: '0x1::chain_id::get', type_arguments: [], arguments: [] }

type Options = Partial<RequestListenerOptions>

function ask(engine: ReturnType<typeof createMemoryEngine>, options: Options = {}) {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    ...options,
  })
  return async (path: string, body: object | Buffer, headers: Record<string, string> = {}) => {
    const payload = Buffer.isBuffer(body) ? body : JSON.stringify(body)
    return inject(listener, {
      method: 'POST',
      url: `/v1${path}`,
      headers: { 'content-type': JSON_TYPE, ...headers },
      payload,
    })
  }
}

async function emptyEngine(...writes: Write[]) {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes }], { chainId: 4n })
  return engine
}

/** Variants of type tags in BCS. */
const VECTOR = 6
const U8 = 1

/** Type arguments whose list has this many bytes in BCS: bytes of vectors, as many as a type may nest, and one shorter type. */
function wideTypes(bytes: number): string[] {
  const left = bytes - 2
  const of = (length: number) => `${'vector<'.repeat(length - 1)}u8${'>'.repeat(length - 1)}`
  return [...new Array(Math.floor(left / 8)).fill(of(8)), ...(left % 8 > 0 ? [of(left % 8)] : [])]
}

/** The BCS of a call, as clients send it. */
function callToBcs(module: string, name: string, types: readonly string[], values: readonly Uint8Array[]): Buffer {
  const writer = new ByteWriter().bytes(parseAddress('0x1')).string(module).string(name).uleb128(types.length)
  for (const type of types) writeTypeTag(writer, parseTypeTag(type))
  writer.uleb128(values.length)
  for (const value of values) writer.byteString(value)
  return Buffer.from(writer.toBytes())
}

describe('the call of a view', () => {
  it.each([
    ['16,384 arguments', [], 16_384, undefined],
    ['16,385 arguments', [], 16_385, 'a list of more than 16384 items'],
    ['16,384 type arguments', new Array(16_384).fill('u8'), 0, undefined],
    ['16,385 type arguments', new Array(16_385).fill('u8'), 0, 'a list of more than 16384 items'],
    ['types of 65,536 bytes', wideTypes(65_536), 0, undefined],
    ['types of 65,537 bytes', wideTypes(65_537), 0, 'the type arguments have more than 65536 bytes'],
  ])('in BCS may have up to 16,384 items, and types of up to 65,536 bytes: %s', async (_, types, count, refusal) => {
    const post = ask(await emptyEngine())
    const values = new Array<Uint8Array>(count).fill(new Uint8Array(0))
    const answer = await post('/view', callToBcs('chain_id', 'get', types, values), { 'content-type': BCS_TYPE })
    const { message } = JSON.parse(answer.body)
    expect(answer.statusCode).toBe(400)
    expect(/ViewRequest: (.*) at byte/.exec(message)?.[1]).toBe(refusal)
  })

  it('in BCS has types of up to 8 levels, and in JSON of up to 9', async () => {
    const post = ask(await emptyEngine())
    const refusalOf = async (levels: number) => {
      const head = new ByteWriter().bytes(parseAddress('0x1')).string('chain_id').string('get').uleb128(1)
      const call = head
        .bytes(new Uint8Array(levels - 1).fill(VECTOR))
        .u8(U8)
        .uleb128(0)
      const answer = await post('/view', Buffer.from(call.toBytes()), { 'content-type': BCS_TYPE })
      return [answer.statusCode, JSON.parse(answer.body)]
    }
    expect(await refusalOf(8)).toMatchObject([400, { vm_error_code: expect.any(Number) }])
    const inJson = async (levels: number) => {
      const type = `${'vector<'.repeat(levels - 1)}u8${'>'.repeat(levels - 1)}`
      const call = { function: '0x1::chain_id::get', type_arguments: [type], arguments: [] }
      return (await post('/view', call)).body
    }
    expect(await inJson(9)).not.toContain('Unable to parse')
    expect(await inJson(10)).toContain('nested more than 8 levels')
    const [status, refusal] = await refusalOf(9)
    expect([status, refusal]).toEqual([
      400,
      {
        error_code: 'invalid_input',
        message: expect.stringMatching(
          /^Failed to deserialize input into ViewRequest: types are nested more than 8 levels/,
        ),
      },
    ])
  })

  it.each([
    ['{}', JSON_TYPE, 400, 'web_framework_error'],
    ['[]', JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, arguments: 'x' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, type_arguments: [1] }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, function: 'coin::balance' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, function: 'zz::coin::balance' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, function: '0x1::a::b::c' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...CHAIN_ID, type_arguments: ['u9'] }), JSON_TYPE, 400, 'invalid_input'],
    [JSON.stringify(CHAIN_ID), JSON_TYPE, 400, 'invalid_input'],
    ['', BCS_TYPE, 400, 'invalid_input'],
    ['ff'.repeat(100), BCS_TYPE, 400, 'invalid_input'],
    ['00'.repeat(1_100_000), BCS_TYPE, 413, 'web_framework_error'],
    [JSON.stringify(CHAIN_ID), 'text/plain', 415, 'web_framework_error'],
  ])('refuses %.60j as %s: %i %s', async (payload, contentType, status, code) => {
    const post = ask(await emptyEngine())
    const body = Buffer.from(contentType === BCS_TYPE ? hexToBytes(payload) : payload)
    const answer = await post('/view', body, { 'content-type': contentType })
    expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([status, { error_code: code }])
  })

  it('is checked in the order of the reference: syntax, switch, version, arguments, filter', async () => {
    const engine = await emptyEngine()
    const statusOf = async (options: Options, path: string, body: object) => {
      const answer = await ask(engine, options)(path, body)
      const { message, error_code } = JSON.parse(answer.body) as Record<string, string>
      return [answer.statusCode, error_code!, message!] as const
    }
    const blocked = { viewFilter: { kind: 'block', names: ['0x1'] } } as const
    const first = async (...asked: Parameters<typeof statusOf>) => (await statusOf(...asked)).slice(0, 2)
    expect(await first({ views: false }, '/view', {})).toEqual([400, 'web_framework_error'])
    expect(await first({ views: false }, '/view?ledger_version=9', CHAIN_ID)).toEqual([403, 'api_disabled'])
    expect(await first(blocked, '/view?ledger_version=9', CHAIN_ID)).toEqual([404, 'version_not_found'])
    expect(await statusOf(blocked, '/view', CHAIN_ID)).toEqual([
      400,
      'invalid_input',
      `Module ModuleId { address: ${'1'.padStart(64, '0')}, name: Identifier("chain_id") } can't be found`,
    ])
    const bcs = await ask(engine, blocked)('/view', callToBcs('chain_id', 'get', [], []), { 'content-type': BCS_TYPE })
    expect([bcs.statusCode, JSON.parse(bcs.body)]).toEqual([
      403,
      { message: `Function ${'1'.padStart(64, '0')}::chain_id::get is not allowed`, error_code: 'invalid_input' },
    ])
  })
})

describe('the filter of views', () => {
  it.each([
    ['allow:0x1', 200],
    ['allow:0x01::chain_id', 200],
    ['allow:0x1::chain_id::get,0x7', 200],
    ['allow:0x1::chain_id::set', 403],
    ['allow:0x2', 403],
    ['block:0x2,0x1::chain_id::set', 200],
    ['block:0x1::chain_id::get', 403],
    ['block:0x1', 403],
  ])('answers under %s with %i', async (filter, status) => {
    // Nothing exists, so a view that may run fails for its module: 400.
    const post = ask(await emptyEngine(), {
      viewFilter: { kind: filter.slice(0, 5) as ViewFilter['kind'], names: filter.slice(6).split(',') },
    })
    const answer = await post('/view', callToBcs('chain_id', 'get', [], []), { 'content-type': BCS_TYPE })
    expect(answer.statusCode).toBe(status === 200 ? 400 : 403)
  })

  it.each(['', 'zz', '0x1::', '0x1::a::b::c'])('refuses the name %j at the start', (name) => {
    const ledger = createLedger(createMemoryEngine())
    const start = () => createRequestListener({ ledger, viewFilter: { kind: 'allow', names: [name] } })
    expect(start).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  })
})

describe('POST /v1/experimental/state_values/raw', () => {
  const KEY = tableItemKey(parseAddress('0x7'), Uint8Array.of(1))
  const RESOURCE = resourceKey(parseAddress('0x7'), parseStructTag('0x1::a::B'))
  const PATH = '/experimental/state_values/raw'
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  /** The BCS of a table item's key has its length; the key in the database does not. */
  const itemKey = (handle: string) => `01${hex(parseAddress(handle))}0101`

  it('answers any value as a state value without metadata', async () => {
    const post = ask(await emptyEngine([KEY, Uint8Array.of(7, 8)], [RESOURCE, new Uint8Array(200)]))
    const answer = await post(PATH, { key: `0x${itemKey('0x7')}` }, { accept: 'application/x-bcs' })
    expect([answer.statusCode, hex(answer.rawPayload), answer.headers['content-type']]).toEqual([
      200,
      '00020708',
      'application/x-bcs',
    ])
    expect((await post(PATH, { key: hex(RESOURCE) })).rawPayload).toEqual(
      Buffer.concat([Buffer.from('00c801', 'hex'), Buffer.alloc(200)]),
    )
  })

  it.each([
    ['00', {}, '', 400, 'invalid_input'],
    ['0x0', {}, '', 400, 'invalid_input'],
    [`${itemKey('0x7')}00`, {}, '', 400, 'invalid_input'],
    [hex(KEY), {}, '', 400, 'invalid_input'],
    [itemKey('0x7'), { accept: 'application/json' }, '', 403, 'api_disabled'],
    [itemKey('0x8'), {}, '', 404, 'state_value_not_found'],
    [itemKey('0x7'), {}, '?ledger_version=5', 404, 'version_not_found'],
  ] as const)('refuses %s with %j%s: %i %s', async (key, headers, query, status, code) => {
    const answer = await ask(await emptyEngine([KEY, Uint8Array.of(7)]))(`${PATH}${query}`, { key }, headers)
    expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([status, { error_code: code }])
  })

  it('refuses a body without a key', async () => {
    expect((await ask(await emptyEngine())(PATH, {})).statusCode).toBe(400)
  })
})

describe.skipIf(!hasSharedData)('views of a genesis', () => {
  const engine = createMemoryEngine()
  beforeAll(async () => {
    const source = await openSource(sharedPath('data/genesis/devnet.genesis.blob'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
  })
  const json = async (post: ReturnType<typeof ask>, path: string, body: object) => {
    const answer = await post(path, body)
    return [answer.statusCode, JSON.parse(answer.body) as unknown]
  }
  const BALANCE = {
    function: '0x1::coin::balance',
    type_arguments: ['0x1::aptos_coin::AptosCoin'],
    arguments: ['0xa550c18'],
  }

  it('answer in JSON and BCS, asked in JSON and BCS, at versions and times', async () => {
    const post = ask(engine)
    const chainId = engine.ledger!.chainId
    expect(await json(post, '/view', CHAIN_ID)).toEqual([200, [Number(chainId)]])
    expect(await json(post, '/view?ledger_version=0', CHAIN_ID)).toEqual([200, [Number(chainId)]])
    expect(await json(post, '/view?ledger_timestamp=2020-01-01T00:00:00Z', CHAIN_ID)).toEqual([200, [Number(chainId)]])
    const call = callToBcs('chain_id', 'get', [], [])
    const bcs = await post('/view', call, { 'content-type': BCS_TYPE, accept: 'application/x-bcs' })
    expect(bcs.rawPayload).toEqual(Buffer.from([1, Number(chainId)]))
    expect(bcs.headers).toMatchObject({ 'x-svc-ledger-version': '0', 'content-type': 'application/x-bcs' })
    expect(bcs.headers).not.toHaveProperty('x-svc-gas-used')
  })

  it('tell faults by the number of the vm', async () => {
    const post = ask(engine)
    expect(await json(post, '/view', { ...CHAIN_ID, function: '0x1::coin::transfer', type_arguments: ['u8'] })).toEqual(
      [
        400,
        {
          message: expect.stringContaining('expected 2 arguments [string<address>, string<u64>], but got 0 ([])'),
          error_code: 'invalid_input',
        },
      ],
    )
    expect(await json(post, '/view', { ...CHAIN_ID, function: '0x1::chain_id::nothing' })).toEqual([
      400,
      { message: 'could not find view function by 0x1::chain_id::nothing', error_code: 'invalid_input' },
    ])
    const undecodable = callToBcs('account', 'exists_at', [], [Uint8Array.of(1)])
    const answer = await post('/view', undecodable, { 'content-type': BCS_TYPE })
    expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
      400,
      { message: '[VM] failed to deserialize argument', error_code: 'invalid_input', vm_error_code: 1100 },
    ])
  })

  it('are elements of batches, each answered or failed by itself, with one budget', async () => {
    const element = (body: object) => ({ path: '/v1/view', body })
    const requests = [element(CHAIN_ID), element({ ...CHAIN_ID, function: '0x1::chain_id::x' }), element(BALANCE)]
    const [status, results] = await json(ask(engine), '/batch?ledger_version=0', { requests })
    expect(status).toBe(200)
    expect(results).toMatchObject([
      { status: 200, value: [Number(engine.ledger!.chainId)] },
      { status: 400, error: { error_code: 'invalid_input' } },
      { status: 200, value: [expect.stringMatching(/^\d+$/)] },
    ])
    // One such view takes about 1,000 instructions.
    const many = { requests: Array.from({ length: 40 }, () => element(BALANCE)) }
    const [, limited] = await json(ask(engine, { viewBudget: { instructions: 8_000 } }), '/batch', many)
    const statuses = (limited as { status: number; error?: { vm_error_code: number } }[]).map((one) => one.status)
    expect(statuses[0]).toBe(200)
    expect(statuses.at(-1)).toBe(400)
    expect((limited as { error?: { vm_error_code: number } }[]).at(-1)!.error!.vm_error_code).toBe(4030)
  })

  it('are reported with their usage, once each: the same on another machine, since nothing runs twice', async () => {
    const reports: ViewReport[][] = []
    const state = engineToAsync(engine)
    let rounds = 0
    const counting = overriding<AsyncState>(state, {
      async snapshot() {
        const snapshot = await state.snapshot()
        const at: typeof snapshot.at = (version) => {
          const view = snapshot.at(version)
          return overriding(view, {
            load(keys) {
              rounds++
              return view.load(keys)
            },
          })
        }
        return overriding(snapshot, { at })
      },
    })
    for (const ledger of [createLedger(engine), createAsyncLedger(counting)]) {
      const seen: ViewReport[] = []
      const post = ask(engine, { ledger, onView: (report) => seen.push(report) })
      await post('/view', BALANCE)
      await post('/view', { ...BALANCE, function: '0x1::coin::decimals', arguments: [], type_arguments: ['u8'] })
      expect(seen).toMatchObject([{ isFailed: false }, { isFailed: true }])
      reports.push(seen)
    }
    const [here, there] = reports.map(([report]) => report!.usage)
    expect({ ...there, instructions: 0 }).toEqual({ ...here, instructions: 0 })
    // An instruction that lacked something is counted once, however often it is tried.
    expect(there!.instructions).toBeGreaterThan(0.9 * here!.instructions)
    expect(there!.instructions).toBeLessThanOrEqual(here!.instructions)
    // The first call loads about 30 modules and values.
    expect(rounds).toBeGreaterThan(2)
    expect(rounds).toBeLessThan(40)
  })
})

describe.skipIf(!hasSharedData)('long views', () => {
  it('let small reads go first, and are answered one after the other', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('conformance/views-ops.ndjson.gz'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    const answered: string[] = []
    const running = await startServerOver(engine, {
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
      onAnswered: ({ route, status }) => answered.push(`${route} ${status}`),
    })
    try {
      const url = `http://127.0.0.1:${running.port}/v1`
      // Each takes about 370,000 instructions.
      const body = JSON.stringify({ function: '0x42::logic::fib', type_arguments: [], arguments: [20] })
      const ask = () => fetch(`${url}/view`, { method: 'POST', headers: { 'content-type': JSON_TYPE }, body })
      const views = Array.from({ length: 10 }, async () => await (await ask()).text())
      await eventually(
        () => answered.length > 0,
        () => 'the first view',
      )
      for (let read = 0; read < 5; read++) expect((await fetch(url)).status).toBe(200)
      expect(new Set(await Promise.all(views))).toEqual(new Set(['["6765"]']))
      expect(answered.at(-1)).toBe('/v1/view 200')
      expect(answered).toHaveLength(15)
    } finally {
      await stopServer(running)
    }
  })
})
