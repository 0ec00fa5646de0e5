import { bcs } from '@mysten/bcs'
import { describe, expect, it } from 'vitest'
import { codecOf } from '../json/codec.js'
import type { Layout } from '../layout/layout.js'
import { bcsTypeToCodec, layoutToBcsType } from './bcs-type.js'

describe('bcsTypeToCodec', () => {
  const codec = bcsTypeToCodec(bcs.struct('Coin', { value: bcs.u64(), tags: bcs.map(bcs.string(), bcs.u8()) }))

  it('reads its own output', () => {
    const bytes = codec.valueToBytes({ value: 7n, tags: new Map([['a', 1]]) })
    expect(codec.bytesToValue(bytes)).toEqual({ value: '7', tags: new Map([['a', 1]]) })
  })

  it('refuses values that only @mysten/bcs accepts', () => {
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
    // The bytes have trailing bytes, or a map out of order, or are a slice whose neighbours would complete it.
    for (const wrong of [shared, swapped, shared.subarray(0, bytes.length - 1)]) {
      expect(() => codec.bytesToValue(wrong)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
    }
    expect(() => codec.valueToBytes({ value: -1n, tags: new Map() })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
  })

  it('names the type and the cause in its refusals', () => {
    const expectRefusal = (work: () => unknown, message: RegExp) =>
      expect(work).toThrow(
        expect.objectContaining({ message: expect.stringMatching(message), cause: expect.any(Error) }),
      )
    expectRefusal(() => codec.bytesToValue(Uint8Array.of(1)), /^no Coin: ./)
    expectRefusal(() => codec.valueToBytes({ value: -1n, tags: new Map() }), /^no Coin: ./)
    const trailing = Uint8Array.of(...codec.valueToBytes({ value: 7n, tags: new Map() }), 0)
    expect(() => codec.bytesToValue(trailing)).toThrow('the bytes are not the canonical form of a Coin')
  })
})

describe('layoutToBcsType', () => {
  it('has no type for layouts that @mysten/bcs does not know', () => {
    for (const kind of ['i64', 'signer', 'function'] as const) {
      const message = `@mysten/bcs has no type for ${kind}`
      expect(() => layoutToBcsType({ kind })).toThrow(expect.objectContaining({ code: 'unsupported_type', message }))
    }
  })

  it('has the values of @mysten/bcs, with addresses as hex', () => {
    const address = `0x${'00'.repeat(31)}0a`
    const values: readonly (readonly [Layout, unknown])[] = [
      [{ kind: 'bool' }, true],
      [{ kind: 'address' }, address],
      [{ kind: 'object' }, { inner: address }],
      [{ kind: 'map', key: { kind: 'u8' }, value: { kind: 'bool' } }, new Map([[1, true]])],
    ]
    for (const [layout, value] of values) {
      const type = layoutToBcsType(layout)
      if (layout.kind === 'object') expect(type.name).toBe('Object')
      const bytes = type.serialize(value).toBytes()
      expect(type.parse(bytes)).toEqual(value)
      // Both kinds of types give the same bytes.
      expect(() => codecOf(layout).bytesToJson(bytes)).not.toThrow()
    }
  })
})
