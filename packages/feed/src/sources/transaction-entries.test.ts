import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TransactionEntries } from './transaction-entries.js'

const VERSION = fc.integer({ min: 0, max: 40 })

it('finds the entry that holds a version and reaches furthest, and the first one after a version', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(VERSION, VERSION), { minLength: 1, maxLength: 12 }), VERSION, (ranges, at) => {
      const listed = ranges
        .map(([a, b], index) => ({
          firstVersion: BigInt(Math.min(a, b)),
          lastVersion: BigInt(Math.max(a, b)),
          manifest: `${index}`,
        }))
        .sort((a, b) => Number(a.firstVersion - b.firstVersion))
      const entries = new TransactionEntries(listed)
      const version = BigInt(at)
      const holding = listed.filter((entry) => entry.firstVersion <= version && version <= entry.lastVersion)
      const furthest = Math.max(...holding.map(({ lastVersion }) => Number(lastVersion)))
      const found = entries.holding(version)
      expect(found && Number(found.lastVersion)).toBe(holding.length > 0 ? furthest : undefined)
      if (found) expect(holding).toContain(found)
      expect(entries.after(version)).toBe(listed.find(({ firstVersion }) => firstVersion > version))
      expect(entries.firstVersion).toBe(listed[0]!.firstVersion)
      expect(Number(entries.lastVersion)).toBe(Math.max(...listed.map(({ lastVersion }) => Number(lastVersion))))
    }),
  )
})
