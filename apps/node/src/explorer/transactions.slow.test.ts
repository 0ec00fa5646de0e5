// The transactions of changes, on a node that keeps them.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { ExplorerBed, excessWidth, keepScreenshot, NARROW_DARK, shows, WIDE_LIGHT } from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start('--keep-transactions', 'summary')
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

const VIEWS = [
  [
    'a balance',
    '/balance/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::aptos_coin::AptosCoin',
  ],
  ['a resource', '/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::account::Account'],
  ['the changes of an account', '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/changes'],
] as const

it.each(VIEWS)('each change of %s leads to its sender and to the called function', async (_, path) => {
  for (const [look, options] of Object.entries({ wide: WIDE_LIGHT, narrow: NARROW_DARK })) {
    const page = await bed.open(path, options)
    const transaction = page.locator('.transaction').first()
    await transaction.waitFor()
    await bed.settles(page)
    expect(await transaction.textContent()).toMatch(
      /^user transaction 0x\w{6}….{6} of 0x\w{6}….{6} · 0xdecaf9…b9ef15::harbour::trade$/,
    )
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await excessWidth(page)).toBe(0)
    await keepScreenshot(page, `transactions-${path.split('/')[1]}-${look}`)
    await transaction.getByRole('link', { name: '0xdecaf9…b9ef15::harbour::trade' }).click()
    await shows(page, 'harbour')
  }
})
