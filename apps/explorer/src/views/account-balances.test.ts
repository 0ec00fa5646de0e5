import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ALICE, MALLORY } from '../../testing/page-ledger.ts'

const page = checkView({
  path: `/account/${ALICE}`,
  // 900,000 of the smallest unit; 100 of them are one bean.
  shows: ['BEAN', /9\s000/],
  absent: { '/account/0xcafe': 'It holds no coins and no fungible assets at this version.' },
  pruned: `/account/${ALICE}?at=1`,
  hostile: `/account/${MALLORY}`,
  // A name is cut at 40 characters.
  hostileText: '<img src=x onerror="hurt=1"><b>bold</b>',
})

it('shows the balance of a past version', async () => {
  await page().goTo(`/account/${ALICE}?at=4`)
  await page().shows('Bean', /5\s000/)
})

it('says how often a balance changed', async () => {
  await page().goTo(`/account/${ALICE}`)
  const curve = await page().find('svg')
  expect(curve.getAttribute('aria-label') ?? curve.textContent).toContain('6 changes in the window')
})

it('leads to the balance of another asset', async () => {
  await page().goTo(`/account/${ALICE}`)
  await page().fill('Coin type, address or name of another asset', ' 0xbad::evil::Evil ')
  await page().click('form button')
  await page().shows('It did not change in the window of this node.')
  expect(page().path).toBe(`/balance/${ALICE}/0xbad::evil::Evil`)
})
