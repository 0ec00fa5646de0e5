// Each view in both widths and both themes.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import {
  EMPTY_VIEWS,
  EXPLORER_VIEWS,
  ExplorerBed,
  excessWidth,
  keepScreenshot,
  NARROW_DARK,
  NARROW_LIGHT,
  shows,
  WIDE_DARK,
  WIDE_LIGHT,
} from '../../testing/explorer-bed.ts'

const LOOKS = {
  'wide-light': WIDE_LIGHT,
  'wide-dark': WIDE_DARK,
  'narrow-light': NARROW_LIGHT,
  'narrow-dark': NARROW_DARK,
}

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

for (const [look, options] of Object.entries(LOOKS)) {
  it(`each view is drawn within its width, without findings of axe: ${look}`, async () => {
    const page = await bed.open('/', options)
    for (const { name, path, text } of [...EXPLORER_VIEWS, ...EMPTY_VIEWS]) {
      await page.goto(bed.address + path)
      await shows(page, text)
      await bed.settles(page)
      await keepScreenshot(page, `${name}-${look}`)
      expect([name, await accessibilityFindings(page)]).toEqual([name, []])
      expect([name, await excessWidth(page)]).toEqual([name, 0])
    }
  })

  it(`the uses of a type in all accounts are drawn within their width, without findings of axe: ${look}`, async () => {
    const page = await bed.open(
      '/module/0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15/bean',
      options,
    )
    await page.getByRole('button', { name: 'Search all accounts' }).click()
    await shows(page, 'keys seen')
    await bed.settles(page)
    await keepScreenshot(page, `uses-${look}`)
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await excessWidth(page)).toBe(0)
  })

  it(`the page of the operator is drawn within its width, without findings of axe: ${look}`, async () => {
    const page = await bed.open('/', options, bed.admin)
    await shows(page, 'reader-0')
    await shows(page, 'Caches in use')
    await keepScreenshot(page, `operators-${look}`)
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await excessWidth(page)).toBe(0)
  })
}

/**
 * Script that resolves with the time of the first paint in milliseconds. It does not poll, because the page's policy
 * refuses code that a poll evaluates.
 */
const FIRST_PAINT = `new Promise(resolve => new PerformanceObserver(paints => {
  const [first] = paints.getEntriesByName('first-contentful-paint')
  if (first) resolve(first.startTime)
}).observe({ type: 'paint', buffered: true }))`

it('the first view is drawn soon', async () => {
  const times: number[] = []
  for (let at = 0; at < 5; at++) {
    const page = await bed.open('/')
    await shows(page, 'Where to begin')
    times.push(Number(await page.evaluate(FIRST_PAINT)))
  }
  const [fastest, , median] = times.toSorted((a, b) => a - b)
  console.log(`first view drawn after ${Math.round(median!)} ms (median of 5, the fastest ${Math.round(fastest!)} ms)`)
})
