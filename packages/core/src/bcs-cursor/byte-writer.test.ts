import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteWriter } from './byte-writer.js'

it('copies the written bytes, short and long, in its pool and outside', () => {
  const bytes = fc.uint8Array({ maxLength: 1_500, size: 'max' })
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 1, maxLength: 20 }), (values) => {
      const writer = new ByteWriter()
      const copies = values.map((value) => {
        writer.reset()
        writer.bytes(value)
        return [writer.toBytes(), writer.toPooledBytes()] as const
      })
      writer.reset()
      writer.bytes(new Uint8Array(1_500).fill(0xee))
      for (const [at, copy] of copies.entries()) {
        for (const one of copy) expect([...one]).toEqual([...values[at]!])
        // Nothing else has the memory of the first one.
        expect(copy[0].buffer.byteLength).toBe(copy[0].length)
      }
    }),
  )
})
