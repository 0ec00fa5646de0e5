import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Holding } from '../api/answers.ts'
import { totalsOf } from './totals.ts'

const holding = (asset_type: string, amount: bigint): Holding => ({
  asset_type,
  token_standard: 'v2',
  owner_address: '0x1',
  storage_id: '0x2',
  is_primary: true,
  is_frozen: false,
  amount: String(amount),
  last_transaction_version: '0',
})

it('adds up every store of an asset, without rounding, whatever the order', () => {
  const held = fc.record({ asset: fc.constantFrom('0xa', '0xb', '0x1::c::C'), amount: fc.bigInt(0n, 2n ** 64n - 1n) })
  fc.assert(
    fc.property(fc.array(held), (all) => {
      const totals = totalsOf(all.map(({ asset, amount }) => holding(asset, amount)))
      expect(totals.map(({ asset }) => asset)).toEqual([...new Set(all.map(({ asset }) => asset))])
      for (const { asset, amount, stores } of totals) {
        const own = all.filter((one) => one.asset === asset)
        expect(stores).toHaveLength(own.length)
        expect(BigInt(amount)).toBe(own.reduce((sum, one) => sum + one.amount, 0n))
      }
    }),
  )
})
