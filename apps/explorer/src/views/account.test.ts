import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { ALICE, ASSET } from '../../testing/page-ledger.ts'

const page = checkView({
  path: `/account/${ALICE}`,
  shows: ['sent 41 transactions', 'Bean'],
  absent: {
    '/account/0xdead': 'nothing is stored at this address',
    '/account/zzz': 'That cannot be read',
    '/account/0xcafe': 'no account: it has sent no transaction',
  },
  pruned: `/account/${ALICE}?at=1`,
  hostile: `/account/${ASSET}`,
})

it('leads to each part of the account, and says which one is shown', async () => {
  await page().goTo(`/account/${ALICE}/resources`)
  await page().find('.tab', 'Modules')
  expect(page().texts('.tab')).toEqual([
    'Holdings',
    'Activities',
    'Transactions',
    'Objects',
    'Resources',
    'Modules',
    'Changes',
  ])
  expect(page().texts('.tab-chosen')).toEqual(['Resources'])
  await page().click('.tab a', 'Modules')
  await page().shows('No modules at this version.')
  expect(page().path).toBe(`/account/${ALICE}/modules`)
})
