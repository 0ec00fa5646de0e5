import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { SHOP } from '../../testing/page-ledger.ts'

const PATH = `/account/${SHOP}/modules`

const page = checkView({
  path: PATH,
  shows: [/shop 2 types, 1 function/, /bean 1 type, 0 functions/],
  absent: { '/account/0xdead/modules': 'No modules at this version.' },
  pruned: `${PATH}?at=1`,
})

it('shows the modules of a past version', async () => {
  await page().goTo(`${PATH}?at=4`)
  await page().shows(/shop 1 type, 1 function/)
  const link = await page().find('.lines a', 'shop')
  expect(link.getAttribute('href')).toBe('/module/0xcafe/shop?at=4')
})
