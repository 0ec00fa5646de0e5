import { expect, it } from 'vitest'
import { openedPage } from '../testing/check-view.ts'
import { HOSTILE } from '../testing/page-ledger.ts'

const page = openedPage()

it('says that there is no such page, with its path as text', async () => {
  await page().goTo(`/nothing/${encodeURIComponent(HOSTILE)}`)
  await page().shows('There is no such page')
  expect(page().all('img, b, script')).toEqual([])
})

it('names each view in the title of the document', async () => {
  for (const [path, title] of Object.entries({
    '/': 'Ledger State',
    '/account/0xa11ce': 'Account 0xa11ce · Ledger State',
    '/block/5': 'Block 5 · Ledger State',
    '/watch': 'Watched calls · Ledger State',
    '/nothing': 'No such page · Ledger State',
  })) {
    await page().goTo(path)
    await page().titled(title)
  }
})

it('moves the view to another version with the time machine', async () => {
  await page().goTo('/balance/0xa11ce/0xcafe::bean::Bean')
  await page().shows(/9\s000 BEAN/)
  await page().moveTo('block 4')
  await page().shows(/5\s000 BEAN/)
  expect(page().path).toBe('/balance/0xa11ce/0xcafe::bean::Bean?at=4')
})

it('moves to a block once a busy node answers', async () => {
  await page().goTo('/balance/0xa11ce/0xcafe::bean::Bean')
  await page().shows(/9\s000 BEAN/)
  page().busyAt(/by_height/)
  await page().moveTo('block 4')
  await page().timeMachineShows('The node is busy; asking again')
  page().busyAt(undefined)
  await page().shows(/5\s000 BEAN/)
})

it('says where nothing was ingested yet', async () => {
  await page().goTo('/account/0xa11ce?at=99')
  await page().shows('Not there yet')
  await page().click('button', 'Look at the latest')
  await page().shows('sent 41 transactions')
})

it.each(['busy', 'lost'] as const)('asks again while the node is %s, until it answers', async (how) => {
  await page().goTo('/resource/0xcafe/0xcafe::shop::Shop', how)
  await page().shows('asking again')
  page().answers('sound')
  await page().shows('Corner shop', 'version 8')
  await page().hides('asking again')
})

it('keeps its content while the node is lost', async () => {
  await page().goTo('/resource/0xcafe/0xcafe::shop::Shop')
  await page().shows('Corner shop')
  page().answers('lost')
  await page().timeMachineShows('the node does not answer; asking again')
  await page().shows('Corner shop')
})

it('a click while the node is lost keeps the view and says so, until the node answers', async () => {
  await page().goTo('/resource/0xcafe/0xcafe::shop::Shop')
  await page().shows('Corner shop')
  page().answers('lost')
  await page().click('.subtitle a', '0xcafe')
  await page().waitingShows('The node does not answer. This page stays as it is')
  expect(page().text).toContain('Corner shop')
  expect(page().path).toBe('/resource/0xcafe/0xcafe::shop::Shop')
  page().answers('sound')
  await page().shows('Account 0xcafe')
  expect(page().path).toBe('/account/0xcafe')
  await page().waitingShows('')
})

it('a visitor may stay where the node was lost, and the newest click wins', async () => {
  await page().goTo('/resource/0xcafe/0xcafe::shop::Shop')
  await page().shows('Corner shop')
  page().answers('lost')
  await page().click('.subtitle a', '0xcafe')
  await page().waitingShows('The node does not answer.')
  document.querySelector<HTMLButtonElement>('.waiting button')!.click()
  await page().waitingShows('')
  document.querySelector<HTMLAnchorElement>('header a[href="/api"]')!.click()
  await page().waitingShows('The node does not answer.')
  page().answers('sound')
  await page().titled('API · Ledger State')
})
