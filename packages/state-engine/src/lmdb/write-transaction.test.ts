import { expect, it } from 'vitest'
import { DURABILITIES } from './durability.js'
import type { LmdbEnvironment } from './table.js'
import { runTransaction } from './write-transaction.js'

const FAULT =
  'MDB_BAD_TXN: Transaction must abort, has a child, or is invalid: reserved freelist had a data entry with zero-size, last id 1'

/** Fails like LMDB. The real fault depends on memory that LMDB did not initialize, so it cannot be provoked. */
function failing(faults: number, message: string) {
  let tries = 0
  const root = {
    transactionSync<T>(work: () => T): T {
      const result = work()
      if (++tries <= faults) throw new Error(message)
      return result
    },
    resetReadTxn() {},
    useReadTransaction: () => ({ done() {} }),
    getWriteTxnId: () => 8,
    env: { path: '', info: () => ({ lastTxnId: 7 }) },
  } as unknown as LmdbEnvironment
  return { root, tries: () => tries }
}

it('runTransaction tries again, a few times, if LMDB aborts for no reason', () => {
  const twice = failing(2, FAULT)
  expect(runTransaction(twice.root, 'full', () => 7)).toBe(7)
  expect(twice.tries()).toBe(3)
  const always = failing(99, FAULT)
  expect(() => runTransaction(always.root, 'full', () => 7)).toThrow(FAULT)
  expect(always.tries()).toBe(4)
})

it('runTransaction sets with each transaction the durability of its commit', () => {
  const flagsSeen: (number | undefined)[] = []
  const { root } = failing(0, '')
  const watched = Object.assign(root, {
    transactionSync<T>(work: () => T, flags?: number): T {
      flagsSeen.push(flags)
      return work()
    },
  })
  for (const durability of DURABILITIES) runTransaction(watched, durability, () => {})
  const [full, noMetaSync, noSync] = [0b11, 0x4_0000 | 0b11, 0x1_0000 | 0b11]
  expect(flagsSeen).toEqual([full, noMetaSync, noSync])
})

it('runTransaction does not try again after other errors', () => {
  const full = failing(1, 'MDB_MAP_FULL')
  expect(() => runTransaction(full.root, 'full', () => 7)).toThrow('MDB_MAP_FULL')
  expect(full.tries()).toBe(1)
})
