import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { CROOK, priceAt, SHOP } from '../../testing/page-ledger.ts'

const PATH = `/account/${SHOP}/resources`

const page = checkView({
  path: PATH,
  shows: ['0xcafe::shop::Shop', 'Corner shop', `price${priceAt(8n)}`, 'last changed at version 8'],
  absent: { '/account/0xdead/resources': 'No resources at this version.' },
  pruned: `${PATH}?at=1`,
  hostile: `/account/${CROOK}/resources`,
})

it('shows the resources of a past version, each with its history', async () => {
  await page().goTo(`${PATH}?at=4`)
  await page().shows(`price${priceAt(4n)}`)
  const link = await page().find('details a', 'History')
  expect(link.getAttribute('href')).toMatch(/^\/resource\/0xcafe\/.*at=4$/)
})

it('opens a resource, and closes it', async () => {
  await page().goTo(PATH)
  await page().shows('Corner shop')
  const details = page()
    .all('details.card')
    .find((one) => one.textContent?.includes('Corner shop')) as HTMLDetailsElement
  details.open = false
  details.dispatchEvent(new Event('toggle'))
  await page().hides('Corner shop')
})

it('a type wraps at its colons before it wraps within a word', async () => {
  await page().goTo(PATH)
  await page().shows('Corner shop')
  expect(
    page()
      .all('summary bdi')
      .map((one) => one.innerHTML),
  ).toContain('0xcafe::<wbr>shop::<wbr>Shop')
})
