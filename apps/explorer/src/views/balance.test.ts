import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ALICE, BEAN, EVIL, MALLORY } from '../../testing/page-ledger.ts'

const PATH = `/balance/${ALICE}/${BEAN}`

const page = checkView({
  path: PATH,
  shows: [/9\s000 BEAN/, '6 changes', /version 8.*9\s000/, /version 3.*4\s000/],
  absent: {
    [`/balance/0xdead/${BEAN}`]: 'It did not change in the window of this node.',
    '/balance/zzz/zzz': 'That cannot be read',
  },
  pruned: `${PATH}?at=1`,
  hostile: `/balance/${MALLORY}/${EVIL}`,
})

it('shows the balance of a past version', async () => {
  await page().goTo(`${PATH}?at=4`)
  await page().shows(/5\s000 BEAN/)
})

it('says how many changes the curve has', async () => {
  await page().goTo(PATH)
  await page().shows('6 changes')
  const curve = await page().find('[role=img].curve')
  expect(curve.getAttribute('aria-label')).toBe('Balance: 6 changes')
})

it.each([
  ['before the window', 1, 'No longer kept', 'Look there', `?at=3`],
  ['after the latest', 99, 'Not there yet', 'Look at the latest', ''],
])('leads from a part of the curve %s to all of it', async (_, to, says, button, query) => {
  await page().goTo(`${PATH}?to=${to}`)
  await page().shows(says)
  await page().click('button', button)
  await page().find('[role=img].curve')
  expect(page().path).toBe(PATH + query)
  await page().hides(says)
})

it('shows a chosen point with its difference, and goes to the one before', async () => {
  await page().goTo(`${PATH}?point=5`)
  await page().shows('since version 5')
  expect(page().texts('.point [role=status]')[0]).toMatch(/^6\s000 \+1\s000/)
  await page().click('.point button', 'Earlier')
  await page().shows('since version 4')
  expect(page().path).toBe(`${PATH}?point=4`)
  await page().click('.point button', 'Look at this version')
  await page().shows(/5\s000 BEAN/)
})
