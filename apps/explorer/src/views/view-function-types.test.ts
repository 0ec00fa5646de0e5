import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { createPageEngine, viewModule } from '../../testing/page-ledger.ts'

const page = openedPage(() => createPageEngine([[viewModule('0xfee', 'fees', 'fee', [0])]]))

it('says next to a type argument that it is no type, and sends none', async () => {
  await page().goTo('/view/0xfee::fees::fee')
  await page().find('form button', 'Call')
  const field = () => page().all('form input')[0] as HTMLInputElement
  const write = (text: string) => {
    field().value = text
    field().dispatchEvent(new Event('input', { bubbles: true }))
  }
  write('zz')
  await page().click('form button', 'Call')
  await page().find('form .problem', '“zz” is not a type, such as u64, vector<u8> or 0x1::aptos_coin::AptosCoin.')
  expect(page().path).toBe('/view/0xfee::fees::fee')
  write('vector<u64>')
  await page().click('form button', 'Call')
  await page().shows('called with', 'u647')
  expect(page().texts('form .problem')).toEqual([''])
})
