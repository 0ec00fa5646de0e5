import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { priceAt } from '../../testing/page-ledger.ts'

const PATH = '/view/0xcafe::shop::price?arguments=%5B%5D'
const page = openedPage()

it('shows each change of the answer, and where the call fails', async () => {
  await page().goTo(PATH)
  await page().shows('6 changes', `version 8`, `${priceAt(4n)}`, 'the call fails')
  const curve = await page().find('[role=img].curve')
  expect(curve.getAttribute('aria-label')).toBe('Answer: 6 changes')
})

it('goes to the version of a change', async () => {
  await page().goTo(PATH)
  await page().click('.change button', 'version 5')
  await page().shows(`u64${priceAt(5n)}`)
  expect(page().path).toBe(`${PATH}&at=5`)
})

it('shows numbers with decimals', async () => {
  await page().goTo(PATH)
  const field = (await page().find('input[type=number]')) as HTMLInputElement
  field.value = '2'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await page().shows('1.08')
})

it('says that the node fails', async () => {
  await page().goTo(PATH, 'failed')
  await page().shows('The node failed')
})
