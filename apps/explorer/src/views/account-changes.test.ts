import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { priceAt, SHOP } from '../../testing/page-ledger.ts'

const PATH = `/account/${SHOP}/changes`

const page = checkView({
  path: PATH,
  shows: ['0xcafe::shop::Shop changed', `${priceAt(3n)}`, `${priceAt(8n)}`, 'module shop changed'],
  absent: { '/account/0xdead/changes': 'Nothing changed.' },
  pruned: `${PATH}?at=1`,
})

it('compares with another version', async () => {
  await page().goTo(PATH)
  await page().shows('module shop changed')
  const field = (await page().find('form label input')) as HTMLInputElement
  expect(field.value).toBe('3')
  field.value = '6'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await page().click('form button', 'Compare')
  await page().hides('module shop')
  await page().shows('0xcafe::shop::Shop changed', `${priceAt(6n)}`, `${priceAt(8n)}`)
})
