import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timeTicks, timeTickText, versionTicks } from './axis.ts'

const U64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const MOST = fc.integer({ min: 1, max: 10 })

it('ticks are round, within the range, and few', () => {
  expect(versionTicks(993n, 2_999n, 5)).toEqual([1_000n, 1_500n, 2_000n, 2_500n])
  fc.assert(
    fc.property(U64, U64, MOST, (a, b, most) => {
      const [first, last] = a < b ? [a, b] : [b, a]
      for (const ticks of [versionTicks(first, last, most), timeTicks(first, last, most).times]) {
        expect(ticks.length).toBeLessThanOrEqual(most + 1)
        for (const tick of ticks) expect(tick >= first && tick <= last).toBe(true)
      }
    }),
  )
})

it('a ledger of only a genesis has no ticks, nor has one whose times are none', () => {
  expect(versionTicks(0n, 0n, 5)).toEqual([])
  expect(timeTicks(0n, 0n, 5).times).toEqual([])
  expect(timeTicks(1n, 2n ** 64n - 1n, 5).times).toEqual([])
})

it('times are written in UTC, as short as their distance allows', () => {
  const midnight = 1_735_689_600_000_000n
  const { times, step } = timeTicks(midnight - 500_000_000n, midnight + 500_000_000n, 5)
  expect([step, times.map((time) => timeTickText(time, step))]).toEqual([300, ['23:55', '2025-01-01', '00:05']])
  expect(timeTickText(midnight + 5_000_000n, 5)).toBe('00:00:05')
  expect(timeTickText(midnight + 3_600_000_000n, 172_800)).toBe('2025-01-01')
})
