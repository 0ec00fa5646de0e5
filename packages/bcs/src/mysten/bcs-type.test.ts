import { bcs } from '@mysten/bcs'
import { describe, expect, it } from 'vitest'
import { bcsTypeToCodec, layoutToBcsType } from './bcs-type.js'

describe('bcsTypeToCodec', () => {
  const codec = bcsTypeToCodec(bcs.struct('Coin', { value: bcs.u64(), tags: bcs.map(bcs.string(), bcs.u8()) }))

  it('reads what it writes', () => {
    const bytes = codec.valueToBytes({ value: 7n, tags: new Map([['a', 1]]) })
    expect(codec.bytesToValue(bytes)).toEqual({ value: '7', tags: new Map([['a', 1]]) })
  })

  it('refuses what @mysten/bcs alone lets through', () => {
    const bytes = codec.valueToBytes({
      value: 7n,
      tags: new Map([
        ['a', 1],
        ['b', 2],
      ]),
    })
    const shared = new Uint8Array([...bytes, 1, 2, 3])
    const swapped = Uint8Array.from(bytes)
    swapped.set([1, 98, 2, 1, 97, 1], 9)
    // Trailing bytes, a map out of order, and a slice whose neighbours would complete it.
    for (const wrong of [shared, swapped, shared.subarray(0, bytes.length - 1)]) {
      expect(() => codec.bytesToValue(wrong)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
    }
    expect(() => codec.valueToBytes({ value: -1n, tags: new Map() })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
  })
})

describe('layoutToBcsType', () => {
  it('has no type for what @mysten/bcs does not know', () => {
    for (const kind of ['i64', 'signer', 'function'] as const) {
      expect(() => layoutToBcsType({ kind })).toThrow(expect.objectContaining({ code: 'unsupported_type' }))
    }
  })
})
