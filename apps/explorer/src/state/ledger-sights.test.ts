import { expect, it } from 'vitest'
import { handlesIn } from './ledger-sights.ts'

it('the tables of a resource are found in its members, with their names', () => {
  const data = {
    prices: { handle: '0x7' },
    berths: { inner: { handle: '0x8', length: '3' }, size: '1' },
    text: '0x9',
    list: [{ handle: '0xa' }],
    handle: 'no address',
    nothing: null,
  }
  expect(handlesIn(data)).toEqual([
    { handle: '0x7', path: ['prices'] },
    { handle: '0x8', path: ['berths', 'inner'] },
  ])
  expect(handlesIn('0x7')).toEqual([])
})
