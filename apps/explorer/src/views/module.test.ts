import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { SHOP } from '../../testing/page-ledger.ts'

const PATH = `/module/${SHOP}/shop`

const page = checkView({
  path: PATH,
  shows: ['struct Shop', 'struct Till', 'title', '0x1::string::String', 'price(): u64', 'format 7'],
  absent: { '/module/0xdead/nothing': 'Not there', '/module/zzz/nothing': 'That cannot be read' },
  pruned: `${PATH}?at=1`,
  hostile: `/module/${SHOP}/${encodeURIComponent('<img src=x><b>m</b>')}`,
  hostileText: '<img src=x><b>m</b>',
})

it('shows the module of a past version', async () => {
  await page().goTo(`${PATH}?at=4`)
  await page().shows('struct Shop')
  expect(page().text).not.toContain('struct Till')
})

it('leads to the form of each view', async () => {
  await page().goTo(PATH)
  const link = await page().find('a', 'call this view')
  expect(link.getAttribute('href')).toBe('/view/0xcafe::shop::price')
})

it('names the uses of a type in the modules of its account', async () => {
  await page().goTo('/module/0x1/coin')
  const use = await page().find('.hint a', 'coin::CoinStore')
  expect(use.closest('.hint')!.textContent).toBe('used by coin::CoinStore')
  expect(use.getAttribute('href')).toBe('/module/0x1/coin')
})

it('says that it looked for uses only in the first modules of an account with more', async () => {
  page().limitsPages(1)
  await page().goTo('/module/0x1/coin')
  await page().shows('not used in the first 1 module of the account, which has more')
  page().limitsPages(100)
  await page().goTo('/module/0x1/coin')
  await page().shows('used by coin::CoinStore')
  await page().hides('which has more')
})

it('finds the accounts with a resource of a type', async () => {
  await page().goTo(PATH)
  await page().click('button', 'Search all accounts')
  await page().shows('keys seen', '0xbad1')
})
