import { describe, expect, it } from 'vitest'
import { codecOf } from '../json/codec.js'
import type { Layout } from '../layout/layout.js'
import { createValueCodec } from '../values/value-codec.js'

const U8: Layout = { kind: 'u8' }
const U64: Layout = { kind: 'u64' }
const BOOL: Layout = { kind: 'bool' }
const struct = (fields: Readonly<Record<string, Layout>>): Layout => ({
  kind: 'struct',
  name: 'S',
  fields: Object.entries(fields).map(([name, layout]) => ({ name, layout })),
})
const list = (element: Layout): Layout => ({ kind: 'vector', element })
const zeros = (count: number) => new Array<number>(count).fill(0)
const LETTERS: Layout = {
  kind: 'enum',
  name: 'Letter',
  variants: [
    { name: 'A', fields: [] },
    { name: 'B', fields: [{ name: 'flag', layout: BOOL }] },
  ],
}
const UNSORTED = struct({ b: BOOL, a: BOOL })
const UNSORTED_AND_LONG = struct({ c: list(BOOL), b: BOOL, a: BOOL })

const readers = [
  ['JSON', (layout: Layout) => (bytes: Uint8Array) => codecOf(layout).bytesToJson(bytes)],
  ['JSON in UTF-8', (layout: Layout) => (bytes: Uint8Array) => codecOf(layout).bytesToJsonUtf8(bytes)],
  ['JavaScript values', (layout: Layout) => createValueCodec(layout).bytesToValue],
] as const

describe.each(readers)('bytes that are read into %s', (_, readerOf) => {
  it.each<[string, Layout, number[], string]>([
    ['a bad byte', BOOL, [2], 'expected boolean, found byte 2 at byte 0'],
    ['bytes after the value', U8, [1, 2], '1 bytes are left over after the value: remaining input at byte 1'],
    ['a signer', { kind: 'signer' }, zeros(32), 'cannot deserialize signer at byte 0'],
    [
      'an Option of two',
      { kind: 'option', declaredAs: 'enum', element: U8 },
      [2, 1, 1],
      'an Option of 2 elements at byte 0',
    ],
    ['a variant too many', LETTERS, [2], 'variant 2 of Letter, which has 2 variants at byte 0'],
    ['a bad field of a variant', LETTERS, [1, 3], 'flag: expected boolean, found byte 3 at byte 1'],
    ['a bad element', list(BOOL), [3, 0, 1, 2], '[2]: expected boolean, found byte 2 at byte 3'],
    ['a bad field that is printed last', UNSORTED, [2, 0], 'b: expected boolean, found byte 2 at byte 0'],
    ['a bad field that is printed first', UNSORTED, [0, 2], 'a: expected boolean, found byte 2 at byte 1'],
    [
      'a bad field after one of any length',
      UNSORTED_AND_LONG,
      [0, 2, 0],
      'b: expected boolean, found byte 2 at byte 1',
    ],
    [
      'a list that is cut short',
      list(U64),
      [2, ...zeros(15)],
      'unexpected end of input: 2 elements in 15 bytes at byte 0',
    ],
    [
      'a list of structs that is cut short',
      list(struct({ a: U8, b: U64 })),
      [2, ...zeros(17)],
      'unexpected end of input: 2 elements in 17 bytes at byte 0',
    ],
    [
      'a map that is cut short',
      { kind: 'map', key: U8, value: U64 },
      [2, ...zeros(17)],
      'unexpected end of input: 2 elements in 17 bytes at byte 0',
    ],
    [
      'more elements without bytes than are read',
      list(struct({})),
      [0x81, 0x02],
      'unexpected end of input: 257 elements in 0 bytes at byte 0',
    ],
  ])('are refused for %s', (_name, layout, bytes, message) => {
    expect(() => readerOf(layout)(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'invalid_bcs', message }),
    )
  })

  it('may be as few as the elements need, and none where elements have none', () => {
    for (const [layout, bytes] of [
      [list(U64), [2, ...zeros(16)]],
      [list(struct({ a: U8, b: U64 })), [2, ...zeros(18)]],
      [{ kind: 'map', key: U8, value: U64 }, [2, ...zeros(9), 1, ...zeros(8)]],
      [list(struct({})), [0x80, 0x02]],
    ] as [Layout, number[]][]) {
      expect(() => readerOf(layout)(Uint8Array.from(bytes))).not.toThrow()
    }
  })

  it('are refused with the inner end of a long path', () => {
    const name = 'f'.repeat(79)
    const inner = 'g'.repeat(80)
    let layout = struct({ [inner]: BOOL })
    for (let level = 0; level < 10; level++) layout = struct({ [name]: layout })
    // The path has 240 units and gets one more name. Its innermost three names have exactly that length.
    const path = `…${name}.${name}.${name}.${inner}`
    expect(() => readerOf(layout)(Uint8Array.of(2))).toThrow(expect.objectContaining({ fields: { path, offset: 0 } }))
  })
})
