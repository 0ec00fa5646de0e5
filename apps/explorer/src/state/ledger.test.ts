import { expect, it } from 'vitest'
import { isLaterHead } from './ledger.ts'

it('a head of another ledger, or of a truncated one, is not taken for a later one', () => {
  const head = {
    version: '100',
    chainId: '4',
    oldestVersion: '0',
    timestampUsec: '500',
    height: '9',
    oldestHeight: '0',
    epoch: '1',
  }
  expect(isLaterHead(head, head)).toBe(true)
  expect(isLaterHead({ ...head, version: '101', timestampUsec: '501' }, head)).toBe(true)
  expect(isLaterHead(head, undefined)).toBe(false)
  for (const other of [{ version: '99' }, { chainId: '5' }, { oldestVersion: '1' }, { timestampUsec: '499' }]) {
    expect(isLaterHead({ ...head, ...other }, head)).toBe(false)
  }
})
