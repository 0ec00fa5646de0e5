// The search field of the page, in a browser, on the demonstration ledger: versions 993 to 2999, blocks 125 to 375.
import { accessibilityFindings } from '@ledger-state/explorer/testing/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ExplorerBed, shows } from '../../testing/explorer-bed.ts'

type Page = Awaited<ReturnType<ExplorerBed['open']>>

let bed: ExplorerBed
beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())

const field = (page: Page) => page.getByRole('combobox', { name: /^Address/ })

/** Offers of a finished search, and its notes about names that do not exist. */
async function search(page: Page, text: string): Promise<{ options: readonly string[]; said: string }> {
  await field(page).fill(text)
  const status = page.locator('.targets [role="status"]')
  await expect.poll(() => status.textContent()).not.toBe('looking…')
  // Removes the narrow spaces between groups of digits.
  const plain = (words: string) => words.replaceAll(/(?<=\d)\s(?=\d{3})/g, ',')
  const options = await page.getByRole('option').allInnerTexts()
  return { options: options.map(plain), said: plain((await status.textContent()) ?? '') }
}

const BEAN = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean'
const SEARCHES: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
    ['account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'],
    /^$/,
  ],
  ['0x7ab1e2', ['table 0x7ab1e2'], /^$/],
  ['0xa', ['asset Aptos Coin (APT) 0xa', 'account 0xa'], /^$/],
  ['0x123456', [], /no account, object, asset or table 0x123456/],
  ['block 300', ['block 300'], /^$/],
  ['block 9', ['block 125, the nearest that is kept'], /Block 9 is not kept: 125 to 375 are/],
  [
    '2 999',
    ['the state at version 2,999', 'the block of version 2,999', 'block 375, the nearest that is kept'],
    /Block 2,999 is not kept/,
  ],
  [
    '3',
    ['the state at version 993, the nearest that is kept', 'block 125, the nearest that is kept'],
    /993 to 2,999 are/,
  ],
  ['2025-01-01 00:12:32 UTC', ['the state at 2025-01-01T00:12:32.000Z'], /^$/],
  [
    '2024-12-31',
    ['the state at version 993, of 2025-01-01T00:08:20Z, the nearest that is kept'],
    /the oldest block is of/,
  ],
  [
    '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour',
    ['module 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour'],
    /^$/,
  ],
  [
    '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::nothing',
    [],
    /no module 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::nothing/,
  ],
  [
    '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour',
    [
      'module 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour, which declares it',
      'the resource 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour of 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
    ],
    /^$/,
  ],
  [
    'harbo',
    [
      'module 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour',
      'the resource 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour of 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
    ],
    /^$/,
  ],
  ['market::quo', ['view 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote'], /^$/],
  ['7ab1e2', ['table 0x7ab1e2'], /^$/],
  ['a11cec71', ['account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'], /^$/],
  ['nonsense', [], /is called “nonsense”/],
  ['!', [], /^an address, a name of an asset, module, function or token, 0x…::module::Type/],
]

it('the search offers the existing entries, and says which do not exist', async () => {
  const page = await bed.open('/')
  await shows(page, 'Where to begin')
  for (const [text, options, said] of SEARCHES) {
    const found = await search(page, text)
    expect([text, found.options, found.said]).toEqual([text, options, expect.stringMatching(said)])
  }
  const beans = await search(page, 'bean')
  expect(beans.options[0]).toMatch(new RegExp(`^asset .*${BEAN}$`))
  expect(await accessibilityFindings(page)).toEqual([])
  expect(await bed.closePages()).toEqual([])
})

it('the entries of the search can be opened with the keyboard only', async () => {
  const page = await bed.open('/')
  await shows(page, 'Where to begin')
  await field(page).focus()
  await page.keyboard.type('0xa')
  await expect.poll(() => page.getByRole('option').count()).toBe(2)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname).toBe('/account/0xa')
  expect(await bed.closePages()).toEqual([])
})

it('a search that is typed over sends no more requests, and its late results are not shown', async () => {
  const page = await bed.open('/')
  await shows(page, 'Where to begin')
  let held = 0
  await page.route(
    '**/v1/accounts/0xb0bafa730e2c2ecb19acccdb15f1bae3ce51689c84109792440a72348bb2dffb/**',
    async (route) => {
      held++
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await route.continue().catch(() => {})
    },
  )
  await field(page).fill('0xb0bafa730e2c2ecb19acccdb15f1bae3ce51689c84109792440a72348bb2dffb')
  await expect.poll(() => held).toBeGreaterThan(0)
  expect((await search(page, '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')).options).toEqual([
    'account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
  ])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  expect((await search(page, '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')).options).toEqual([
    'account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
  ])
  await bed.closePages()
})
