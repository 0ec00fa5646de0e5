// The page in a real browser, on the genesis of mainnet.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserBed } from '../../testing/browser-bed.ts'

/** Each view, and a text that it has once it is drawn. */
const VIEWS: readonly (readonly [path: string, text: string])[] = [
  ['/', 'Where to begin'],
  ['/account/0x1', 'It holds no coins and no fungible assets'],
  ['/account/0x1/resources', '0x1::account::Account'],
  ['/account/0x1/modules', '9 types, 30 functions'],
  ['/module/0x1/coin', 'used by'],
  ['/resource/0x1/0x1::coin::CoinInfo%3C0x1::aptos_coin::AptosCoin%3E', 'Aptos Coin'],
  ['/balance/0xa/0xa', 'History'],
  ['/block/0', 'Height'],
]

describe.skipIf(!hasSharedData)('the page on the genesis of mainnet', () => {
  let bed: BrowserBed
  beforeAll(async () => {
    bed = await BrowserBed.open()
  })
  afterAll(() => bed?.close())

  it('draws each view in two widths, without findings of axe', async () => {
    const { address } = await bed.serve('start', '--from', sharedPath('data/genesis/mainnet.genesis.blob'))
    for (const width of [1_440, 360]) {
      const page = await bed.browser.newPage({ viewport: { width, height: 900 }, locale: 'en-US' })
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('request', (request) => {
        if (!request.url().startsWith(address)) faults.push(request.url())
      })
      for (const [path, text] of VIEWS) {
        await page.goto(address + path)
        await page.locator('body', { hasText: text }).waitFor()
        // While a view loads, it fades in, and its contrast is low for a moment.
        await page.locator('.loading').first().waitFor({ state: 'detached' })
        expect([path, await accessibilityFindings(page)]).toEqual([path, []])
        const tooWide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        expect([path, Math.max(0, tooWide)]).toEqual([path, 0])
      }
      expect(faults).toEqual([])
      await page.close()
    }
  })
})
