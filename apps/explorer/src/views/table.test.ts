import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { CROOK, HOSTILE_TABLE, SHOP, TABLE } from '../../testing/page-ledger.ts'

const PATH = `/table/${TABLE}?holder=${SHOP}`

const page = checkView({
  path: PATH,
  shows: ['u64 → 0x1::string::String', 'a teapot', 'a saucer'],
  absent: {
    '/table/0xdead?key_type=u8&value_type=u8': 'No items at this version.',
    '/table/zzz': 'That cannot be read',
  },
  pruned: `${PATH}&at=1`,
  hostile: `/table/${HOSTILE_TABLE}?holder=${CROOK}`,
})

it('shows the items of a past version', async () => {
  await page().goTo(`${PATH}&at=4`)
  await page().shows('a teapot', 'a cup')
  expect(page().text).not.toContain('a saucer')
})

it('shows bytes if the types are not known, until the visitor names the holder', async () => {
  await page().goTo(`/table/${TABLE}`)
  await page().shows('keys of an unknown type', '0x0100000000000000')
  await page().fill('Account that holds the table', SHOP)
  await page().click('form button', 'Read with its types')
  await page().shows('a teapot')
  expect(page().path).toBe(PATH)
})

it('leads to the history of each item', async () => {
  await page().goTo(PATH)
  await page().click('.item-of-table a', 'History')
  await page().shows('Item "1"', 'a teapot')
})

it('says next to a field what is wrong with its value, and finds the item once it is right', async () => {
  await page().goTo(PATH)
  await page().shows('a teapot')
  await page().unfold('Find one item by its key')
  const field = (await page().find('.form input')) as HTMLInputElement
  const write = (text: string): void => {
    field.value = text
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  await page().click('.form button', 'Find')
  await page().shows('A number is missing.')
  write('one')
  await page().shows('“one” is not a whole number.')
  expect(field.getAttribute('aria-invalid')).toBe('true')
  expect(document.getElementById(field.getAttribute('aria-describedby')!)?.textContent).toContain('“one”')
  write(String(2n ** 64n))
  await page().shows('It must be from 0 to 18446744073709551615.')
  expect(page().path).toBe(PATH)
  write('2')
  await page().hides('It must be')
  await page().click('.form button', 'Find')
  await page().shows('Item "2"', 'a saucer')
})
