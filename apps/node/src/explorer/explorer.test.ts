// Each view of the page in a real browser, against the real program on the demonstration ledger.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  EMPTY_VIEWS,
  EXPLORER_VIEWS,
  ExplorerBed,
  excessWidth,
  NARROW_DARK,
  settles,
  shows,
} from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
}, 120_000)
afterAll(() => bed.close())

it('each view is drawn within the width of a phone', async () => {
  const page = await bed.open('/', NARROW_DARK)
  for (const { name, path, text } of [...EXPLORER_VIEWS, ...EMPTY_VIEWS]) {
    await page.goto(bed.address + path)
    await shows(page, text)
    await settles(page)
    expect([name, await excessWidth(page)]).toEqual([name, 0])
    if (name === 'balance') expect(await accessibilityFindings(page)).toEqual([])
  }
  expect(await bed.closePages()).toEqual([])
}, 180_000)
