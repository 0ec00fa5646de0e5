import { storeCorrupt } from '@ledger-state/engine/authoring'
import { expect, it } from 'vitest'
import { toDamage, toReadError } from './damage-errors.js'

const BAD_TRANSACTION = 'MDB_BAD_TXN: Transaction must abort, has a child, or is invalid'

it.each([
  Object.assign(new Error(`${BAD_TRANSACTION}: No transaction to renew`), { code: -30_782 }),
  new Error(`${BAD_TRANSACTION}: Transaction flag was invalid for renew: 2`),
  Object.assign(new Error('Invalid argument'), { code: 22 }),
])('a transaction that did not begin is no damage, and may be tried again: %s', (cause) => {
  for (const convert of [toDamage, toReadError]) {
    expect(convert(cause)).toMatchObject({
      code: 'store_failed',
      message: 'LMDB could not begin a transaction; nothing has changed: try again',
      cause,
    })
  }
})

it('damage that LMDB reports is damage, and other errors stay as they are', () => {
  expect(toDamage(new Error(`${BAD_TRANSACTION}: mdb_page_get`))).toMatchObject({ code: 'store_corrupt' })
  expect(toDamage(new Error('MDB_CORRUPTED: Located page was wrong type'))).toMatchObject({ code: 'store_corrupt' })
  const known = storeCorrupt('a record')
  const system = Object.assign(new Error('EINVAL: invalid argument, read'), { code: 'EINVAL', syscall: 'read' })
  for (const error of [known, new TypeError('x'), system, 'text']) expect(toDamage(error)).toBe(error)
})
