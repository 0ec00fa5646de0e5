import { describe, expect, expectTypeOf, it } from 'vitest'
import { codecOf } from '../json/codec.js'
import { parseJson } from '../json/parse-json.js'
import type { Layout } from '../layout/layout.js'
import {
  address,
  bool,
  bytes,
  enumeration,
  functionValue,
  type InferValue,
  i8,
  i64,
  i256,
  map,
  object,
  option,
  string,
  struct,
  u8,
  u16,
  u32,
  u64,
  u128,
  u256,
  vector,
} from './build-layout.js'
import type { MoveClosure, MoveValue } from './move-value.js'
import { createValueCodec } from './value-codec.js'

const berth = struct({ quay: u16(), owner: address(), lengths: vector(u32()), flags: vector(u8()) }, 'Berth')
const ship = enumeration({ Moored: { berth, since: u64() }, AtSea: {} }, 'Ship')

describe('built layouts', () => {
  it('are those that one writes as literals', () => {
    expect(berth).toEqual({
      kind: 'struct',
      name: 'Berth',
      fields: [
        { name: 'quay', layout: { kind: 'u16' } },
        { name: 'owner', layout: { kind: 'address' } },
        { name: 'lengths', layout: { kind: 'vector', element: { kind: 'u32' } } },
        { name: 'flags', layout: { kind: 'vector', element: { kind: 'u8' } } },
      ],
    } satisfies Layout)
    expect(ship).toEqual({
      kind: 'enum',
      name: 'Ship',
      variants: [
        {
          name: 'Moored',
          fields: [
            { name: 'berth', layout: berth },
            { name: 'since', layout: { kind: 'u64' } },
          ],
        },
        { name: 'AtSea', fields: [] },
      ],
    } satisfies Layout)
    expect(map(string(), option(bool(), 'struct'))).toEqual({
      kind: 'map',
      key: { kind: 'string' },
      value: { kind: 'option', declaredAs: 'struct', element: { kind: 'bool' } },
    } satisfies Layout)
    expect(bytes()).toEqual(vector(u8()))
    expect(JSON.parse(JSON.stringify(ship))).toEqual(ship)
  })

  it('have a name and their own form where none is given', () => {
    expect(struct({ flag: bool() })).toEqual({
      kind: 'struct',
      name: 'struct',
      fields: [{ name: 'flag', layout: { kind: 'bool' } }],
    } satisfies Layout)
    expect(enumeration({ On: {} })).toEqual({
      kind: 'enum',
      name: 'enum',
      variants: [{ name: 'On', fields: [] }],
    } satisfies Layout)
    expect(option(bool())).toEqual({ kind: 'option', declaredAs: 'enum', element: { kind: 'bool' } } satisfies Layout)
  })

  it('are read and written as values of their types, and as JSON', () => {
    const codec = createValueCodec(ship)
    const value: InferValue<typeof ship> = {
      variant: 'Moored',
      fields: { berth: { quay: 7, owner: '0xa', lengths: [1, 2], flags: Uint8Array.of(3) }, since: 2n ** 63n },
    }
    const stored = codec.valueToBytes(value)
    expect(codec.bytesToValue(stored)).toEqual(value)
    const json = codecOf(ship)
    expect(json.jsonToBytes(parseJson(json.bytesToJson(stored)))).toEqual(stored)
  })
})

describe('the types of built layouts', () => {
  it('describe the values that are read', () => {
    const empty = struct({})
    expectTypeOf<InferValue<typeof berth>>().toEqualTypeOf<{
      readonly quay: number
      readonly owner: string
      readonly lengths: readonly number[]
      readonly flags: Uint8Array
    }>()
    expectTypeOf<InferValue<typeof ship>>().toEqualTypeOf<
      | {
          readonly variant: 'Moored'
          readonly fields: { readonly berth: InferValue<typeof berth>; readonly since: bigint }
        }
      | { readonly variant: 'AtSea'; readonly fields: InferValue<typeof empty> }
    >()
    expectTypeOf(createValueCodec(berth).bytesToValue).returns.toEqualTypeOf<InferValue<typeof berth>>()
    expectTypeOf(createValueCodec(berth).valueToBytes).parameter(0).toEqualTypeOf<InferValue<typeof berth>>()
  })

  it('follow the kind of each part', () => {
    const narrow = [u8(), u16(), u32(), i8()] as const
    expectTypeOf<InferValue<(typeof narrow)[number]>>().toEqualTypeOf<number>()
    const wide = [u64(), u128(), u256(), i64(), i256()] as const
    expectTypeOf<InferValue<(typeof wide)[number]>>().toEqualTypeOf<bigint>()
    const optional = option(object())
    expectTypeOf<InferValue<typeof optional>>().toEqualTypeOf<readonly [] | readonly [string]>()
    const entries = map(string(), bool())
    expectTypeOf<InferValue<typeof entries>>().toEqualTypeOf<
      readonly (readonly [key: string | Uint8Array, value: boolean])[]
    >()
    const closure = functionValue()
    expectTypeOf<InferValue<typeof closure>>().toEqualTypeOf<MoveClosure>()
  })

  it('are any value for layouts that are not known before the program runs', () => {
    const layout: Layout = berth
    expectTypeOf(createValueCodec(layout).bytesToValue).returns.toEqualTypeOf<MoveValue>()
    const part = struct({ inner: layout })
    expectTypeOf<InferValue<typeof part>>().toEqualTypeOf<{ readonly inner: MoveValue }>()
  })
})
