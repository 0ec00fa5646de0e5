import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { SHOP } from '../../testing/page-ledger.ts'

const page = openedPage()

async function compare(version: string): Promise<void> {
  await page().goTo(`/module/${SHOP}/shop`)
  await page().unfold('Compare with another version')
  await page().fill('Version or time to compare with', version)
  await page().click('details button', 'Compare')
}

it('shows the declarations that a version added', async () => {
  await compare('4')
  await page().find('details ins', 'struct Till')
  expect(page().texts('details del')).toEqual([])
})

it('says that the module is the same', async () => {
  await compare('6')
  await page().shows('The same bytecode at 6.')
})

it('says that a version is no longer kept', async () => {
  await compare('1')
  await page().shows('No longer kept')
})

it('asks a busy node again, for the package, too', async () => {
  for (const paths of [/module\/shop/, /PackageRegistry/]) {
    await page().goTo(`/module/${SHOP}/shop`)
    await page().unfold('Compare with another version')
    page().busyAt(paths)
    await page().fill('Version or time to compare with', '4')
    await page().click('details button', 'Compare')
    await page().shows('The node is busy; asking again')
    page().busyAt(undefined)
    await page().find('details ins', 'struct Till')
  }
})

it('says that the node fails', async () => {
  await page().goTo(`/module/${SHOP}/shop`)
  await page().unfold('Compare with another version')
  page().answers('failed')
  await page().fill('Version or time to compare with', '4')
  await page().click('details button', 'Compare')
  await page().shows('The node failed')
})
