// A curve of a million changes, and lists of a hundred thousand items.
import type { StateEngine } from '@ledger-state/state-engine'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BUSY_ACCOUNT, BUSY_COIN, commitBusyCoin, openBusyCoinStore } from '../../testing/busy-coin.ts'
import { APT, ExplorerBed, type Page, shows } from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

/** Script that counts tasks above 50 ms, and frames that came more than half a frame late. */
const WATCH_FRAMES = `
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })
  window.frames = { drawn: 0, missed: 0 }
  let last
  requestAnimationFrame(function look(now) {
    if (last !== undefined) {
      window.frames.drawn++
      window.frames.missed += Math.max(0, Math.round((now - last) / (1_000 / 60)) - 1)
    }
    last = now
    requestAnimationFrame(look)
  })`

describe('a curve of a million changes', () => {
  const CHANGES = 1_000_000
  const PEAK = 567_891
  const balanceAt = (version: number): bigint =>
    version === PEAK ? 987_654_321n : 1_000_000n + BigInt((version * 7_919) % 500_000)
  let engine: StateEngine
  let address: string

  beforeAll(async () => {
    const store = bed.commands.at('busy')
    engine = await openBusyCoinStore(store, CHANGES, balanceAt)
    address = (await bed.commands.serve('serve', '--data-dir', store)).address
  })
  afterAll(() => engine.close())

  /** Numbers of points of the whole curves that the node sent. */
  function curvesOf(page: Page): { readonly points: number; readonly highest: bigint }[] {
    const curves: { points: number; highest: bigint }[] = []
    page.on('response', async (response) => {
      if (!response.url().includes('points=')) return
      const changes = (await response.json().catch(() => [])) as readonly { readonly balance: string }[]
      const highest = changes.reduce((most, { balance }) => (BigInt(balance) > most ? BigInt(balance) : most), 0n)
      curves.push({ points: changes.length, highest })
    })
    return curves
  }

  const pointsDrawn = async (page: Page): Promise<number> =>
    Number((await page.locator('.curve').getAttribute('aria-label'))!.replace(/\D/g, ''))

  it('draws a few thousand points, none of them twice, and loses no peak; brushed and zoomed it stays quick', async () => {
    const page = await bed.newPage(undefined, address)
    const curves = curvesOf(page)
    await page.goto(`${address}/balance/${BUSY_ACCOUNT}/${BUSY_COIN}?by=version`)
    await page.locator('.uplot canvas').waitFor()
    expect(await pointsDrawn(page)).toBeLessThanOrEqual(4_100)
    await expect.poll(() => curves.some(({ highest }) => highest === balanceAt(PEAK))).toBe(true)
    await page.evaluate(WATCH_FRAMES)
    const box = (await page.locator('.u-over').boundingBox())!
    const y = box.y + box.height / 2
    const place = (part: number): number => box.x + part * box.width
    await page.mouse.move(place(0.1), y)
    for (let step = 0; step < 120; step++) await page.mouse.move(place(0.1 + (0.8 * step) / 120), y)
    for (const [from, to] of [
      [0.5, 0.65],
      [0.3, 0.7],
    ] as const) {
      await page.mouse.move(place(from), y)
      await page.mouse.down()
      for (let step = 0; step <= 60; step++) await page.mouse.move(place(from + ((to - from) * step) / 60), y)
      const before = page.url()
      await page.mouse.up()
      await expect.poll(() => page.url()).not.toBe(before)
      await page.locator('section[aria-label=Curve][aria-busy=false]').waitFor()
      await expect.poll(() => pointsDrawn(page)).toBeGreaterThan(1_000)
      expect(await pointsDrawn(page)).toBeLessThanOrEqual(4_100)
    }
    expect(new URL(page.url()).searchParams.has('point')).toBe(false)
    const [frames, longTasks] = (await page.evaluate('[window.frames, window.longTasks]')) as [
      { readonly drawn: number; readonly missed: number },
      readonly number[],
    ]
    const longest = Math.round(Math.max(0, ...longTasks))
    console.log(
      `brush and zoom over ${CHANGES} changes: ${frames.drawn} frames drawn, ${frames.missed} missed, ${longTasks.length} tasks above 50 ms, the longest ${longest} ms; points: ${curves.map(({ points }) => points).join(', ')}`,
    )
  })

  it('shows new versions while it is open', async () => {
    const page = await bed.open(`/balance/${BUSY_ACCOUNT}/${BUSY_COIN}`, undefined, address)
    await page.locator('.uplot canvas').waitFor()
    await commitBusyCoin(engine, CHANGES, CHANGES + 100, () => 123_456_789n)
    await shows(page, '123\u2009456\u2009789')
    await page.locator('.change', { hasText: '1\u2009000\u2009000' }).waitFor()
  })
})

describe('the explorer', () => {
  const ITEMS = 100_000
  const json = (value: unknown) => ({ contentType: 'application/json', body: JSON.stringify(value) })
  const numbered = <T>(make: (at: number) => T): T[] => Array.from({ length: ITEMS }, (_, at) => make(at))

  /** Draws the list, goes to its end and back to its start, and expects few rows in the document. */
  async function scrollThrough(page: Page, first: string, count: number, inBox?: string): Promise<void> {
    const rows = page.locator('.long-list .rows > li')
    await page.locator('.long-list', { hasText: first }).first().waitFor()
    await expect.poll(() => rows.count()).toBeLessThan(150)
    const place = inBox ? `document.querySelector('${inBox}')` : 'document.scrollingElement'
    // Heights are known only for rows that were drawn, so the end moves as it comes near.
    const toEnd = (): Promise<unknown> => page.evaluate(`${place}.scrollTo(0, ${place}.scrollHeight)`)
    await expect
      .poll(async () => {
        await toEnd()
        return await page.locator(`[aria-posinset="${count}"]`).count()
      })
      .toBeGreaterThan(0)
    await expect.poll(() => rows.count()).toBeLessThan(150)
    await page.evaluate(`${place}.scrollTo(0, 0)`)
    await page.locator('.long-list', { hasText: first }).first().waitFor()
  }

  it('lists a hundred thousand changes of a balance', async () => {
    const page = await bed.newPage()
    const changes = numbered((at) => ({
      version: String(ITEMS - at),
      timestamp: String(1_735_689_600_000_000 - at * 1_000_000),
      balance: String((at * 7_919) % 1_000_003),
    }))
    await page.route('**/history?limit=1000', (route) => route.fulfill(json(changes)))
    await page.goto(`${bed.address}/balance/0xa11ce/${APT}`)
    await shows(page, '100\u2009000 changes')
    await scrollThrough(page, 'version 100\u2009000', ITEMS, '.long-list-boxed')
  })

  it('lists a hundred thousand resources, one of them open', async () => {
    const page = await bed.newPage()
    const resources = numbered((at) => ({ type: `0x1::many::R${at}`, data: { number: String(at) } }))
    await page.route('**/resources?**', (route) => route.fulfill(json(resources)))
    await page.goto(`${bed.address}/account/0xa11ce/resources`)
    await page.getByText('0x1::many::R3', { exact: true }).click()
    await page.locator('details[open]', { hasText: '0x1::many::R3' }).waitFor()
    await scrollThrough(page, '0x1::many::R0', ITEMS)
    await page.locator('details.card[open]', { hasText: '0x1::many::R3' }).waitFor()
  })

  it('lists a hundred thousand modules', async () => {
    const page = await bed.newPage()
    const abi = { address: '0x1', friends: [], exposed_functions: [], structs: [] }
    const modules = numbered((at) => ({ bytecode: '0x', abi: { ...abi, name: `module_${at}` } }))
    await page.route('**/modules?**', (route) => route.fulfill(json(modules)))
    await page.goto(`${bed.address}/account/0xa11ce/modules`)
    await scrollThrough(page, 'module_0', ITEMS)
  })

  it('lists a hundred thousand items of a table', async () => {
    const page = await bed.newPage()
    const items = numbered((at) => ({ key: String(at), value: { text: `value ${at}` } }))
    const body = { key_type: 'u64', value_type: '0x1::m::V', found_in: null, items }
    await page.route('**/items?**', (route) => route.fulfill(json(body)))
    await page.goto(`${bed.address}/table/0x7ab1e2`)
    await scrollThrough(page, 'value 0', ITEMS)
  })

  it('lists a hundred thousand changes of an account', async () => {
    const page = await bed.newPage()
    const changes = numbered((at) => ({ type: `0x1::many::R${at}`, before: { a: '1' }, after: { a: '2' } }))
    await page.route('**/changes?**', (route) => route.fulfill(json(changes)))
    await page.goto(`${bed.address}/account/0xa11ce/changes`)
    await scrollThrough(page, '0x1::many::R0', ITEMS)
  })

  it('lists a hundred thousand changes of a resource', async () => {
    const page = await bed.newPage()
    const changes = numbered((at) => ({ version: String(ITEMS - at), timestamp: null, value: { a: String(at) } }))
    await page.route('**/history?limit=20', (route) => route.fulfill(json(changes)))
    await page.goto(`${bed.address}/resource/0xa11ce/0x1::account::Account`)
    await scrollThrough(page, 'version 100\u2009000', ITEMS)
  })

  it('lists a hundred thousand members of a vector', async () => {
    const page = await bed.newPage()
    const body = { type: '0x1::many::V', data: { values: numbered((at) => `member ${at}`) } }
    await page.route(/\/resource\/[^/]*V$/, (route) => route.fulfill(json(body)))
    await page.goto(`${bed.address}/resource/0xa11ce/0x1::many::V`)
    await page.getByRole('button', { name: 'all 100000 members' }).click()
    await scrollThrough(page, 'member 0', ITEMS, '.long-list-boxed')
  })

  it('lists a hundred thousand balances, page after page as somebody scrolls', async () => {
    const page = await bed.newPage()
    await page.route('**/accounts/*/balances?**', (route) => {
      const start = Number(new URL(route.request().url()).searchParams.get('start') ?? 0)
      const holdings = Array.from({ length: 1_000 }, (_, at) => ({
        asset_type: `0x2::c${start + at}::Coin`,
        storage_id: `0x${(start + at).toString(16)}`,
        amount: '7',
        is_primary: true,
        is_frozen: false,
      }))
      const headers = start < 9_000 ? { 'x-svc-cursor': String(start + 1_000) } : undefined
      return route.fulfill({ ...json(holdings), ...(headers && { headers }) })
    })
    await page.goto(`${bed.address}/account/0xa11ce`)
    await scrollThrough(page, '0x2::c0::Coin', 10_000)
  })
})
