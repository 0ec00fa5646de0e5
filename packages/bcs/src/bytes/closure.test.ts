import { ByteReader, ByteWriter } from '@ledger-state/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecOf } from '../json/codec.js'
import { type Layout, MAX_LAYOUT_DEPTH } from '../layout/layout.js'
import { createValueCodec } from '../values/value-codec.js'
import { CapturedBudget, readCapturedLayout } from './closure.js'

/** Tags of layouts by kind, from docs/ledger-formats.md. */
const TAGS = [
  ...['bool', 'u8', 'u64', 'u128', 'address', 'vector', 'struct', 'signer', 'u16', 'u32', 'u256'],
  ...['wrapper', 'function', 'i8', 'i16', 'i32', 'i64', 'i128', 'i256'],
]
const TAG = Object.fromEntries(TAGS.map((kind, tag) => [kind, tag])) as Record<string, number>
const PARTS = ['vector', 'struct', 'wrapper']

const withLayouts = (layouts: Layout[]) => layouts.map((layout, at) => ({ name: `_${at}`, layout }))

const layoutOfAnyForm: fc.Arbitrary<Layout> = fc.letrec<{ layout: Layout }>((tie) => ({
  layout: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(...TAGS.filter((kind) => !PARTS.includes(kind))).map((kind) => ({ kind }) as Layout),
    fc.record({ kind: fc.constant('vector' as const), element: tie('layout') }),
    fc
      .array(tie('layout'), { maxLength: 3 })
      .map((fields): Layout => ({ kind: 'struct', name: 'captured', fields: withLayouts(fields) })),
    fc.array(fc.array(tie('layout'), { maxLength: 2 }), { maxLength: 3 }).map(
      (variants): Layout => ({
        kind: 'enum',
        name: 'captured',
        variants: variants.map((fields, at) => ({ name: String(at), fields: withLayouts(fields) })),
      }),
    ),
  ),
})).layout

/** Encodes a layout, with a number of wrappers before each of its layouts. */
function layoutBytes(layout: Layout, wrappers: number): number[] {
  const inside = (part: Layout) => layoutBytes(part, wrappers)
  const before = Array.from({ length: wrappers }, () => [TAG.wrapper!, 1]).flat()
  const list = (fields: readonly { readonly layout: Layout }[]) => [
    fields.length,
    ...fields.flatMap((field) => inside(field.layout)),
  ]
  switch (layout.kind) {
    case 'vector':
      return [...before, TAG.vector!, ...inside(layout.element)]
    case 'struct':
      return [...before, TAG.struct!, 0, ...list(layout.fields)]
    case 'enum':
      return [
        ...before,
        TAG.struct!,
        1,
        layout.variants.length,
        ...layout.variants.flatMap(({ fields }) => list(fields)),
      ]
    default:
      return [...before, TAG[layout.kind]!]
  }
}

const readLayout = (bytes: readonly number[], depth = 0) =>
  readCapturedLayout(new ByteReader(Uint8Array.from(bytes)), new CapturedBudget(), depth)

describe('readCapturedLayout', () => {
  it('reads layouts of every form, in wrappers and without', () => {
    fc.assert(
      fc.property(layoutOfAnyForm, fc.nat(1), (layout, wrappers) => {
        expect(readLayout(layoutBytes(layout, wrappers))).toEqual(layout)
      }),
    )
  })

  it.each([
    ['a tag that no layout has', [0x13], 'unknown layout at byte 0'],
    ['a struct of an unknown form', [6, 2, 0], 'unknown form of a struct layout at byte 0'],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => readLayout(bytes)).toThrow(expect.objectContaining({ code: 'invalid_bcs', message }))
  })

  it.each([
    ['vectors', [TAG.vector!]],
    ['structs', [TAG.struct!, 0, 1]],
    ['enums', [TAG.struct!, 1, 1, 1]],
    ['wrappers', [TAG.wrapper!, 0]],
  ])('reads %s nested as deep as any layout, and no deeper', (_, level) => {
    const nested = (levels: number) => [...new Array<number[]>(levels).fill(level).flat(), TAG.u8!]
    const around = 100
    expect(() => readLayout(nested(MAX_LAYOUT_DEPTH - around), around)).not.toThrow()
    expect(() => readLayout(nested(MAX_LAYOUT_DEPTH - around + 1), around)).toThrow(/nested more than 128 levels deep/)
  })
})

/** Encodes a function value without type arguments. Each captured value has its layout before it. */
function closure(...captured: readonly (readonly number[])[]): Uint8Array {
  const writer = new ByteWriter()
    .uleb128(5 + 2 * captured.length)
    .u16(1)
    .bytes(new Uint8Array(32))
    .string('m')
    .string('f')
    .uleb128(0)
    .u64(2n ** BigInt(captured.length) - 1n)
  for (const bytes of captured) writer.bytes(Uint8Array.from(bytes))
  return writer.toBytes()
}

const readers = [
  ['as JSON', (layout: Layout) => codecOf(layout).bytesToJson],
  ['as JavaScript values', (layout: Layout) => createValueCodec(layout).bytesToValue],
] as const

describe.each(readers)('a function value that is read %s', (_, readerOf) => {
  it('may capture layouts as deep as the surrounding value allows', () => {
    const vectors = (levels: number) => closure([...new Array(levels).fill(TAG.vector), TAG.bool!, 0])
    for (const around of [0, 1, 50]) {
      let layout: Layout = { kind: 'function' }
      for (let level = 0; level < around; level++) layout = { kind: 'vector', element: layout }
      const value = (levels: number) => Uint8Array.of(...new Array(around).fill(1), ...vectors(levels))
      const most = MAX_LAYOUT_DEPTH - around - 1
      expect(() => readerOf(layout)(value(most))).not.toThrow()
      expect(() => readerOf(layout)(value(most + 1))).toThrow(/nested more than 128 levels deep/)
    }
  })

  it('has its own budget of captured layouts', () => {
    const read = readerOf({ kind: 'vector', element: { kind: 'function' } })
    const one = closure([TAG.u8!, 9])
    const list = new ByteWriter().uleb128(10_000)
    for (let at = 0; at < 10_000; at++) list.bytes(one)
    for (let time = 0; time < 2; time++) expect(() => read(list.toBytes())).not.toThrow()
  })
})

describe('the JSON of a function value', () => {
  const { bytesToJson } = codecOf({ kind: 'function' })

  it('has no member of type arguments where there are none', () => {
    expect(bytesToJson(closure())).toBe('{"__fun_name__":"0x0::m::f","__mask__":"0"}')
  })

  it('separates captured values, and names the place of an unreadable one', () => {
    expect(bytesToJson(closure([TAG.u8!, 1], [TAG.bool!, 1]))).toContain('"__captured__":[1,true]')
    expect(() => bytesToJson(closure([TAG.u8!, 1], [TAG.bool!, 7]))).toThrow(
      /^__captured__\[1\]: expected boolean, found byte 7 at byte \d+$/,
    )
  })
})
