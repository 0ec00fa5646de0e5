import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ALICE } from '../../testing/page-ledger.ts'

const page = checkView({
  path: `/account/${ALICE}/activities`,
  shows: ['Changes of its holdings', 'Bean', /\+1\s000 BEAN/, /then 9\s000/, '+25 TEA', '2025-01-01 00:00:32 UTC'],
  absent: { '/account/0xdead/activities': 'What it holds did not change in the window of this node.' },
})

it('ends at the state of the page', async () => {
  await page().goTo(`/account/${ALICE}/activities?at=5`)
  await page().shows(/then 6\s000/)
  expect(page().text).not.toMatch(/then [789]\s000/)
})

it('leads to the block of a change, and to the balance at it', async () => {
  await page().goTo(`/account/${ALICE}/activities`)
  const block = await page().find('.activity a', 'version 8')
  expect(block.getAttribute('href')).toBe('/version/8')
  const balance = await page().find('.activity-asset a', 'Bean')
  expect(balance.getAttribute('href')).toBe('/balance/0xa11ce/0xcafe::bean::Bean?point=8')
})
