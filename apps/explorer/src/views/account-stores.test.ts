import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { createPageEngine, teaStore } from '../../testing/page-ledger.ts'

/** An account with more stores than a page has. */
const HOARDER = '0xb0a'
const STORES = 130
const page = openedPage(() =>
  createPageEngine([
    Array.from({ length: STORES }, (_, at) => teaStore(`0x5a${at + 100}`, { owner: HOARDER, balance: 10n })),
  ]),
)
const amounts = () => page().texts('section[aria-label="Holdings"] .amount')

it('a sum of the stores that are listed so far says that it is one', async () => {
  await page().goTo(`/account/${HOARDER}`)
  await page().shows('Tea')
  expect(amounts()).toEqual(['at least 100'])
  await page().click('section[aria-label="Holdings"] button', 'More')
  await page().hides('at least')
  expect(amounts()).toEqual([String(STORES)])
})
