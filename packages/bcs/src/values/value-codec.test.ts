import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTEGER_WIDTH, type Layout } from '../layout/layout.js'
import type { MoveValue } from './move-value.js'
import { createValueCodec } from './value-codec.js'

const U8: Layout = { kind: 'u8' }
const FLAG: Layout = { kind: 'struct', name: 'S', fields: [{ name: 'flag', layout: { kind: 'bool' } }] }
const COLOR: Layout = {
  kind: 'enum',
  name: 'Color',
  variants: [
    { name: 'Red', fields: [] },
    { name: 'Gray', fields: [{ name: 'light', layout: U8 }] },
  ],
}
const TEXTS: Layout = { kind: 'vector', element: { kind: 'string' } }
const PAIRS: Layout = { kind: 'map', key: U8, value: { kind: 'bool' } }
const STRUCT_EXPECTED = 'expected an object with the fields of a struct'
const ENUM_EXPECTED = 'expected { variant, fields }'
const CLOSURE_EXPECTED = 'expected a function value with its bytes'

describe('valueToBytes', () => {
  it.each<[Layout, unknown, string]>([
    [{ kind: 'bool' }, null, 'invalid type: null, expected a boolean'],
    [{ kind: 'bool' }, [], 'invalid type: array, expected a boolean'],
    [{ kind: 'bool' }, undefined, 'invalid type: undefined, expected a boolean'],
    [{ kind: 'string' }, 1, 'invalid type: number, expected a well-formed string, or its bytes'],
    [{ kind: 'address' }, 1, 'invalid type: number, expected an address such as "0x1"'],
    [{ kind: 'object' }, {}, 'invalid type: object, expected an address such as "0x1"'],
    [{ kind: 'vector', element: U8 }, 'x', 'invalid type: string, expected a Uint8Array'],
    [U8, 1n, 'invalid type: bigint, expected a whole number (u8)'],
    [U8, 0.5, 'invalid type: number, expected a whole number (u8)'],
    [U8, '1', 'invalid type: string, expected a whole number (u8)'],
    [{ kind: 'i128' }, 1, 'invalid type: number, expected a bigint (i128)'],
    [{ kind: 'u16' }, 65_536, '65536 does not fit in u16'],
    [TEXTS, 1, 'invalid type: number, expected an array'],
    [TEXTS, ['a', 1], '[1]: invalid type: number, expected a well-formed string, or its bytes'],
    [{ kind: 'option', declaredAs: 'enum', element: U8 }, [1, 2], 'expected at most one element in an Option, got 2'],
    [PAIRS, {}, 'invalid type: object, expected an array of [key, value]'],
    [PAIRS, [[1, true], 'ab'], '[1]: invalid type: string, expected a pair [key, value]'],
    [PAIRS, [[1]], '[0]: invalid type: array, expected a pair [key, value]'],
    [PAIRS, [[1, true, 2]], '[0]: invalid type: array, expected a pair [key, value]'],
    [PAIRS, [[1, 2]], '[0]: invalid type: number, expected a boolean'],
    ...[null, [], new Uint8Array(1), 'x', undefined].flatMap((value): [Layout, unknown, string][] => {
      const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
      return [
        [FLAG, value, `invalid type: ${found}, ${STRUCT_EXPECTED}`],
        [COLOR, value, `invalid type: ${found}, ${ENUM_EXPECTED}`],
        [{ kind: 'function' }, value, `invalid type: ${found}, ${CLOSURE_EXPECTED}`],
      ]
    }),
    [FLAG, {}, 'flag: invalid type: undefined, expected a boolean'],
    [COLOR, { variant: 'Blue', fields: {} }, 'Variant Blue not found, expected one of Red, Gray'],
    [COLOR, { variant: 'Gray' }, `invalid type: undefined, ${STRUCT_EXPECTED}`],
    [COLOR, { variant: 'Gray', fields: { light: 256 } }, 'light: 256 does not fit in u8'],
    [{ kind: 'function' }, { functionName: 'f' }, `invalid type: object, ${CLOSURE_EXPECTED}`],
  ])('refuses for %j the value %o: %s', (layout, value, message) => {
    expect(() => createValueCodec(layout).valueToBytes(value as MoveValue)).toThrow(
      expect.objectContaining({ code: 'invalid_value', message }),
    )
  })

  it('writes each integer type from its least to its greatest value, and nothing beyond', () => {
    for (const [kind, { bytes, signed }] of Object.entries(INTEGER_WIDTH)) {
      const { valueToBytes, bytesToValue } = createValueCodec({ kind } as Layout)
      const bits = BigInt(bytes * 8)
      const least = signed ? -(2n ** (bits - 1n)) : 0n
      const most = least + 2n ** bits - 1n
      const toValue = (integer: bigint): MoveValue => (bytes >= 8 ? integer : Number(integer))
      for (const value of [least, least + 1n, most - 1n, most].map(toValue)) {
        expect(bytesToValue(valueToBytes(value))).toBe(value)
      }
      for (const value of [least - 1n, most + 1n].map(toValue)) {
        expect(() => valueToBytes(value)).toThrow(`${value} does not fit in ${kind}`)
      }
    }
  })

  it('refuses signers and layouts nested too deep', () => {
    expect(() => createValueCodec({ kind: 'signer' }).valueToBytes('0x1')).toThrow('a signer has no stored values')
    let deep: Layout = U8
    for (let level = 0; level < 129; level++) deep = { kind: 'vector', element: deep }
    expect(() => createValueCodec(deep).valueToBytes([])).toThrow(expect.objectContaining({ code: 'type_too_large' }))
  })

  it('writes maps in ascending order of the bytes of their keys', () => {
    const { valueToBytes, bytesToValue } = createValueCodec(PAIRS)
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.nat(255), fc.boolean()), { selector: ([key]) => key }), (entries) => {
        expect(bytesToValue(valueToBytes(entries))).toEqual([...entries].sort(([a], [b]) => a - b))
      }),
    )
  })
})
