// Views of the page in a real browser, against the real program on the demonstration ledger.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  APT,
  EMPTY_VIEWS,
  EXPLORER_VIEWS,
  ExplorerBed,
  excessWidth,
  NARROW_DARK,
  shows,
} from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
}, 120_000)
afterAll(() => bed.close())

/**
 * Views to draw: the first one, a curve, a form with its answer, a view function with its history, and a pruned
 * version.
 */
const SOME_VIEWS = new Set(['home', 'balance', 'item', 'view', 'pruned'])

// Many programs that drive a browser wait for this. An open stream counts as a request that is under way.
it('the network of a page that has loaded falls idle', async () => {
  const page = await bed.newPage()
  await page.goto(bed.address, { waitUntil: 'networkidle' })
  await shows(page, EXPLORER_VIEWS[0]!.text)
  await shows(page, 'Demonstration ledger (chain 94)')
  expect(await bed.closePages()).toEqual([])
})

// All views in both widths and both themes are tested in views.slow.test.ts.
it('views are drawn within the width of a phone', async () => {
  const views = [...EXPLORER_VIEWS, ...EMPTY_VIEWS].filter(({ name }) => SOME_VIEWS.has(name))
  expect(views).toHaveLength(SOME_VIEWS.size)
  const page = await bed.open('/', NARROW_DARK)
  for (const { name, path, text } of views) {
    await page.goto(bed.address + path)
    await shows(page, text)
    await bed.settles(page)
    expect([name, await excessWidth(page)]).toEqual([name, 0])
    if (name === 'balance') expect(await accessibilityFindings(page)).toEqual([])
  }
  expect(await bed.closePages()).toEqual([])
}, 180_000)

it('an asset that is both a coin and a fungible asset leads from each form to the other', async () => {
  const page = await bed.open(`/asset/${APT}`)
  await shows(page, 'Nobody holds it as a coin at this version.')
  await page.getByRole('link', { name: 'Holders of the fungible asset' }).click()
  await shows(page, /\d+ holders, the largest first/)
  await page.getByRole('link', { name: 'aptos_coin::AptosCoin' }).click()
  await shows(page, 'Also a fungible asset')
  expect(await bed.closePages()).toEqual([])
}, 60_000)
