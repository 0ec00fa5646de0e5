import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checksum } from './checksum.js'

it('the checksum matches zlib, for any part and any seed', () => {
  const bytes = fc.uint8Array({ maxLength: 600 })
  const property = fc.property(bytes, fc.nat(600), fc.nat(600), fc.nat(2 ** 32 - 1), (all, a, b, seed) => {
    const [start, end] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)]
    // The bytes lie within a larger buffer, as records do.
    const within = Buffer.concat([Buffer.alloc(3, 7), all, Buffer.alloc(5, 9)]).subarray(3, 3 + all.length)
    expect(checksum(within, start, end, seed)).toBe(crc32(all.subarray(start, end), seed))
  })
  fc.assert(property, { numRuns: 2_000 })
})
