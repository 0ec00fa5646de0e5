import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, ASSET, HOSTILE } from '../../testing/page-ledger.ts'

const page = openedPage()

it('shows what an asset is, and who owns it, with its texts as text', async () => {
  await page().goTo(`/account/${ASSET}`)
  await page().shows(
    `Fungible asset ${HOSTILE}`,
    'symbolEVL',
    'decimals3',
    `icon${HOSTILE}`,
    'transfers by its ownerallowed',
  )
  const owner = await page().find('.member a', '0xbad')
  expect(owner.getAttribute('href')).toBe('/account/0xbad')
  expect(page().all('img, b, script')).toEqual([])
})

it('says that an asset has no holders', async () => {
  await page().goTo(`/account/${ASSET}`)
  await page().click('button', 'Look for holders')
  await page().shows('No holder among the stores that were looked at.', 'These are all stores of this ledger.')
})

it('shows nothing of an account that is no object', async () => {
  await page().goTo(`/account/${ALICE}`)
  await page().shows('sent 41 transactions', 'Bean')
  expect(page().all('section[aria-label^="This "]')).toEqual([])
})
