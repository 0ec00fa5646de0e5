import { copyBytes } from '@ledger-state/core/bytes'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KeySet } from './key-set.js'

it('has the keys that were added, by their bytes', () => {
  const key = fc.uint8Array({ maxLength: 2, max: 7 })
  fc.assert(
    fc.property(fc.array(key, { maxLength: 80 }), (keys) => {
      const set = new KeySet()
      const oracle = new Set<string>()
      for (const one of keys) {
        const text = one.join()
        expect(set.add(one)).toBe(!oracle.has(text))
        oracle.add(text)
        expect(set.add(copyBytes(one))).toBe(false)
      }
    }),
  )
})
