import { addressToShortHex, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createLedger, primaryStoreAddress } from '@ledger-state/ledger'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import {
  decodeStateKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  typeTagToText,
  writeStructTag,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRequestListener } from '../../server/create-request-listener.js'

interface BalanceChange {
  readonly version: string
  readonly timestamp: string | null
  readonly balance: string
}

const COIN = '0x1::aptos_coin::AptosCoin'
const OWNER = '0xcafe'
const STORE = resourceKey(parseAddress(OWNER), parseStructTag(`0x1::coin::CoinStore<${COIN}>`))
const TABLE_KEY = tableItemKey(parseAddress('0x7'), Uint8Array.of(1))
const HISTORY = `/accounts/${OWNER}/balance/${COIN}/history`
/** 2026-01-31T00:00:00Z, in microseconds. */
const START = 1_769_817_600_000_000n
const SECOND = 1_000_000n

function coinStore(value: bigint): Uint8Array {
  const writer = new ByteWriter().u64(value).bool(false)
  for (let handle = 0; handle < 2; handle++) writer.u64(0n).u64(0n).bytes(new Uint8Array(32))
  return writer.toBytes()
}

/** A ledger with a version each second. The balance changes at 2, 4, 5 (to nothing), 7 and 8. */
async function smallLedger(): Promise<ReturnType<typeof createMemoryEngine>> {
  const engine = createMemoryEngine()
  const writes: Readonly<Record<number, Write[]>> = {
    2: [[STORE, coinStore(10n)]],
    3: [[TABLE_KEY, Uint8Array.of(7)]],
    4: [[STORE, coinStore(20n)]],
    5: [[STORE, null]],
    6: [[TABLE_KEY, null]],
    7: [[STORE, coinStore(2n ** 64n - 1n)]],
    8: [[STORE, coinStore(1n)]],
  }
  for (let at = 0; at < 10; at++) {
    const block = { height: BigInt(at), epoch: 0n, timestampUsec: START + BigInt(at) * SECOND }
    await engine.commit([{ version: BigInt(at), block, writes: writes[at] ?? [] }], { chainId: 4n })
  }
  return engine
}

function ask(engine: StateReader) {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return (url: string, headers: Record<string, string> = {}, body?: object) =>
    inject(listener, {
      method: body ? 'POST' : 'GET',
      url: `/v1${url}`,
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { payload: JSON.stringify(body) }),
    })
}

const time = (version: bigint) => `"timestamp":"${START + version * SECOND}"`
const changeAt = (version: bigint, balance: bigint) =>
  `{"version":"${version}",${time(version)},"balance":"${balance}"}`
const ALL = [changeAt(8n, 1n), changeAt(7n, 2n ** 64n - 1n), changeAt(5n, 0n), changeAt(4n, 20n), changeAt(2n, 10n)]

describe('the history of a balance', () => {
  let engine: Awaited<ReturnType<typeof smallLedger>>
  let get: ReturnType<typeof ask>
  beforeAll(async () => {
    engine = await smallLedger()
    get = ask(engine)
  })

  it('lists its changes, the newest first or the oldest first', async () => {
    const newest = await get(HISTORY)
    expect([newest.statusCode, newest.body]).toEqual([200, `[${ALL.join(',')}]`])
    expect([newest.headers['x-svc-complete'], newest.headers['x-svc-cursor']]).toEqual(['true', undefined])
    expect((await get(`${HISTORY}?order=asc`)).body).toBe(`[${ALL.toReversed().join(',')}]`)
  })

  it('comes in pages, in either order', async () => {
    for (const order of ['desc', 'asc']) {
      const items: unknown[] = []
      let pages = 0
      for (let start = ''; ; pages++) {
        const { headers, body } = await get(`${HISTORY}?order=${order}&limit=2${start}`)
        items.push(...(JSON.parse(body) as unknown[]))
        if (headers['x-svc-cursor'] === undefined) break
        start = `&start=${headers['x-svc-cursor']}`
      }
      const all = ALL.map((one) => JSON.parse(one) as unknown)
      expect([pages, items]).toEqual([2, order === 'desc' ? all : all.toReversed()])
    }
  })

  it('keeps to a range of versions or times, both ends included', async () => {
    const middle = `[${ALL.slice(1, 4).join(',')}]`
    for (const range of [
      'from=4&to=7',
      'from=3&to=7',
      'from=2026-01-31T00:00:04Z&to=2026-01-31T00:00:07Z',
      'from=2026-01-31T00:00:03.5Z&to=2026-01-31T00:00:07.9Z',
    ]) {
      expect((await get(`${HISTORY}?${range}`)).body, range).toBe(middle)
    }
    expect((await get(`${HISTORY}?from=9`)).body).toBe('[]')
  })

  it('is sampled for a curve: at most the number of points asked for, with every extreme of the range', async () => {
    const all = ALL.map((one) => JSON.parse(one) as unknown)
    expect(JSON.parse((await get(`${HISTORY}?points=100`)).body)).toEqual(all)
    expect((await get(`${HISTORY}?points=4`)).body).toBe(`[${ALL.filter((_, at) => at !== 3).join(',')}]`)
    const csv = await get(`${HISTORY}?points=4&order=asc`, { accept: 'text/csv' })
    expect(csv.body.split('\r\n')).toHaveLength(6)
    for (const points of ['3', '10001', 'x']) expect((await get(`${HISTORY}?points=${points}`)).statusCode).toBe(400)
  })

  // Slow: it writes 100,100 versions.
  it.runIf(isSlowRun)(
    'of more changes than one answer reads is sampled in several, which together have every extreme',
    async () => {
      const engine = createMemoryEngine()
      const count = 100_100
      const balanceAt = (at: number) =>
        at === 70_000 ? 10n ** 9n : at === 100_050 ? 0n : 1_000n + BigInt((at * 7_919) % 1_000)
      await engine.commit(
        Array.from({ length: count }, (_, at) => ({
          version: BigInt(at),
          block: at === 0 ? { height: 0n, epoch: 0n, timestampUsec: START } : undefined,
          writes: [[STORE, coinStore(balanceAt(at))] satisfies Write],
        })),
        { chainId: 4n },
      )
      const read = ask(engine)
      const first = await read(`${HISTORY}?points=40&order=asc`)
      const cursor = first.headers['x-svc-cursor']
      expect(cursor).toBe('100000.0.100099')
      // The parts of the curve stay where they are.
      await engine.commit([{ version: BigInt(count), writes: [[STORE, coinStore(5n)]] }], { chainId: 4n })
      const second = await read(`${HISTORY}?points=40&order=asc&start=${cursor}`)
      expect(second.headers['x-svc-cursor']).toBeUndefined()
      const pages = [first, second].map(({ body }) => JSON.parse(body) as BalanceChange[])
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(40)
      const seen = pages.flat().map(({ version, balance }) => `${version} ${balance}`)
      expect(seen).not.toContain(`${count} 5`)
      for (const at of [0, 70_000, 100_050, count - 1]) expect(seen).toContain(`${at} ${balanceAt(at)}`)
    },
  )

  it.each([
    ['from=4&to=2', '`from` is version 4, which is above version 2, given as `to`'],
    ['from=2026-01-31T00:00:04Z&to=2026-01-31', 'the time given as `from` is after the time given as `to`'],
    ['from=4&to=2026-01-31T00:00:02Z', '`from` is version 4, which is above version 2, given as `to`'],
    ['from=2026-01-31T00:00:04Z&to=2', '`from` is version 4, which is above version 2, given as `to`'],
  ])('is 400 of a range that ends before it begins: %s', async (range, message) => {
    for (const path of [HISTORY, HISTORY.replace(/balance.*/, 'changes')]) {
      const { statusCode, body } = await get(`${path}?${range}`)
      expect([statusCode, JSON.parse(body)]).toEqual([400, { error_code: 'invalid_input', message }])
    }
  })

  it('has pages of the largest size for larger limits up to 65,535, like the changes of an account', async () => {
    for (const path of [HISTORY, HISTORY.replace(/balance.*/, 'changes')]) {
      const statuses = await Promise.all(
        [10_000, 65_535, 65_536].map(async (limit) => (await get(`${path}?limit=${limit}`)).statusCode),
      )
      expect(statuses).toEqual([200, 200, 400])
    }
  })

  it('is empty between two blocks', async () => {
    const { statusCode, body } = await get(`${HISTORY}?from=2026-01-31T00:00:02.1Z&to=2026-01-31T00:00:02.2Z`)
    expect([statusCode, body]).toEqual([200, '[]'])
  })

  it('is CSV for those who ask for it', async () => {
    const lines = [
      `4,${START + 4n * SECOND},2026-01-31T00:00:04Z,20,`,
      `2,${START + 2n * SECOND},2026-01-31T00:00:02Z,10,`,
    ]
    for (const accept of [
      'text/csv',
      'text/csv, */*;q=0.5',
      'text/csv, application/json',
      'application/json;q=0.1, text/csv',
    ]) {
      const { headers, body } = await get(`${HISTORY}?to=4`, { accept })
      expect(headers['content-type'], accept).toBe('text/csv; charset=utf-8; header=present')
      expect(body).toBe(['version,timestamp,time,balance,error', ...lines, ''].join('\r\n'))
    }
    for (const accept of ['*/*', 'application/json, text/csv', 'text/csv;q=0']) {
      expect((await get(HISTORY, { accept })).headers['content-type'], accept).toContain('application/json')
    }
  })

  it.each([
    ['order=up', 400, 'web_framework_error'],
    ['from=x', 400, 'web_framework_error'],
    ['to=2026-13-01T00:00:00Z', 400, 'web_framework_error'],
    ['start=x', 400, 'web_framework_error'],
    ['limit=-1', 400, 'web_framework_error'],
    ['limit=0', 400, 'invalid_input'],
    ['to=10', 404, 'version_not_found'],
    ['to=9999-01-01T00:00:00Z', 404, 'version_not_found'],
    ['to=2026-01-30T23:59:59Z', 410, 'version_pruned'],
  ])('refuses %s: %i %s', async (query, status, code) => {
    const { statusCode, body } = await get(`${HISTORY}?${query}`)
    expect([statusCode, JSON.parse(body)]).toMatchObject([status, { error_code: code }])
  })

  it('says that it does not know the values below a window', async () => {
    const pruned = await smallLedger()
    await pruned.prune(5n)
    const below = ask(pruned)
    const { body, headers } = await below(HISTORY)
    expect([body, headers['x-svc-complete']]).toEqual([`[${ALL.slice(0, 2).join(',')}]`, 'true'])
    expect((await below(`${HISTORY}?from=2`)).headers['x-svc-complete']).toBe('false')
    expect((await below(`${HISTORY}?from=2026-01-31T00:00:02Z`)).headers['x-svc-complete']).toBe('false')
    expect((await below(`${HISTORY}?to=4`)).statusCode).toBe(410)
    // The change of this cursor was pruned meanwhile.
    expect((await below(`${HISTORY}?start=4`)).statusCode).toBe(410)
    expect((await below(`${HISTORY}?start=2&order=asc`)).statusCode).toBe(410)
    await pruned.prune(1n)
    const base = await below(HISTORY)
    expect(base.body).toBe('[{"version":"8","timestamp":null,"balance":"1"}]')
    expect((await below(`${HISTORY}?start=8`)).body).toBe(base.body)
  })
})

it('a history does not know the earlier values if the store has no base', async () => {
  const engine = createMemoryEngine()
  const block = { height: 5n, epoch: 0n, timestampUsec: START }
  await engine.commit([{ version: 5n, block, writes: [[STORE, coinStore(3n)]] }], { chainId: 4n })
  const { body, headers } = await ask(engine)(HISTORY, { origin: 'https://a.example' })
  expect([JSON.parse(body), headers['x-svc-complete']]).toMatchObject([[{ version: '5', balance: '3' }], 'false'])
  expect(headers['access-control-expose-headers']).toContain('x-svc-complete')
})

it('the changes of an account include its primary stores, even those of requested assets', async () => {
  const owner = parseAddress(OWNER)
  const [apt, other] = [parseAddress('0xa'), parseAddress('0xb')]
  const write = (asset: Uint8Array, balance: bigint): Write => {
    const value = new ByteWriter().bytes(asset).u64(balance).bool(false).toBytes()
    const group = new ByteWriter().uleb128(1)
    writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
    const key = resourceGroupKey(primaryStoreAddress(owner, asset), parseStructTag('0x1::object::ObjectGroup'))
    return [key, group.byteString(value).toBytes()]
  }
  const engine = createMemoryEngine()
  for (const version of [0n, 1n]) {
    const block = { height: version, epoch: 0n, timestampUsec: START }
    await engine.commit([{ version, block, writes: [write(apt, version), write(other, version)] }], { chainId: 4n })
  }
  const get = ask(engine)
  const stores = async (query: string) =>
    (
      JSON.parse((await get(`/accounts/${OWNER}/changes?from=0${query}`)).body) as { address: string; asset: string }[]
    ).map(({ address, asset }) => [address, asset])
  const placed = (asset: Uint8Array) => [addressToShortHex(primaryStoreAddress(owner, asset)), addressToShortHex(asset)]
  expect(await stores('')).toEqual([placed(apt)])
  expect(await stores('&assets=0xb,0xa')).toEqual([placed(apt), placed(other)])
  for (const assets of ['0xz', '0xb,', Array.from({ length: 33 }, () => '0xb').join()]) {
    expect((await get(`/accounts/${OWNER}/changes?assets=${assets}`)).statusCode).toBe(400)
  }
})

describe('histories of values', () => {
  it('have null if it was deleted', async () => {
    const get = ask(await smallLedger())
    const deletion = `{"version":"6",${time(6n)},"value":null}`
    const raw = await get('/tables/0x7/raw_item/history', {}, { key: '01' })
    expect(raw.body).toBe(`[${deletion},{"version":"3",${time(3n)},"value":"0x07"}]`)
    const item = { key_type: 'u8', value_type: 'u8', key: 1 }
    const typed = await get('/tables/0x7/item/history', {}, item)
    expect(typed.body).toBe(`[${deletion},{"version":"3",${time(3n)},"value":7}]`)
    expect(typed.headers['x-svc-complete']).toBe('true')
    expect((await get('/tables/0x7/item/history', {}, { ...item, key: 'x' })).statusCode).toBe(400)
  })

  it('continue past values of another type than the requested one, and say so as the read does', async () => {
    const engine = createMemoryEngine()
    const stored = [Uint8Array.of(1, 7), Uint8Array.of(2, 7), Uint8Array.of(0)]
    for (const [at, bytes] of stored.entries()) {
      const block = { height: BigInt(at), epoch: 0n, timestampUsec: START + BigInt(at) * SECOND }
      await engine.commit([{ version: BigInt(at), block, writes: [[TABLE_KEY, bytes]] }], { chainId: 4n })
    }
    const get = ask(engine)
    const item = { key_type: 'u8', value_type: 'vector<u8>', key: 1 }
    const read = await get('/tables/0x7/item?ledger_version=1', {}, item)
    expect(read.statusCode).toBe(400)
    const { statusCode, body } = await get('/tables/0x7/item/history', {}, item)
    expect(statusCode).toBe(200)
    expect(JSON.parse(body)).toEqual([
      { version: '2', timestamp: String(START + 2n * SECOND), value: '0x' },
      { version: '1', timestamp: String(START + SECOND), error: JSON.parse(read.body) as unknown },
      { version: '0', timestamp: String(START), value: '0x07' },
    ])
  })

  it('lists the items of a table at a version', async () => {
    const get = ask(await smallLedger())
    expect((await get('/tables/0x7/items?ledger_version=3')).body).toBe(
      '{"key_type":null,"value_type":null,"found_in":null,"items":[{"raw_key":"0x01","raw_value":"0x07"}]}',
    )
    expect((await get('/tables/0x7/items?ledger_version=3&key_type=u8&value_type=u8')).body).toBe(
      '{"key_type":"u8","value_type":"u8","found_in":null,"items":[{"key":1,"value":7}]}',
    )
    expect(JSON.parse((await get('/tables/0x7/items')).body)).toMatchObject({ items: [] })
    expect((await get('/tables/0x7/items?key_type=u9')).statusCode).toBe(400)
  })
})

describe('the history of a balance that could not be read for a while', () => {
  const cut = Uint8Array.of(1, 2, 3)
  let get: ReturnType<typeof ask>
  beforeAll(async () => {
    const engine = createMemoryEngine()
    const stored = [coinStore(1n), cut, cut, coinStore(9n), coinStore(5n), Uint8Array.of(7), coinStore(2n)]
    for (const [at, bytes] of stored.entries()) {
      const block = { height: BigInt(at), epoch: 0n, timestampUsec: START + BigInt(at) * SECOND }
      await engine.commit([{ version: BigInt(at), block, writes: [[STORE, bytes]] }], { chainId: 4n })
    }
    get = ask(engine)
  })
  const errorAt = async (version: number): Promise<unknown> => {
    const { statusCode, body } = await get(`/accounts/${OWNER}/balance/${COIN}?ledger_version=${version}`)
    expect(statusCode).toBe(500)
    return JSON.parse(body)
  }

  it('has the error of the read since the version that caused it', async () => {
    const { statusCode, body, headers } = await get(HISTORY)
    expect([statusCode, headers['x-svc-cursor']]).toEqual([200, undefined])
    const [at5, at1] = [await errorAt(5), await errorAt(1)]
    expect(JSON.parse(body)).toMatchObject([
      { version: '6', balance: '2' },
      { version: '5', error: at5 },
      { version: '4', balance: '5' },
      { version: '3', balance: '9' },
      { version: '1', error: at1 },
      { version: '0', balance: '1' },
    ])
  })

  it('has no cursor that does not get past it', async () => {
    const first = await get(`${HISTORY}?limit=2`)
    expect(first.headers['x-svc-cursor']).toBe('4.0.6')
    const next = await get(`${HISTORY}?limit=3&start=4.0.6`)
    expect(JSON.parse(next.body)).toMatchObject([{ version: '4' }, { version: '3' }, { version: '1' }])
    expect((await get(`${HISTORY}?limit=3&start=1`)).statusCode).toBe(200)
  })

  it('has a column for errors in CSV, with the value left out', async () => {
    const { body } = await get(`${HISTORY}?order=asc&to=1`, { accept: 'text/csv' })
    const { message } = (await errorAt(1)) as { message: string }
    expect(body).toBe(
      `version,timestamp,time,balance,error\r\n0,${START},2026-01-31T00:00:00Z,1,\r\n1,${START + SECOND},2026-01-31T00:00:01Z,,"${message}"\r\n`,
    )
  })

  it('is sampled with the unreadable value instead of the first change of its bucket', async () => {
    const { body } = await get(`${HISTORY}?order=asc&points=4`)
    expect(JSON.parse(body)).toMatchObject([
      { version: '0', balance: '1' },
      { version: '1', error: await errorAt(1) },
      { version: '3', balance: '9' },
      { version: '6', balance: '2' },
    ])
  })

  it('leaves changes of the account readable', async () => {
    const { statusCode, body } = await get(`/accounts/${OWNER}/changes?from=0&to=1`)
    expect(statusCode).toBe(200)
    const [change] = JSON.parse(body) as Record<string, unknown>[]
    expect(change).toMatchObject({ before_error: { error_code: 'internal_error' }, after_error: {} })
  })
})

describe.skipIf(!hasSharedData)('histories over the fixture of balances', () => {
  it('show at each version the answer of the read, including errors, for every asset and resource', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('conformance/fixture.ndjson.gz'))
    const subjects = new Set<string>([`/accounts/${OWNER}/balance/0xa`, `/accounts/${OWNER}/balance/${COIN}`])
    for await (const record of source.versions()) {
      await engine.commit([record], { chainId: source.chainId! })
      for (const [key] of record.writes) {
        const decoded = decodeStateKey(key)
        if (decoded.kind !== 'resource') continue
        const account = `/accounts/0x${Buffer.from(decoded.address).toString('hex')}`
        subjects.add(`${account}/resource/${encodeURIComponent(typeTagToText(decoded.tag))}`)
        const [coin] = decoded.tag.typeArguments
        if (decoded.tag.name === 'CoinStore' && coin) {
          subjects.add(`${account}/balance/${encodeURIComponent(typeTagToText(coin))}`)
        }
      }
    }
    const get = ask(engine)
    const { oldestVersion, latestVersion } = engine.ledger!
    let unreadable = 0
    for (const subject of subjects) {
      const { statusCode, body } = await get(`${subject}/history?limit=1000`)
      expect(statusCode, subject).toBe(200)
      const changes = JSON.parse(body) as { version: string; balance?: string; value?: unknown; error?: unknown }[]
      unreadable += changes.filter(({ error }) => error).length
      const isBalance = subject.includes('/balance/')
      const versions = isSlowRun ? Number(latestVersion - oldestVersion) : 0
      const asked = new Set(changes.map((change) => BigInt(change.version)))
      for (let at = 0; at <= versions; at++) asked.add(oldestVersion + BigInt(at))
      for (const version of asked) {
        const read = await get(`${subject}?ledger_version=${version}`)
        const newest = changes.find((change) => BigInt(change.version) <= version)
        if (read.statusCode === 500) expect(newest?.error, `${subject} ${version}`).toEqual(JSON.parse(read.body))
        else if (isBalance) expect(newest?.balance ?? '0', `${subject} ${version}`).toBe(read.body)
        else if (read.statusCode === 404) expect(newest?.value ?? null).toBeNull()
        else expect(newest?.value).toEqual((JSON.parse(read.body) as { data: unknown }).data)
      }
    }
    expect(unreadable).toBeGreaterThan(20)
  })
})

describe.skipIf(!hasSharedData)('histories over the account fixture', () => {
  const engine = createMemoryEngine()
  const get = ask(engine)
  const resources: { address: string; type: string }[] = []
  const owners = new Set<string>()
  beforeAll(async () => {
    const source = await openSource(sharedPath('conformance/account-fixture.ndjson.gz'))
    const seen = new Set<string>()
    for await (const record of source.versions()) {
      await engine.commit([record], { chainId: source.chainId! })
      for (const [key] of record.writes) {
        const decoded = decodeStateKey(key)
        if (!('address' in decoded)) continue
        const address = `0x${Buffer.from(decoded.address).toString('hex')}`
        owners.add(address)
        if (decoded.kind !== 'resource' || seen.has(`${address}${typeTagToText(decoded.tag)}`)) continue
        seen.add(`${address}${typeTagToText(decoded.tag)}`)
        resources.push({ address, type: typeTagToText(decoded.tag) })
      }
    }
    await engine.prune(301n)
  })

  it('a resource at each version equals its entry in the history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.bigInt(100n, 400n), async (at, version) => {
        const { address, type } = resources[at % resources.length]!
        const path = `/accounts/${address}/resource/${encodeURIComponent(type)}`
        const read = await get(`${path}?ledger_version=${version}`)
        const history = await get(`${path}/history?limit=1&to=${version}`)
        expect(history.statusCode).toBe(200)
        const [newest] = JSON.parse(history.body) as { value?: unknown; error?: unknown }[]
        const answer = JSON.parse(read.body) as { data?: unknown }
        expect(newest?.value ?? undefined).toEqual(read.statusCode === 200 ? answer.data : undefined)
        expect(newest?.error).toEqual(read.statusCode === 500 ? answer : undefined)
      }),
    )
  })

  it('a balance at each version equals its entry in the history', async () => {
    for (const owner of owners) {
      const path = `/accounts/${owner}/balance/${COIN}`
      const changes = JSON.parse((await get(`${path}/history?limit=1000`)).body) as BalanceChange[]
      for (let version = 100n; version <= 400n; version += 25n) {
        const change = changes.find((one) => BigInt(one.version) <= version)
        expect((await get(`${path}?ledger_version=${version}`)).body).toBe(change?.balance ?? '0')
      }
    }
  })

  it('changes of an account are the differences between the lists of both versions', async () => {
    const list = async (address: string, version: bigint) => {
      const { body, statusCode } = await get(`/accounts/${address}/resources?ledger_version=${version}`)
      if (statusCode !== 200) return undefined
      return new Map((JSON.parse(body) as { type: string; data: unknown }[]).map(({ type, data }) => [type, data]))
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...owners),
        fc.bigInt(100n, 400n),
        fc.bigInt(100n, 400n),
        async (address, a, b) => {
          const [from, to] = a < b ? [a, b] : [b, a]
          const [before, after] = [await list(address, from), await list(address, to)]
          if (!before || !after) return
          const changed = new Map<string, unknown>()
          for (let start = ''; ; ) {
            const page = await get(`/accounts/${address}/changes?from=${from}&to=${to}&limit=3${start}`)
            expect(page.statusCode).toBe(200)
            for (const one of JSON.parse(page.body) as { type?: string; before: unknown; after: unknown }[]) {
              if (one.type === undefined) continue
              expect([one.before, one.after]).toEqual([before.get(one.type) ?? null, after.get(one.type) ?? null])
              changed.set(one.type, one)
            }
            if (page.headers['x-svc-cursor'] === undefined) break
            start = `&start=${page.headers['x-svc-cursor']}`
          }
          for (const type of new Set([...before.keys(), ...after.keys()])) {
            if (!changed.has(type)) expect(after.get(type)).toEqual(before.get(type))
          }
        },
      ),
    )
  })
})
