// Values that were last written before the window, whose version is not kept.
import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { BEAN, EVIL, MALLORY, OLDEST, SHOP } from '../../testing/page-ledger.ts'

const page = openedPage()

it.each([
  ['a resource', `/resource/${SHOP}/0x1::coin::CoinInfo%3C${BEAN}%3E`, 'Bean'],
  ['a point of a balance', `/balance/${MALLORY}/${EVIL}?point=5&by=version`, 'since version 0'],
])('%s leads to the oldest version, which has the value', async (_, path, says) => {
  await page().goTo(path)
  await page().shows(says)
  expect(
    page()
      .texts('button')
      .filter((text) => text === 'Look at this version'),
  ).toEqual([])
  await page().click('button', 'Look at the oldest version')
  await page().shows(says)
  await expect.poll(() => page().path).toContain(`at=${OLDEST}`)
  expect(page().all('[role=alert]')).toEqual([])
})

it('a list of changes has no link to a block that is not kept', async () => {
  await page().goTo(`/balance/${MALLORY}/${EVIL}`)
  await page().shows('version 0before the window')
  expect(
    page()
      .all('.change a')
      .map((link) => link.getAttribute('href')),
  ).not.toContain('/version/0')
})
