import { bytesToHexDigits } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HashBatch } from './hash-batch.js'
import { LedgerHasher } from './ledger-hasher.js'

describe('HashBatch', () => {
  const hasher = new LedgerHasher()

  it('hashes messages of any number of parts and blocks, in their order, even after it was cleared', () => {
    const part = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 100, maxLength: 1_500 }))
    const message = fc.record({
      name: fc.constantFrom('StateKey' as const, 'StateValue' as const),
      first: fc.nat(255),
      parts: fc.array(part, { maxLength: 3 }),
    })
    const batch = new HashBatch(hasher, 1)
    fc.assert(
      fc.property(fc.array(message, { maxLength: 300 }), (messages) => {
        batch.clear()
        const expected = messages.map(({ name, first, parts }) => {
          batch.begin(name)
          batch.putByte(first)
          for (const one of parts) batch.put(one)
          batch.end()
          return bytesToHexDigits(hasher.hash(name, Uint8Array.of(first, ...parts.flatMap((one) => [...one]))))
        })
        expect(batch.count).toBe(messages.length)
        for (let time = 0; time < 2; time++) expect(bytesToHexDigits(batch.flush())).toBe(expected.join(''))
      }),
    )
  })
})
