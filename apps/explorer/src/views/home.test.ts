import { eventually } from '@ledger-state/testing/eventually'
import { expect, it, vi } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { HOSTILE } from '../../testing/page-ledger.ts'

const page = checkView({
  path: '/',
  shows: ['Where to begin', /from version 3/, /to version 8/, 'Versions kept6', 'Block8', 'Epoch1'],
  hostile: '/',
})

it('leads to the framework, the newest block and the API', async () => {
  await page().goTo('/')
  await page().shows('Where to begin')
  const hrefs = page()
    .all('nav .tiles a')
    .map((link) => link.getAttribute('href'))
  expect(hrefs).toEqual(['/account/0x1/modules', '/account/0x1/resources', '/block/8', '/api'])
})

it('shows accounts, tables and assets of the ledger, with their own texts as text', async () => {
  await page().goTo('/')
  await page().shows(
    'Accounts',
    '10 changes of its holdings in 5 versions',
    'Tables',
    'shop::Shop.items',
    'Recent blocks',
    /8\s?1 transaction, 2025-01-01 00:00:32 UTC/,
    'sent 41 transactions; 10 changes',
    'Assets',
    'Bean',
    HOSTILE.slice(0, 40),
  )
  const hrefs = page()
    .all('section .tiles a')
    .map((link) => link.getAttribute('href'))
  expect(hrefs).toContain('/account/0xa11ce/activities')
  expect(hrefs).toContain('/table/0x7ab1e2?holder=0xcafe')
  expect(hrefs.filter((href) => href?.startsWith('/block/'))).toEqual(['/block/8', '/block/7', '/block/6', '/block/5'])
})

it.each([
  ['accounts', /activities/, 'sent 41 transactions; 10 changes'],
  ['blocks', /by_height/, 'Recent blocks'],
  ['tables', /types\/0x1::table::Table\/uses/, 'shop::Shop.items'],
  ['holders of tables', /0xcafe\/resource\/0xcafe%3A%3Ashop/, 'shop::Shop.items'],
  ['items of tables', /0x7ab1e2\/items/, 'shop::Shop.items'],
  ['assets', /types\/0x1::coin::CoinInfo\/uses/, 'Bean'],
  ['names of assets', /resources:batch/, 'Bean'],
])('shows the %s of the ledger once a busy node answers for them', async (_, paths, text) => {
  await page().goTo('/')
  const asked = vi.spyOn(globalThis, 'fetch')
  page().busyAt(paths)
  await eventually(
    () => asked.mock.calls.some(([path]) => paths.test(String(path))),
    () => `a request for ${paths}`,
  )
  page().busyAt(undefined)
  asked.mockRestore()
  await page().shows(text)
})
