import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { describe, expect, it } from 'vitest'
import { openedPage } from '../../testing/check-view.ts'
import { ALICE, createPageEngine } from '../../testing/page-ledger.ts'

describe('the transactions of an account', () => {
  const page = openedPage(async () => (await createSignedTransactions({ seed: 7 })).engine)
  const versions = () =>
    page()
      .texts('.transactions summary')
      .map((text) => Number(/version (\d+)/.exec(text)![1]))

  it('are those that changed it, the newest first, up to the state of the page, and all of each on request', async () => {
    await page().goTo('/account/0x1/transactions')
    await page().shows('Transactions that changed it', 'succeeded')
    const all = versions()
    expect(all.length).toBeGreaterThan(2)
    expect(all).toEqual(all.toSorted((a, b) => b - a))
    const middle = all[1]!
    await page().goTo(`/account/0x1/transactions?at=${middle}`)
    await page().shows('Transactions that changed it', `version ${middle}`)
    expect(versions()[0]).toBe(middle)
    await page().unfold(`version ${middle}`)
    await page().shows('accumulator_root_hash')
    await page().goTo('/account/0xdead/transactions')
    await page().shows('No transaction changed it in the window of this node.')
  })
})

describe('a node that keeps no transactions', () => {
  const page = openedPage(() => createPageEngine())

  it('says so', async () => {
    await page().goTo(`/account/${ALICE}/transactions`)
    await page().shows(
      'Transactions that changed it',
      'This node does not serve it',
      'does not keep whole transactions',
    )
  })
})
