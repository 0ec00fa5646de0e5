import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { HOSTILE, HOSTILE_SOURCE, MALLORY, SHOP } from '../../testing/page-ledger.ts'

const page = openedPage()

it('shows the package of a module, and its source', async () => {
  await page().goTo(`/module/${SHOP}/shop`)
  await page().unfold('Source and package')
  await page().shows('packageCorner', 'upgrades4; compatible', 'Framework of 0x1', 'struct Shop has key {}')
})

it('says that there is no package', async () => {
  await page().goTo('/module/0x1/coin')
  await page().unfold('Source and package')
  await page().shows('The account says nothing of a package with this module.')
})

it('draws a hostile name and source as text', async () => {
  await page().goTo(`/module/${MALLORY}/evil`)
  await page().unfold('Source and package')
  await page().shows(`package${HOSTILE}`, `${HOSTILE} of 0x1`, HOSTILE_SOURCE)
  expect(page().all('img, b, script')).toEqual([])
  expect(page().all('pre.source')).toHaveLength(1)
})

it('says that the node fails or does not answer', async () => {
  await page().goTo(`/module/${SHOP}/shop`)
  await page().shows('struct Shop')
  page().answers('failed')
  await page().unfold('Source and package')
  await page().shows('The node failed')
  await page().goTo(`/module/${SHOP}/shop`)
  await page().shows('struct Shop')
  page().answers('late')
  await page().unfold('Source and package')
  await page().find('details [role=status]', 'Loading')
  page().answers('lost')
  await page().shows('The node does not answer; asking again')
  page().answers('sound')
  await page().shows('packageCorner')
})
