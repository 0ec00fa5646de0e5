import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'

const page = openedPage(async () => (await createSignedTransactions({ seed: 7 })).engine)

it('a block of a node that keeps transactions shows each of them, and all of it on request', async () => {
  await page().goTo('/version/12')
  await page().shows('Height', /\d+ transactions?/, 'version 12')
  expect(page().text).not.toContain('Changed values')
  const [first, last] = /Versions(\d+) to (\d+)/.exec(page().text)!.slice(1).map(Number)
  expect(page().all('.transactions details').length).toBe(last! - first! + 1)
  await page().unfold('version 12')
  await page().shows('accumulator_root_hash')
})
