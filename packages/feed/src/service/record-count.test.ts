import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RecordCount } from './record-count.js'

it('counts records however their bytes come in pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(20), { maxLength: 12 }),
      fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
      (lengths, cuts) => {
        const bytes = Buffer.concat(
          lengths.map((length) => {
            const record = Buffer.alloc(4 + length, 7)
            record.writeUInt32BE(length)
            return record
          }),
        )
        const count = new RecordCount()
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const end = at + 1 + cuts[cut % cuts.length]!
          count.add(bytes.subarray(at, end))
          at = end
        }
        expect([count.records, count.isComplete]).toEqual([lengths.length, true])
        expect(count.longest).toBe(Math.max(0, ...lengths))
        count.add(Uint8Array.of(0, 0))
        expect([count.records, count.isComplete]).toEqual([lengths.length, false])
      },
    ),
  )
})
