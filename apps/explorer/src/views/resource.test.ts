import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { CROOK, LATEST, priceAt, SHOP, SHOP_TYPE } from '../../testing/page-ledger.ts'

const PATH = `/resource/${SHOP}/${SHOP_TYPE}`

const page = checkView({
  path: PATH,
  shows: ['Corner shop', `price${priceAt(LATEST)}`],
  absent: {
    '/resource/0xdead/0x1::account::Account': 'Not there',
    '/resource/zzz/0x1::account::Account': 'That cannot be read',
  },
  pruned: `${PATH}?at=1`,
  hostile: `/resource/${CROOK}/${SHOP_TYPE}`,
})

it('shows the value of a past version', async () => {
  await page().goTo(`${PATH}?at=4`)
  await page().shows(`price${priceAt(4n)}`)
})

it('shows each change of the value, with the one before', async () => {
  await page().goTo(PATH)
  await page().shows('History', 'version 8', 'version 4', `${priceAt(6n)}`, `${priceAt(7n)}`)
})

it('links the tables that the value holds', async () => {
  await page().goTo(PATH)
  const link = await page().find('a', 'table 0x7ab1e2')
  expect(link.getAttribute('href')).toBe(`/table/0x7ab1e2?holder=${SHOP}`)
})
