// The page while answers come, and while they do not, in a real browser.
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  EXPLORER_VIEWS,
  ExplorerBed,
  excessWidth,
  mainText,
  NARROW_LIGHT,
  type Page,
  shows,
  WIDE_DARK,
} from '../../testing/explorer-bed.ts'

const LEDGER = /\/v1(?:\/.*)?$/
const ACCOUNT = '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
const PHONE = { ...NARROW_LIGHT, viewport: { width: 390, height: 844 } }

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start('--max-lag', '60')
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

/** Script that notes each movement of drawn elements. */
const NOTE_MOVEMENTS = `
  globalThis.movements = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const moved = sources.map(({ node }) => (node?.outerHTML ?? node?.parentElement?.outerHTML ?? '').slice(0, 90))
      if (!hadRecentInput) movements.push(value.toFixed(4) + ' ' + moved.join(' | '))
    }
  }).observe({ type: 'layout-shift', buffered: true })`

/** Holds all requests of a page for the ledger, and lets them go on one by one, in a random order. */
async function answersInAnyOrder(page: Page, seed: number): Promise<void> {
  const random = createRandom(seed)
  const held: (() => void)[] = []
  await page.route(LEDGER, async (route) => {
    await new Promise<void>((resolve) => held.push(resolve))
    await route.continue().catch(() => {})
  })
  void (async () => {
    while (!page.isClosed()) {
      held.splice(random.below(Math.max(1, held.length)), 1)[0]?.()
      await page
        .evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        .catch(() => {})
    }
  })()
}

describe(`nothing moves while answers come in any order (TEST_SEED=${testSeed()})`, () => {
  for (const [look, options] of Object.entries({ phone: PHONE, wide: WIDE_DARK })) {
    for (const { name, path, text } of EXPLORER_VIEWS) {
      it(`${name}, ${look}`, async () => {
        const page = await bed.newPage(options)
        await page.addInitScript(NOTE_MOVEMENTS)
        await answersInAnyOrder(page, testSeed())
        await page.goto(bed.address + path)
        await shows(page, text)
        await bed.settles(page)
        expect(await page.evaluate('movements')).toEqual([])
        await page.unrouteAll({ behavior: 'ignoreErrors' })
      })
    }
  }
})

it('a click while the node is lost keeps the present view, says so, and is followed once the node answers', async () => {
  const page = await bed.open(ACCOUNT)
  await shows(page, '1\u2009399.002')
  await page.route(LEDGER, (route) => route.abort())
  await page.getByRole('link', { name: 'Resources' }).click()
  await shows(page, 'This page stays as it is')
  expect(await mainText(page)).toContain('1\u2009399.002')
  expect(new URL(page.url()).pathname).toBe(ACCOUNT)
  await page.unroute(LEDGER)
  await shows(page, 'last changed at version')
  expect(new URL(page.url()).pathname).toBe(`${ACCOUNT}/resources`)
})

it('values of a table of unknown types stay within the width of a phone', async () => {
  const page = await bed.open('/table/0x7ab1e2', PHONE)
  await shows(page, 'keys of an unknown type')
  await page.locator('.item-of-table').first().waitFor()
  await bed.settles(page)
  expect(await excessWidth(page)).toBe(0)
  const widest = await page
    .locator('.item-of-table .value-text')
    .evaluateAll((texts) => Math.max(...texts.map((text) => text.getBoundingClientRect().right)))
  expect(widest).toBeLessThanOrEqual(390)
})

it('names of an issuer that are very long stay within the width of a phone', async () => {
  const page = await bed.newPage(PHONE)
  const name = `\u202e${'W'.repeat(500)}`
  await page.route('**/resource/0x1::fungible_asset::Metadata**', (route) =>
    route.fulfill({ json: { type: 't', data: { name, symbol: name, decimals: 8 } } }),
  )
  await page.route('**/balances?**', async (route) => {
    const answer = await route.fetch()
    const held = (await answer.json()) as { metadata: object }[]
    await route.fulfill({
      response: answer,
      json: held.map((one) => ({ ...one, metadata: { name, symbol: name, decimals: 255 } })),
    })
  })
  for (const path of ['/asset/0xa', ACCOUNT, `${ACCOUNT}/activities`]) {
    await page.goto(bed.address + path)
    await shows(page, 'WWWW')
    await bed.settles(page)
    expect([path, await excessWidth(page)]).toEqual([path, 0])
  }
})

it('the labels of the time axis of a phone do not touch each other', async () => {
  const page = await bed.open('/', PHONE)
  await page.locator('.axis-times .tick').first().waitFor()
  await bed.settles(page)
  for (const axis of ['versions', 'times']) {
    const boxes = await page.locator(`.axis-${axis} .tick > span`).evaluateAll((labels) =>
      labels.map((label) => {
        const { left, right } = label.getBoundingClientRect()
        return { left, right }
      }),
    )
    expect(boxes.length).toBeGreaterThan(0)
    for (const [at, { left, right }] of boxes.entries()) {
      expect(left).toBeGreaterThanOrEqual(0)
      expect(right).toBeLessThanOrEqual(390)
      if (at > 0) expect(left).toBeGreaterThan(boxes[at - 1]!.right)
    }
  }
})

it('the page of the operator says why the node is not ready', async () => {
  const page = await bed.open('/', PHONE, bed.admin)
  await shows(page, /the newest block is \d+ d \d+ h old, max-lag is 60 s/)
  expect(await excessWidth(page)).toBe(0)
})
