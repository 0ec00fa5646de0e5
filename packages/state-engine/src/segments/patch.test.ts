import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteOutput } from './byte-output.ts'
import { applyPatch, putPatch } from './patch.ts'

const pairs = fc
  .integer({ min: 0, max: 600 })
  .chain((length) =>
    fc.tuple(
      fc.uint8Array({ minLength: length, maxLength: length }),
      fc.array(fc.tuple(fc.nat(Math.max(0, length - 1)), fc.nat(255)), { maxLength: 30 }),
    ),
  )

it('a patch gives the value, and saves a quarter or is none', () => {
  const property = fc.property(pairs, fc.nat(5), ([before, changes], prefix) => {
    const after = Uint8Array.from(before)
    if (after.length > 0) for (const [at, byte] of changes) after[at] = byte
    const output = new ByteOutput(1)
    output.zeros(prefix)
    const isPatched = putPatch(output, before, 0, after, 0, after.length)
    const length = output.length - prefix
    expect(length).toBeLessThanOrEqual((after.length * 3) / 4)
    if (!isPatched) expect(length).toBe(0)
    const value = Uint8Array.from(before)
    applyPatch(value, 0, value.length, output.bytes, prefix, output.length)
    if (isPatched) expect(Buffer.compare(value, after)).toBe(0)
  })
  fc.assert(property, { numRuns: 2_000 })
})

it('equal values have an empty patch, and one changed byte costs three', () => {
  const output = new ByteOutput()
  const before = Buffer.alloc(100, 1)
  expect([putPatch(output, before, 0, before, 0, 100), output.length]).toEqual([true, 0])
  const after = Buffer.from(before)
  after[70] = 2
  expect([putPatch(output, before, 0, after, 0, 100), output.length]).toEqual([true, 3])
  // Two runs with two equal bytes between them are one.
  after[73] = 2
  output.length = 0
  expect([putPatch(output, before, 0, after, 0, 100), output.length]).toEqual([true, 6])
})

it('damaged patches write nothing beyond the value', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    const values = new Uint8Array(60)
    applyPatch(values, 20, 40, bytes, 0, bytes.length)
    expect(values.subarray(0, 20)).toEqual(new Uint8Array(20))
    expect(values.subarray(40)).toEqual(new Uint8Array(20))
  })
  fc.assert(property)
})
