import { ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { eventually } from '@ledger-state/testing/eventually'
import { overriding } from '@ledger-state/testing/overriding'
import { moduleKey, parseStructTag, resourceGroupKey, resourceKey, structTagToBytes } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'
import { MAX_PAGE_BYTES } from './parts/paging.js'

const HOME = '0xcafe'
const ADDRESS = parseAddress(HOME)

const STRUCTS_IN_MODULE = 100

/** Type of struct `at` of the ledger; each has one field of bytes. */
const marker = (at: number) => `${HOME}::m${10 + Math.floor(at / STRUCTS_IN_MODULE)}::M${10_000 + at}`

/** Writes of the modules with the first `count` structs. */
function modulesOf(count: number): Write[] {
  return Array.from({ length: Math.ceil(count / STRUCTS_IN_MODULE) }, (_, module) => {
    const name = `m${10 + module}`
    const structs = Array.from({ length: STRUCTS_IN_MODULE }, (_, at) => ({
      kind: 'struct' as const,
      name: `M${10_000 + module * STRUCTS_IN_MODULE + at}`,
      abilities: ABILITY.key,
      typeParameters: [],
      fields: [{ name: 'bytes', type: { kind: 'vector', element: { kind: 'u8' } } as const }],
    }))
    return [moduleKey(ADDRESS, name), writeModule({ version: 7, address: ADDRESS, name, structs })]
  })
}

async function engineWith(sizes: readonly number[]) {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 5n }
  const writes = sizes.map((size, at): Write => {
    return [
      resourceKey(ADDRESS, parseStructTag(marker(at))),
      new ByteWriter().byteString(new Uint8Array(size)).toBytes(),
    ]
  })
  await engine.commit([{ version: 0n, block, writes: [...modulesOf(sizes.length), ...writes] }], { chainId: 4n })
  return engine
}

function ask(engine: StateReader, options: { maxAnswerBytes?: number } = {}) {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    ...options,
  })
  return (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    inject(listener, { method, url: `/v1${url}`, headers })
}

describe('a listing', () => {
  const COUNT = 300
  let get: ReturnType<typeof ask>
  beforeAll(async () => {
    get = ask(await engineWith(new Array(COUNT).fill(1)))
  })

  it('comes whole in pages that follow each other by their cursor', async () => {
    const types: string[] = []
    let pages = 0
    for (let start = ''; ; ) {
      const { headers, body } = await get(`/accounts/${HOME}/resources?limit=7${start}`)
      types.push(...(JSON.parse(body) as { type: string }[]).map(({ type }) => type))
      pages++
      if (headers['x-svc-cursor'] === undefined) break
      start = `&start=${headers['x-svc-cursor']}`
    }
    expect(pages).toBe(Math.ceil(COUNT / 7))
    expect(types).toEqual(Array.from({ length: COUNT }, (_, at) => marker(at)))
  })

  it('names its cursor header to pages of other origins, on every answer', async () => {
    for (const url of [`/accounts/${HOME}/resources?limit=1`, '/nowhere']) {
      const { headers } = await get(url, { origin: 'https://a.example' })
      expect(headers['access-control-expose-headers']).toContain('x-svc-cursor')
    }
  })

  it('answers HEAD with the headers of GET', async () => {
    const url = `/accounts/${HOME}/resources?limit=1`
    const [got, head] = [await get(url), await get(url, {}, 'HEAD')]
    expect([head.statusCode, head.body]).toEqual([200, ''])
    for (const name of ['content-type', 'content-length', 'x-svc-cursor', 'x-svc-ledger-version']) {
      expect(head.headers[name], name).toBe(got.headers[name])
    }
  })

  it('looks at its parameters in the order of the reference', async () => {
    const faults = [
      ['/accounts/zz/resources?ledger_version=x&start=x&limit=x', 'path `address`'],
      [`/accounts/${HOME}/resources?limit=x&start=x&ledger_version=x`, 'parameter `ledger_version`'],
      [`/accounts/${HOME}/resources?limit=x&start=x`, 'parameter `start`'],
      [`/accounts/${HOME}/resources?limit=x&ledger_version=9`, 'parameter `limit`'],
    ] as const
    for (const [url, part] of faults) {
      const { statusCode, body } = await get(url)
      expect([statusCode, JSON.parse(body)]).toEqual([
        400,
        { message: expect.stringContaining(`failed to parse ${part}: `), error_code: 'web_framework_error' },
      ])
    }
    expect((await get(`/accounts/${HOME}/resources?limit=0&ledger_version=9`)).statusCode).toBe(404)
    expect(JSON.parse((await get(`/accounts/${HOME}/modules?limit=0`)).body)).toEqual({
      message: 'Given limit value (0) must not be zero',
      error_code: 'invalid_input',
    })
  })
})

it('a type that is stored twice, in a group too, is in the BCS map once, with its last value', async () => {
  const engine = await engineWith([1, 1])
  const tag = parseStructTag(marker(0))
  const member = new ByteWriter().byteString(new Uint8Array(3)).toBytes()
  const group = new ByteWriter().uleb128(1).bytes(structTagToBytes(tag)).byteString(member).toBytes()
  const block = { height: 1n, epoch: 0n, timestampUsec: 6n }
  const writes: Write[] = [[resourceGroupKey(ADDRESS, parseStructTag(`${HOME}::groups::TheGroupOfTheMarkers`)), group]]
  await engine.commit([{ version: 1n, block, writes }], { chainId: 4n })
  const get = ask(engine)
  const types = (JSON.parse((await get(`/accounts/${HOME}/resources`)).body) as { type: string }[]).map(
    ({ type }) => type,
  )
  expect(types).toEqual([marker(0), marker(1), marker(0)])
  const map = new ByteWriter().uleb128(2).bytes(structTagToBytes(tag)).byteString(member)
  map.bytes(structTagToBytes(parseStructTag(marker(1)))).byteString(Uint8Array.of(1, 0))
  const { rawPayload } = await get(`/accounts/${HOME}/resources`, { accept: 'application/x-bcs' })
  expect(bytesToHex(rawPayload)).toBe(bytesToHex(map.toBytes()))
})

describe('a page', () => {
  it('ends sooner than its limit if its items are large', async () => {
    const size = MAX_PAGE_BYTES / 8
    const get = ask(await engineWith(new Array(7).fill(size)))
    const bcs = { accept: 'application/x-bcs' }
    // A byte is two hex digits in JSON, so four resources fill a page; all seven fit into one of BCS.
    const first = await get(`/accounts/${HOME}/resources`)
    expect(JSON.parse(first.body)).toHaveLength(4)
    const second = await get(`/accounts/${HOME}/resources?start=${first.headers['x-svc-cursor']}`)
    expect(JSON.parse(second.body)).toHaveLength(3)
    expect(second.headers).not.toHaveProperty('x-svc-cursor')
    const whole = await get(`/accounts/${HOME}/resources`, bcs)
    expect([whole.rawPayload[0], whole.headers['x-svc-cursor']]).toEqual([7, undefined])
  })

  it('lets small requests have their turn, and reads one state all the while', async () => {
    const engine = await engineWith(new Array(2_000).fill(2_000))
    const get = ask(engine)
    let isListed = false
    let answersBetween = 0
    const listing = get(`/accounts/${HOME}/resources`).then((answer) => {
      isListed = true
      return answer
    })
    while (!isListed) {
      await get('/accounts/0x1/balance/0xa')
      if (!isListed) answersBetween++
      // The answer comes without a turn of the event loop.
      await new Promise(setImmediate)
    }
    expect(JSON.parse((await listing).body)).toHaveLength(2_000)
    expect(answersBetween).toBeGreaterThan(1)
  })

  it('is 503 if all that are being built would hold too much', async () => {
    const get = ask(await engineWith(new Array(1_000).fill(2_000)), { maxAnswerBytes: 10_000_000 })
    const url = `/accounts/${HOME}/resources`
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => get(url)))).map(({ statusCode }) => statusCode)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    await eventually(
      async () => (await get(url)).statusCode === 200,
      () => 'a page to be answered once the others are gone',
    )
  })

  it('is 410 as a whole if the pruner overtakes it', async () => {
    const engine = await engineWith([1, 1, 1])
    await engine.commit([{ version: 1n, block: { height: 1n, epoch: 0n, timestampUsec: 6n }, writes: [] }], {
      chainId: 4n,
    })
    const overtaken = overriding<StateReader>(engine, {
      at(version) {
        const view = engine.at(version)
        return {
          ...view,
          *scan(prefix, options) {
            for (const entry of view.scan(prefix, options)) {
              yield entry
              void engine.prune(1n)
            }
          },
        }
      },
    })
    const { statusCode, body } = await ask(overtaken)(`/accounts/${HOME}/resources?ledger_version=0`)
    expect([statusCode, JSON.parse(body)]).toMatchObject([410, { error_code: 'version_pruned' }])
  })
})

describe('a module', () => {
  it('has the ABI null if its bytes are not a module', async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const writes: Write[] = [[moduleKey(ADDRESS, 'broken'), Uint8Array.of(1, 2)]]
    await engine.commit([{ version: 0n, block, writes }], { chainId: 4n })
    const { statusCode, body } = await ask(engine)(`/accounts/${HOME}/module/broken`)
    expect([statusCode, body]).toEqual([200, '{"bytecode":"0x0102","abi":null}'])
  })

  it('is named by its own kind', async () => {
    const get = ask(await engineWith([1]))
    for (const name of ['_', '$', '1a', 'a-b', 'a::b', 'ä']) {
      expect((await get(`/accounts/${HOME}/module/${encodeURIComponent(name)}`)).statusCode, name).toBe(400)
    }
    for (const name of ['_a', '$1', 'a_$1']) {
      expect((await get(`/accounts/${HOME}/module/${encodeURIComponent(name)}`)).statusCode, name).toBe(404)
    }
    expect((await get(`/accounts/${HOME}/module/m10`)).statusCode).toBe(200)
  })
})

describe('a block whose hash the state does not tell', () => {
  it('has JSON with null, and no BCS', async () => {
    const engine = await engineWith([1])
    await engine.commit([{ version: 1n, block: { height: 1n, epoch: 0n, timestampUsec: 6n }, writes: [] }], {
      chainId: 4n,
    })
    const get = ask(engine)
    const genesis = await get('/blocks/by_height/0', { accept: 'application/x-bcs' })
    expect(genesis.rawPayload).toHaveLength(65)
    expect((await get('/blocks/by_version/1')).body).toBe(
      '{"block_height":"1","block_hash":null,"block_timestamp":"6","first_version":"1","last_version":"1","transactions":null}',
    )
    const { statusCode, body } = await get('/blocks/by_height/1', { accept: 'application/x-bcs' })
    expect([statusCode, JSON.parse(body)]).toEqual([
      404,
      { error_code: 'block_not_found', message: expect.stringContaining('does not contain its hash') },
    ])
  })
})

it('a stored account that cannot be read is 500 in JSON, and its bytes in BCS', async () => {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const writes: Write[] = [[resourceKey(ADDRESS, parseStructTag('0x1::account::Account')), Uint8Array.of(9)]]
  await engine.commit([{ version: 0n, block, writes }], { chainId: 4n })
  const get = ask(engine)
  expect((await get(`/accounts/${HOME}`)).statusCode).toBe(500)
  expect(bytesToHex((await get(`/accounts/${HOME}`, { accept: 'application/x-bcs' })).rawPayload)).toBe('0x09')
})
