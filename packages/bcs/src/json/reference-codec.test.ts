import { ByteWriter, isLedgerStateError } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { referenceBytesToJson } from '../../testing/reference-codec.ts'
import { INTEGER_WIDTH, type Layout } from '../layout/layout.js'
import type { MoveValue } from '../values/move-value.js'
import { createValueCodec } from '../values/value-codec.js'
import { codecOf } from './codec.js'

// No field name is an array index: JavaScript objects would print such members first, and the reference codec uses
// them.
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,6}$/)
const fields = (layout: fc.Arbitrary<Layout>) =>
  fc.uniqueArray(fc.record({ name, layout }), { selector: (field) => field.name, minLength: 1, maxLength: 4 })

const arbitraryLayout: fc.Arbitrary<Layout> = fc.letrec<{ layout: Layout }>((tie) => ({
  layout: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc
      .constantFrom(...Object.keys(INTEGER_WIDTH), 'bool', 'address', 'object', 'string')
      .map((kind) => ({ kind }) as Layout),
    fc.record({ kind: fc.constant('vector' as const), element: tie('layout') }),
    fc.record({
      kind: fc.constant('option' as const),
      declaredAs: fc.constantFrom('struct' as const, 'enum' as const),
      element: tie('layout'),
    }),
    fc.record({ kind: fc.constant('map' as const), key: tie('layout'), value: tie('layout') }),
    fc.record({ kind: fc.constant('struct' as const), name, fields: fields(tie('layout')) }),
    fc.record({
      kind: fc.constant('enum' as const),
      name,
      variants: fc.uniqueArray(fc.record({ name, fields: fields(tie('layout')) }), {
        selector: (variant) => variant.name,
        minLength: 1,
        maxLength: 3,
      }),
    }),
  ),
})).layout

/** Makes bytes that are mostly values of the layout: lengths and tags are small, and booleans are 0 or 1. */
function likelyBytes(layout: Layout, next: () => number): number[] {
  const some = (count: number) => Array.from({ length: count }, next)
  switch (layout.kind) {
    case 'bool':
      return [next() & 1]
    case 'address':
    case 'object':
      return some(32)
    case 'string': {
      const count = next() % 6
      return [count, ...some(count).map((byte) => (byte > 200 ? byte : 32 + (byte % 90)))]
    }
    case 'vector':
    case 'map': {
      const parts = layout.kind === 'map' ? [layout.key, layout.value] : [layout.element]
      const count = next() % 4
      return [count, ...Array.from({ length: count }, () => parts.flatMap((part) => likelyBytes(part, next))).flat()]
    }
    case 'option':
      return next() % 2 ? [1, ...likelyBytes(layout.element, next)] : [0]
    case 'struct':
      return layout.fields.flatMap((field) => likelyBytes(field.layout, next))
    case 'enum': {
      const index = next() % layout.variants.length
      return [index, ...layout.variants[index]!.fields.flatMap((field) => likelyBytes(field.layout, next))]
    }
    default:
      return some(INTEGER_WIDTH[layout.kind]!.bytes)
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
    return undefined
  }
}

describe('against the reference codec', () => {
  it('accepts and refuses the same bytes, prints them alike, and writes values back as they were', () => {
    let accepted = 0
    fc.assert(
      fc.property(
        arbitraryLayout,
        fc.infiniteStream(fc.nat(255)),
        fc.nat(400),
        fc.boolean(),
        (layout, stream, damage, damaged) => {
          const bytes = Uint8Array.from(likelyBytes(layout, () => stream.next().value!))
          if (damaged && bytes.length > 0) bytes[damage % bytes.length]! ^= 1 << (damage & 7)
          const codec = codecOf(layout)
          const expected = referenceBytesToJson(layout, bytes)
          const printed = attempt(() => codec.bytesToJson(bytes))
          // A member `__proto__` vanishes from the reference's plain objects.
          if (!JSON.stringify(layout).includes('__proto__')) expect(printed).toBe(expected)
          const values = createValueCodec(layout)
          const value = attempt(() => values.bytesToValue(bytes))
          expect(value === undefined).toBe(printed === undefined)
          if (printed === undefined) return
          accepted++
          expect(new TextDecoder().decode(codec.bytesToJsonUtf8(bytes))).toBe(printed)
          expect([...values.valueToBytes(value!)]).toEqual([...bytes])
        },
      ),
      { numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(1_000)
  })
})

describe('maps', () => {
  const layout: Layout = { kind: 'map', key: { kind: 'string' }, value: { kind: 'u8' } }
  const codec = codecOf(layout)
  const values = createValueCodec(layout)

  it('are written in the order of their keys, and read only so', () => {
    const bytes = values.valueToBytes([
      ['b', 2],
      ['aa', 3],
      ['a', 1],
    ])
    expect(codec.bytesToJson(bytes)).toBe('[{"key":"a","value":1},{"key":"b","value":2},{"key":"aa","value":3}]')
    expect(() =>
      values.valueToBytes([
        ['a', 1],
        ['a', 2],
      ]),
    ).toThrow(/twice/)
    for (const wrong of [
      [2, 1, 98, 0, 1, 97, 0],
      [2, 1, 97, 0, 1, 97, 0],
    ]) {
      expect(() => codec.bytesToJson(Uint8Array.from(wrong))).toThrow(/\[1\]: map keys are not in ascending order/)
      expect(() => values.bytesToValue(Uint8Array.from(wrong))).toThrow(/\[1\]: map keys are not in ascending order/)
    }
  })
})

describe('function values', () => {
  const codec = codecOf({ kind: 'function' })
  const values = createValueCodec({ kind: 'function' })
  const head = (parts: number, mask: bigint) =>
    new ByteWriter()
      .uleb128(parts)
      .u16(1)
      .bytes(new Uint8Array(32).fill(0, 0, 31))
      .string('m')
      .string('f')
      .uleb128(1)
      .u8(1)
      .u64(mask)

  it('print their name, their captured values, and their type arguments', () => {
    expect(codec.bytesToJson(head(5, 0n).toBytes())).toBe(
      '{"__fun_name__":"0x0::m::f","__mask__":"0","__ty_args__":["u8"]}',
    )
    // The function value captures a u64 and a struct of (bool, vector<u8>).
    const closure = head(9, 0b101n)
      .u8(2)
      .u64(7n)
      .u8(6)
      .u8(0)
      .uleb128(2)
      .u8(0)
      .u8(5)
      .u8(1)
      .bool(true)
      .byteString(Uint8Array.of(1, 2))
    const bytes = closure.toBytes()
    expect(codec.bytesToJson(bytes)).toBe(
      '{"__captured__":["7",{"_0":true,"_1":"0x0102"}],"__fun_name__":"0x0::m::f","__mask__":"101","__ty_args__":["u8"]}',
    )
    const value = values.bytesToValue(bytes)
    expect(value).toEqual({ functionName: '0x0::m::f', bytes })
    expect(values.valueToBytes(value)).toEqual(bytes)
  })

  it('may bring layouts of as many parts as its limit, and no more', () => {
    const list = codecOf({ kind: 'vector', element: { kind: 'function' } })
    // The function value captures one u8.
    const one = head(7, 1n).u8(1).u8(9).toBytes()
    const closures = (count: number) => {
      const writer = new ByteWriter().uleb128(count)
      for (let at = 0; at < count; at++) writer.bytes(one)
      return writer.toBytes()
    }
    expect(JSON.parse(list.bytesToJson(closures(16_384)))).toHaveLength(16_384)
    const message = 'function values capture layouts of more than 16384 parts'
    const refused = expect.objectContaining({ code: 'type_too_large', message: expect.stringContaining(message) })
    expect(() => list.bytesToJson(closures(16_385))).toThrow(refused)
  })

  it('refuse other formats, wrong counts, endless layouts, and values that are no closures', () => {
    expect(() => codec.bytesToJson(head(7, 0n).toBytes())).toThrow(/7 parts that captures 0 values/)
    expect(() => codec.bytesToJson(Uint8Array.of(5, 2, 0))).toThrow(/format 2/)
    const endless = head(7, 1n).bytes(new Uint8Array(100_000).fill(5)).toBytes()
    expect(() => codec.bytesToJson(endless)).toThrow(/nested more than/)
    expect(() => values.valueToBytes({ functionName: 'x', bytes: Uint8Array.of(1) })).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
    expect(() => values.valueToBytes('x')).toThrow(expect.objectContaining({ code: 'invalid_value' }))
  })
})

describe('valueToBytes', () => {
  it.each([
    [{ kind: 'u8' }, 256],
    [{ kind: 'u8' }, 1n],
    [{ kind: 'u8' }, 1.5],
    [{ kind: 'u64' }, 1],
    [{ kind: 'u64' }, -1n],
    [{ kind: 'i64' }, 2n ** 63n],
    [{ kind: 'bool' }, 1],
    [{ kind: 'address' }, 'zz'],
    [{ kind: 'string' }, '\ud800'],
    [{ kind: 'vector', element: { kind: 'u8' } }, [1]],
    [{ kind: 'option', declaredAs: 'enum', element: { kind: 'u8' } }, [1, 2]],
    [{ kind: 'struct', name: 'S', fields: [{ name: 'toString', layout: { kind: 'u8' } }] }, {}],
    [
      { kind: 'enum', name: 'E', variants: [] },
      { variant: 'A', fields: {} },
    ],
    [{ kind: 'map', key: { kind: 'u8' }, value: { kind: 'u8' } }, [[1]]],
  ] as [Layout, MoveValue][])('refuses for %j the value %o', (layout, value) => {
    expect(() => createValueCodec(layout).valueToBytes(value)).toThrow(
      expect.objectContaining({ code: 'invalid_value' }),
    )
  })

  it('refuses signers', () => {
    expect(() => createValueCodec({ kind: 'signer' }).valueToBytes('0x1')).toThrow(
      expect.objectContaining({ code: 'unsupported_type' }),
    )
  })
})
