import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'

const page = openedPage()

it('shows the accounts and the tables that a block changed, with the values before and after', async () => {
  await page().goTo('/block/5')
  await page().shows('What it changed', 'account 0xa11ce', 'coin.value', '500000 → 600000', 'addresses compared')
  await page().shows('account 0xcafe', '104 → 105', '1 changed item', 'a cup → a saucer')
  expect(page().text).not.toContain('a teapot')
})

it('compares further accounts and objects on request, until all are compared', async () => {
  await page().goTo('/block/5')
  await page().click('button', 'Compare more accounts')
  await page().shows('every object of this ledger', '500 → 600 TEA')
  await page().hides('Compare more accounts')
})

it('says that the state before the oldest block is not kept', async () => {
  await page().goTo('/block/3')
  await page().shows('The state before this block is no longer kept')
})

it('says that the node fails while it compares, and compares later what it could not', async () => {
  await page().goTo('/block/5')
  await page().shows('3 addresses compared.')
  page().answers('failed')
  await page().click('button', 'Compare more accounts')
  await page().shows('The node failed')
  page().answers('sound')
  await page().click('button', 'Compare more accounts')
  await page().shows('every object of this ledger', '500 → 600 TEA')
  await page().hides('The node failed')
})
