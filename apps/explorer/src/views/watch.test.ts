import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { HOSTILE, priceAt } from '../../testing/page-ledger.ts'
import { unwatch, type WatchedCall, watch, watchedCalls } from '../state/watched-calls.ts'

const PRICE: WatchedCall = { function: '0xcafe::shop::price', call: { typeArguments: [], arguments: '[]' } }
const ODD: WatchedCall = { function: HOSTILE, call: { typeArguments: [HOSTILE], arguments: '[]' } }
const page = openedPage()

it('says that nothing is watched', async () => {
  await page().goTo('/watch')
  await page().shows('Nothing is watched yet.')
})

it('shows the answers of all watched calls at the version of the page', async () => {
  watch(PRICE)
  await page().goTo('/watch')
  await page().shows(`result 0${priceAt(8n)}`)
  await page().goTo('/watch?at=4')
  await page().shows(`result 0${priceAt(4n)}`)
  await page().goTo('/watch?at=1')
  await page().shows('No longer kept')
  await page().goTo('/watch', 'late')
  await page().shows('Loading…')
  page().answers('failed')
  await page().shows('The node failed')
  unwatch(PRICE)
})

it('draws the text of a hostile call as text', async () => {
  watch(ODD)
  await page().goTo('/watch')
  await page().shows(HOSTILE, 'That cannot be read')
  expect(page().all('img, b, script')).toEqual([])
  unwatch(ODD)
  expect(watchedCalls.value).toEqual([])
})
