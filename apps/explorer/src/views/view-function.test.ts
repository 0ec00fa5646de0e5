import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { HOSTILE, priceAt, SHOP } from '../../testing/page-ledger.ts'

const FORM = '/view/0xcafe::shop::price'
const PATH = `${FORM}?arguments=%5B%5D`

const page = checkView({
  path: PATH,
  shows: ['price(): u64', `u64${priceAt(8n)}`],
  absent: {
    '/view/0xdead::no::such': 'Not there',
    '/view/0xcafe::shop::cost': 'The module has no such function at this version.',
    [`${FORM}?arguments=7`]: 'the arguments in the address of the page are not a JSON array',
  },
  pruned: `${PATH}&at=1`,
  // The price at this version makes the function abort with a text of its module.
  hostile: `${PATH}&at=3`,
})

it('calls the view when the visitor says so, and not before', async () => {
  await page().goTo(FORM)
  await page().shows('price(): u64')
  expect(page().text).not.toContain(String(priceAt(8n)))
  await page().click('form button', 'Call')
  await page().shows(`u64${priceAt(8n)}`)
  expect(page().path).toBe(PATH)
})

it('answers with the state of a past version', async () => {
  await page().goTo(`${PATH}&at=5`)
  await page().shows(`u64${priceAt(5n)}`)
})

it('shows the words of the module for its abort', async () => {
  await page().goTo(`${PATH}&at=3`)
  await page().shows('That cannot be read', 'ECLOSED', HOSTILE)
})

it('watches the call, and watches it no longer', async () => {
  await page().goTo(PATH)
  await page().click('button', /^Watch$/)
  await page().find('button[aria-pressed=true]', 'Watched')
  await page().goTo('/watch')
  await page().shows('0xcafe::shop::price', `result 0${priceAt(8n)}`)
  await page().click('button', 'Watch no longer')
  await page().shows('Nothing is watched yet.')
  await page().goTo(`/module/${SHOP}/shop`)
})
