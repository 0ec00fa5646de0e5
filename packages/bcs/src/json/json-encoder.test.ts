import { ByteWriter, bytesToHex } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTEGER_WIDTH, type Layout } from '../layout/layout.js'
import { codecOf } from './codec.js'
import { createJsonEncoder } from './json-encoder.js'
import { parseJson } from './parse-json.js'

const U8: Layout = { kind: 'u8' }
const BOOL: Layout = { kind: 'bool' }
const STRUCT: Layout = { kind: 'struct', name: 'S', fields: [{ name: 'flag', layout: BOOL }] }
const COLOR: Layout = {
  kind: 'enum',
  name: 'Color',
  variants: [
    { name: 'Red', fields: [] },
    { name: 'Gray', fields: [{ name: 'light', layout: U8 }] },
  ],
}
const list = (element: Layout): Layout => ({ kind: 'vector', element })
const option = (element: Layout): Layout => ({ kind: 'option', declaredAs: 'struct', element })
const encode = (layout: Layout, json: string) => bytesToHex(codecOf(layout).jsonToBytes(parseJson(json)))

const AN_ADDRESS = 'expected an address such as "0x1"'
const AN_OBJECT = 'expected an object address such as "0x1" or {"inner":"0x1"}'
const UNSUPPORTED = {
  map: 'BCS maps are not written from JSON: Move has no type of that form',
  signer: 'Type layouts cannot contain signer',
  function: 'function values cannot be written in JSON',
}

describe('a JSON value that does not fit its layout', () => {
  it.each<[Layout, string, string]>([
    [BOOL, '"yes"', 'invalid type: string "yes", expected a boolean'],
    [BOOL, '1', 'invalid type: number, expected a boolean'],
    [{ kind: 'address' }, '1', `invalid type: number, ${AN_ADDRESS}`],
    [{ kind: 'address' }, '{"inner":"0x1"}', `invalid type: map, ${AN_ADDRESS}`],
    [{ kind: 'object' }, '1', `invalid type: number, ${AN_OBJECT}`],
    [{ kind: 'object' }, '{}', `invalid type: nothing, ${AN_OBJECT}`],
    [{ kind: 'string' }, 'null', 'invalid type: null, expected a string'],
    [list(U8), '[1]', 'invalid type: sequence, expected hex text such as "0x0102"'],
    [list(BOOL), '{}', 'invalid type: map, expected an array'],
    [list(BOOL), '[true,1]', '[1]: invalid type: number, expected a boolean'],
    [U8, '"1"', 'invalid type: string "1", expected a whole number (u8)'],
    [U8, '1.5', '"1.5" is not a whole number (u8)'],
    [U8, '256', '256 does not fit in u8'],
    [{ kind: 'u64' }, 'true', 'invalid type: boolean `true`, expected a decimal string or a whole number (u64)'],
    [{ kind: 'i128' }, '"x"', '"x" is not a decimal string or a whole number (i128)'],
    [{ kind: 'i128' }, '"-"', '"-" is not a decimal string or a whole number (i128)'],
    [option(U8), '[]', 'invalid type: sequence, expected {"vec":[]} or {"vec":[…]}'],
    [option(U8), '{"none":[]}', 'field vec not found'],
    [option(U8), '{"vec":"0x0506"}', 'vec: expected at most one element in an Option, got 2'],
    [option(U8), '{"vec":"0506"}', 'vec: expected at most one element in an Option, got 2'],
    [option(U8), '{"vec":[5,6,7]}', 'vec: expected at most one element in an Option, got 3'],
    [option(U8), '{"vec":5}', 'vec: invalid type: number, expected an array of at most one element'],
    [
      option({ kind: 'u16' }),
      '{"vec":"0x05"}',
      'vec: invalid type: string "0x05", expected an array of at most one element',
    ],
    [option(BOOL), '{"vec":[5]}', 'vec[0]: invalid type: number, expected a boolean'],
    [STRUCT, '[]', 'invalid type: sequence, expected a map of the fields of a struct'],
    [STRUCT, '{"flag":0}', 'flag: invalid type: number, expected a boolean'],
    [COLOR, '"Red"', 'invalid type: string "Red", expected a map such as {"Variant":{…}}'],
    [COLOR, '{}', 'Enum value must have exactly one variant specified'],
    [COLOR, '{"Gray":[]}', 'Gray: invalid type: sequence, expected a map of the fields of the variant'],
    [COLOR, '{"Gray":{"light":1,"x":2}}', 'Gray: Unknown field "x"'],
    [COLOR, '{"Gray":{"light":1,"__variant__":2}}', 'Gray: Unknown field "__variant__"'],
    [COLOR, '{"__variant__":"Gray","light":1,"x":2}', 'Unknown field "x"'],
    [COLOR, '{"__variant__":"Gray","light":256}', 'light: 256 does not fit in u8'],
    [COLOR, '{"__variant__":"Blue"}', 'Variant Blue not found, expected one of Red, Gray'],
  ])('is refused: %j and %s', (layout, json, message) => {
    expect(() => encode(layout, json)).toThrow(expect.objectContaining({ code: 'invalid_value', message }))
  })
})

describe('a layout whose values are not written', () => {
  it.each(Object.entries(UNSUPPORTED))('is refused where a part is a %s', (kind, message) => {
    const part = (kind === 'map' ? { kind, key: U8, value: U8 } : { kind }) as Layout
    const refused = expect.objectContaining({ code: 'unsupported_type', message })
    expect(() => createJsonEncoder(list(part))).toThrow(refused)
    // These traits are wrong for the layout.
    const encode = createJsonEncoder(list(part), { depth: 1, unwritable: undefined })
    expect(() => encode([null])).toThrow(refused)
  })
})

describe('a wide integer', () => {
  const wide = Object.entries(INTEGER_WIDTH).filter(([, { bytes }]) => bytes >= 8)
  /** Numbers of 1 to 25 digits: a double holds the shortest, a u64 some of the others. */
  const digits = fc
    .integer({ min: 1, max: 25 })
    .chain((length) => fc.bigInt({ min: 10n ** BigInt(length - 1), max: 10n ** BigInt(length) - 1n }))
    .map(String)
  const sign = fc.constantFrom('', '+', '-')
  const zeros = fc.oneof(fc.nat(20), fc.constant(0), fc.constant(100)).map((count) => '0'.repeat(count))

  it('is written as it is read, whatever its type, sign, zeros and number of digits', () => {
    fc.assert(
      fc.property(fc.constantFrom(...wide), sign, zeros, digits, ([kind, { bytes, signed }], sign, zeros, digits) => {
        const integer = BigInt(digits) * (sign === '-' ? -1n : 1n)
        const bits = BigInt(bytes * 8)
        const write = () => encode({ kind } as Layout, `"${sign}${zeros}${digits}"`)
        const least = signed ? -(2n ** (bits - 1n)) : 0n
        if (integer < least || integer >= least + 2n ** bits) expect(write).toThrow(`does not fit in ${kind}`)
        else expect(write()).toBe(bytesToHex(new ByteWriter().integer(integer, bytes).toBytes()))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is written with zeros before it, whatever its size', () => {
    const powers = [2n, 10n].flatMap((base) => Array.from({ length: 19 }, (_, exponent) => base ** BigInt(exponent)))
    for (const power of [...powers, 2n ** 31n, 2n ** 32n, 2n ** 48n, 2n ** 63n]) {
      for (const integer of [power - 1n, power, power + 1n]) {
        for (let length = 15; length <= 21; length++) {
          const hex = bytesToHex(new ByteWriter().u64(integer).toBytes())
          expect(encode({ kind: 'u64' }, `"${String(integer).padStart(length, '0')}"`)).toBe(hex)
        }
      }
    }
  })

  it('is zero however many zeros it has', () => {
    for (const zeros of [1, 15, 16, 20, 21, 200]) {
      for (const sign of ['', '+']) {
        expect(encode({ kind: 'u64' }, `"${sign}${'0'.repeat(zeros)}"`)).toBe(`0x${'00'.repeat(8)}`)
      }
      expect(encode({ kind: 'i64' }, `"-${'0'.repeat(zeros)}"`)).toBe(`0x${'00'.repeat(8)}`)
    }
  })

  it.each(Object.entries(INTEGER_WIDTH))('is no zero with a minus sign, unless it is signed: %s', (kind, width) => {
    const zero = `0x${'00'.repeat(width.bytes)}`
    for (const json of width.bytes >= 8 ? ['-0', '"-0"', `"-${'0'.repeat(30)}"`] : ['-0']) {
      const write = () => encode({ kind } as Layout, json)
      if (width.signed) expect(write()).toBe(zero)
      else expect(write).toThrow(`does not fit in ${kind}`)
    }
  })

  it('is refused where one character is not a digit', () => {
    const text = fc
      .tuple(digits, fc.nat(), fc.constantFrom('/', ':', ' ', '.', 'e', '-', '+', 'é'))
      .map(([digits, at, other]) => `${digits.slice(0, at % digits.length)}${other}${digits.slice(at % digits.length)}`)
      .filter((text) => !/^[+-]?[0-9]+$/.test(text))
    fc.assert(
      fc.property(fc.constantFrom(...wide), text, ([kind], text) => {
        expect(() => encode({ kind } as Layout, JSON.stringify(text))).toThrow(`"${text}" is not a decimal string`)
      }),
      { numRuns: 500 },
    )
    expect(() => encode({ kind: 'u64' }, '"-0000000000000001"')).toThrow('does not fit in u64')
    expect(encode({ kind: 'u64' }, '"+0000000000000001"')).toBe('0x0100000000000000')
  })
})

describe('an Option<u8>', () => {
  it('may be hex without 0x', () => {
    for (const [json, hex] of [
      ['{"vec":"05"}', '0x0105'],
      ['{"vec":"0x05"}', '0x0105'],
      ['{"vec":"0x"}', '0x00'],
      ['{"vec":""}', '0x00'],
    ] as const) {
      expect(encode(option(U8), json)).toBe(hex)
    }
  })
})

describe('codecOf', () => {
  it('prints UTF-8 first, too', () => {
    expect(new TextDecoder().decode(codecOf(BOOL).bytesToJsonUtf8(Uint8Array.of(1)))).toBe('true')
  })
})
