import { ByteReader, ByteWriter } from '@ledger-state/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readVarint, writeVarint } from './varint.js'

it('writeVarint and readVarint carry any number of 70 bits, in one byte for each 7 bits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n - 1n }), (value) => {
      const writer = new ByteWriter()
      writeVarint(writer, value)
      const bytes = writer.toBytes()
      expect(bytes).toHaveLength(Math.max(1, Math.ceil(value.toString(2).length / 7)))
      expect(readVarint(new ByteReader(bytes))).toBe(value)
    }),
  )
})

it('readVarint refuses an eleventh byte', () => {
  const endless = new Uint8Array(11).fill(0x80)
  expect(() => readVarint(new ByteReader(endless))).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
})
