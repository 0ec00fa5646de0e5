import type { Write } from '@ledger-state/core'
import { engineToAsync, type StateWriter } from '@ledger-state/engine'
import { createAsyncLedger, createLedger, type ViewReport } from '@ledger-state/ledger'
import { HELD, HOLDERS, u64, viewLedger } from '@ledger-state/ledger/testing/view-ledger'
import { resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'
import type { RequestListenerOptions } from '../server/request-listener-options.js'

const HOLDER_KEY = resourceKey(HOLDERS[0]!, HELD)
const VALUE = { function: '0x42::main::value', type_arguments: [], arguments: ['0xa1'] }
const PARITY = { function: '0x42::main::parity_of_time', type_arguments: [], arguments: [] }
const POINT = { function: '0x42::main::point', type_arguments: [], arguments: [] }

/**
 * Values 5, 5, 6, none and 7 at versions 1 to 5; the five later versions write none. Every third version begins a
 * block.
 */
const VALUES = [u64(5), u64(5), u64(6), null, u64(7)]
const smallLedger = () =>
  viewLedger(0n, [...VALUES.map((value): Write[] => [[HOLDER_KEY, value]]), ...Array<Write[]>(5).fill([])])

function ask(engine: StateWriter, options: Partial<RequestListenerOptions> = {}) {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    ...options,
  })
  return (query: string, body: object, headers: Record<string, string> = {}, path = '/view/history') =>
    inject(listener, {
      method: 'POST',
      url: `/v1${path}${query}`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    })
}

interface Entry {
  readonly version: string
  readonly timestamp: string | null
  readonly values?: readonly unknown[]
  readonly error?: { readonly message: string; readonly vm_error_code?: number }
}

async function entries(asked: Promise<{ readonly statusCode: number; readonly body: string }>): Promise<Entry[]> {
  const { statusCode, body } = await asked
  expect([statusCode, body]).toEqual([200, expect.any(String)])
  return JSON.parse(body) as Entry[]
}

describe('POST /v1/view/history', () => {
  it('lists the versions at which the answer changed, with errors, and the writes that caused the changes', async () => {
    for (const over of ['memory', 'another machine']) {
      const engine = await smallLedger()
      const reports: ViewReport[] = []
      const post = ask(engine, {
        ledger: over === 'memory' ? createLedger(engine) : createAsyncLedger(engineToAsync(engine)),
        onView: (report) => reports.push(report),
      })
      const answer = await post('', VALUE)
      const absent = {
        message: expect.stringContaining('Failed to borrow'),
        error_code: 'invalid_input',
        vm_error_code: 4008,
      }
      expect(JSON.parse(answer.body)).toEqual([
        { version: '5', timestamp: '1000000', values: ['7'] },
        { version: '4', timestamp: '1000000', error: absent },
        { version: '3', timestamp: '1000000', values: ['6'] },
        { version: '1', timestamp: '0', values: ['5'] },
        { version: '0', timestamp: '0', error: absent },
      ])
      expect(answer.headers).toMatchObject({
        'x-svc-exact': 'true',
        'x-svc-complete': 'true',
        'x-svc-depends-on-clock': 'false',
        'x-svc-unchanged': '1',
        'x-svc-step-keys': '0x00000000000000000000000000000000000000000000000000000000000000a1/0x42::main::R=5'.replace(
          /0{60,}/,
          '',
        ),
        'x-svc-ledger-version': '10',
      })
      // A run at the latest version, and one before each of the five writes, each reported once.
      expect(reports).toHaveLength(6)
      const ascending = await entries(post('?order=asc', VALUE))
      expect(ascending).toEqual((JSON.parse(answer.body) as Entry[]).toReversed())
    }
  })

  it.each(['asc', 'desc'])('is 410 from a cursor at or below the oldest version, in the order %s', async (order) => {
    const engine = await smallLedger()
    const post = ask(engine)
    await engine.prune(4n)
    for (const start of order === 'asc' ? [0, 3, 4] : [0, 3]) {
      for (let again = 0; again < 2; again++) {
        const { statusCode, body } = await post(`?order=${order}&start=${start}.0`, VALUE)
        expect([start, statusCode, JSON.parse(body).error_code]).toEqual([start, 410, 'version_pruned'])
      }
    }
    const whole = ask(await smallLedger())
    expect((await whole('?order=asc&start=0.0', VALUE)).statusCode).toBe(410)
  })

  it('is the same in pages, within a range, and after a prune', async () => {
    const engine = await smallLedger()
    const post = ask(engine)
    const all = await entries(post('', VALUE))
    for (const order of ['asc', 'desc']) {
      const found: Entry[] = []
      for (let start = ''; ; ) {
        const page = await post(`?order=${order}&limit=1${start}`, VALUE)
        found.push(...(await entries(Promise.resolve(page))))
        const cursor = page.headers['x-svc-cursor']
        if (cursor === undefined) break
        start = `&start=${String(cursor)}`
      }
      expect(order === 'desc' ? found : found.toReversed()).toEqual(all)
    }
    expect(await entries(post('?from=2&to=4', VALUE))).toEqual(all.slice(1, 3))
    expect(await entries(post('?to=1970-01-01T00:00:00.5Z', VALUE))).toEqual(all.slice(3))
    await engine.prune(5n)
    const kept = await entries(post('', VALUE))
    expect(kept.map(({ version, timestamp }) => [version, timestamp])).toEqual([['5', null]])
  })

  it('answers as CSV, with a column for each result, and JSON in quotes if a result is not a scalar', async () => {
    const post = ask(await smallLedger())
    const csv = await post('?from=3', VALUE, { accept: 'text/csv' })
    const absent = JSON.parse((await post('?from=4&to=4', VALUE)).body) as Entry[]
    expect(csv.headers['content-type']).toMatch('text/csv')
    expect(csv.body.split('\r\n')).toEqual([
      'version,timestamp,time,result,error',
      '5,1000000,1970-01-01T00:00:01Z,7,',
      `4,1000000,1970-01-01T00:00:01Z,,"${absent[0]!.error!.message.replaceAll('"', '""')}"`,
      '3,1000000,1970-01-01T00:00:01Z,6,',
      '',
    ])
    const point = await post('', POINT, { accept: 'text/csv' })
    expect(point.body.split('\r\n')[1]).toBe('0,0,1970-01-01T00:00:00Z,"{""x"":""1""}",')
  })

  it('shows points in time or by versions instead, and leaves the clock out on request', async () => {
    const post = ask(await smallLedger())
    const everySecond = await post('?every=2s&order=asc', VALUE)
    expect(everySecond.headers['x-svc-exact']).toBe('false')
    const seen = (await entries(Promise.resolve(everySecond))).map(({ version, timestamp, values }) => [
      version,
      timestamp,
      values?.[0],
    ])
    expect(seen).toEqual([
      ['2', '0', '5'],
      ['5', '2000000', '7'],
      ['8', '4000000', '7'],
      ['8', '6000000', '7'],
      ['8', '8000000', '7'],
    ])
    const samples = await entries(post('?samples=3', VALUE))
    expect(samples.map(({ version }) => version)).toEqual(['10', '5', '0'])
    const clock = await post('', PARITY)
    expect(clock.headers).toMatchObject({ 'x-svc-depends-on-clock': 'true', 'x-svc-exact': 'true' })
    expect(clock.headers['x-svc-step-keys']).toBe('0x1/0x1::timestamp::CurrentTimeMicroseconds=3')
    const sampled = await post('?ignore=clock', PARITY)
    expect(sampled.headers).toMatchObject({ 'x-svc-depends-on-clock': 'true', 'x-svc-exact': 'false' })
    expect(await entries(Promise.resolve(sampled))).toHaveLength(1)
  })

  it('has the same evenly spaced points in pages, although the ledger grows between them', async () => {
    for (const query of ['?samples=5', '?samples=5&order=asc', '?samples=4&from=2&to=1970-01-01T00:00:09Z']) {
      const engine = await smallLedger()
      const post = ask(engine)
      const expected = await entries(post(query, VALUE))
      const pages: Entry[] = []
      let cursor: unknown
      do {
        const page = await post(`${query}&limit=2${cursor === undefined ? '' : `&start=${String(cursor)}`}`, VALUE)
        pages.push(...(await entries(Promise.resolve(page))))
        expect(page.headers['x-svc-read-version'], query).toBe(query.includes('to=') ? '10' : undefined)
        cursor = page.headers['x-svc-cursor']
        const { chainId, latestVersion, latestBlock } = engine.ledger!
        const block = { ...latestBlock, height: latestBlock.height + 1n }
        await engine.commit([{ version: latestVersion + 1n, block, writes: [[HOLDER_KEY, u64(9)]] }], { chainId })
      } while (cursor !== undefined)
      expect(pages, query).toEqual(expected)
    }
  })

  it('names the versions that were cut off between the pages of evenly spaced points', async () => {
    for (const query of ['?samples=5', '?samples=5&order=asc', '?samples=5&to=1970-01-01T00:00:09Z']) {
      const engine = await smallLedger()
      const post = ask(engine)
      const first = await post(`${query}&limit=2`, VALUE)
      await engine.truncateTo(6n)
      const second = await post(`${query}&limit=2&start=${String(first.headers['x-svc-cursor'])}`, VALUE)
      const message = 'Ledger version(7) was cut off by a truncation'
      expect([second.statusCode, second.json()], query).toMatchObject([404, { message }])
    }
  })

  it('has the points in time at and between two times, with or without a block at each', async () => {
    const post = ask(await smallLedger())
    const time = (second: number) => `1970-01-01T00:00:0${second}Z`
    const points = async (from: number, to: number, order: string) => {
      const found = await entries(post(`?every=1s&order=${order}&from=${time(from)}&to=${time(to)}`, VALUE))
      return found.map(({ version, timestamp }) => `${Number(timestamp) / 1e6}s ${version}`)
    }
    // Blocks begin at seconds 0, 1, 4 and 9, with versions 0, 3, 6 and 9.
    const expected = ['3s 5', '4s 8', '5s 8', '6s 8']
    expect(await points(3, 6, 'asc')).toEqual(expected)
    expect(await points(3, 6, 'desc')).toEqual(expected.toReversed())
    expect(await points(6, 6, 'asc')).toEqual(['6s 8'])
  })

  it('refuses a time after now as the first one, and names it', async () => {
    const { statusCode, body } = await ask(await smallLedger())('?from=2999-01-01', VALUE)
    const time = Date.parse('2999-01-01') * 1_000
    expect([statusCode, body]).toEqual([404, expect.stringContaining(`Ledger timestamp(${time}): this time is in the`)])
  })

  it.each([
    ['?every=1', 'duration'],
    ['?every=1d&samples=5', 'both'],
    ['?samples=1', '2 to'],
    ['?ignore=time', 'clock'],
    ['?start=5', 'cursor'],
    ['?start=5.x', 'cursor'],
    ['?from=9&to=3', 'above'],
    ['?evry=1d', 'every'],
  ])('refuses %s, and says %s', async (query, text) => {
    const answer = await ask(await smallLedger())(query, VALUE)
    expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining(text)])
  })

  it('keeps to the switch and the filter of views', async () => {
    const engine = await smallLedger()
    expect((await ask(engine, { views: false })('', VALUE)).statusCode).toBe(403)
    const blocked = { viewFilter: { kind: 'block', names: ['0x42'] } } as const
    expect((await ask(engine, blocked)('', VALUE)).statusCode).toBe(403)
  })

  it('refuses a page after a truncation that cut off versions of the page before', async () => {
    const engine = await smallLedger()
    const post = ask(engine)
    const cursorOf = async (query: string) => String((await post(query, VALUE)).headers['x-svc-cursor'])
    const latest = `?start=${await cursorOf('?limit=2')}`
    const start = `?to=8&start=${await cursorOf('?to=8&limit=2')}`
    await engine.truncateTo(8n)
    expect(await entries(post(start, VALUE))).toHaveLength(3)
    // The changes at versions 9 and 10, which replace the old ones, would be missing.
    expect((await post(latest, VALUE)).statusCode).toBe(404)
    // A cursor of an earlier release has no version.
    expect((await post('?to=8&start=3.0', VALUE)).statusCode).toBe(404)
    expect(await entries(post('?to=8&start=3.1', VALUE))).toHaveLength(3)
    await engine.truncateTo(2n)
    expect((await post(start.replace('to=8&', ''), VALUE)).statusCode).toBe(404)
  })

  it('refuses a page of points in time after a truncation below its first point, and after no other', async () => {
    for (const headers of [{ accept: 'application/json' }, { accept: 'text/csv' }]) {
      const engine = await smallLedger()
      const post = ask(engine)
      const query = '?every=2s&order=asc&limit=1'
      const cursor = String((await post(query, VALUE, headers)).headers['x-svc-cursor'])
      expect(cursor).toBe('2000000.0.6')
      await engine.truncateTo(8n)
      const again = await post(`${query}&start=${cursor}`, VALUE, headers)
      expect([again.statusCode, again.body]).toEqual([200, expect.stringContaining('2000000')])
      await engine.truncateTo(2n)
      expect((await post(`${query}&start=${cursor}`, VALUE, headers)).statusCode).toBe(404)
    }
  })

  it('ends a page once its runs have used up the budget of one request, and continues from there', async () => {
    const values = Array.from({ length: 50 }, (_, at): Write[] => [[HOLDER_KEY, u64(at)]])
    // One such view takes about 80 instructions, including its compilation.
    const post = ask(await viewLedger(0n, values), { viewBudget: { instructions: 160 } })
    let pages = 0
    const found: Entry[] = []
    for (let start = ''; ; pages++) {
      const page = await post(start, VALUE)
      found.push(...(await entries(Promise.resolve(page))))
      if (page.headers['x-svc-cursor'] === undefined) break
      start = `?start=${String(page.headers['x-svc-cursor'])}`
    }
    expect(found).toHaveLength(51)
    expect(pages).toBeGreaterThan(3)
    const element = { path: '/v1/view/history', body: VALUE }
    const batch = await post('', { requests: Array(30).fill(element) }, {}, '/batch')
    const statuses = (JSON.parse(batch.body) as { status: number }[]).map(({ status }) => status)
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 400])
  })
})
