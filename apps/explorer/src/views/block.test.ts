import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'

const page = checkView({
  path: '/block/5',
  shows: ['Height5', /2025-01-01 00:00:20 UTC\d+ days ago/, 'Transactions1', 'Versions5 to 5'],
  absent: { '/block/9999': 'Not there' },
  pruned: '/version/1',
  hostile: `/block/${encodeURIComponent('<img src=x><b>5</b>')}`,
  hostileText: '<img src=x><b>5</b>',
})

it('finds the block of a version', async () => {
  await page().goTo('/version/7')
  await page().shows('The block of version 7', 'Height7')
})

it('leads to the blocks before and after it, and to its state', async () => {
  await page().goTo('/block/5')
  await page().shows('Height5')
  await page().click('a', 'The block before')
  await page().shows('Height4')
  await page().click('a', 'The block after')
  await page().shows('Height5')
  await page().click('button', 'Look at the state after this block')
  await page().shows('Where to begin')
  expect(page().path).toBe('/?at=5')
})

it('leads to no block beyond the window', async () => {
  await page().goTo('/block/8')
  await page().shows('the newest block', 'The block before')
  expect(page().text).not.toContain('The block after')
  await page().goTo('/block/3')
  await page().shows('the oldest block that is kept', 'The block after')
  expect(page().text).not.toContain('The block before')
})
