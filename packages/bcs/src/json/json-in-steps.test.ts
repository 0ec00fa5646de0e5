import { atOnce, ByteWriter, type LedgerStateError, type Steps } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import type { Layout } from '../layout/layout.js'
import { codecOf } from './codec.js'
import { JsonTextWriter } from './json-text-writer.js'

const FLAG: Layout = { kind: 'bool' }
const U64: Layout = { kind: 'u64' }
const listOf = (element: Layout): Layout => ({ kind: 'vector', element })
const fields = (...all: readonly (readonly [string, Layout])[]) => all.map(([name, layout]) => ({ name, layout }))
const flags = (count: number): boolean[] => Array.from({ length: count }, (_, at) => at % 3 === 0)

const COUNT = 40_000
/** Names whose order is not that of the fields. */
const HOLDER: Layout = {
  kind: 'struct',
  name: 'S',
  fields: fields(['z', listOf(FLAG)], ['b', U64], ['a', { kind: 'string' }]),
}
const LONG: Readonly<Record<string, readonly [Layout, unknown]>> = {
  list: [listOf(FLAG), flags(4 * COUNT)],
  'list of lists': [listOf(listOf(U64)), Array.from({ length: COUNT }, (_, at) => [String(at)])],
  'list in one of several lists': [listOf(listOf(FLAG)), [[true], flags(4 * COUNT), []]],
  struct: [HOLDER, { z: flags(4 * COUNT), b: '7', a: 'text "with" quotes' }],
  'list of structs': [
    listOf(HOLDER),
    Array.from({ length: COUNT / 10 }, (_, at) => ({ z: flags(at % 40), b: '1', a: '…' })),
  ],
  option: [
    { kind: 'option', declaredAs: 'struct', element: listOf(U64) },
    { vec: [Array.from({ length: COUNT }, (_, at) => String(at))] },
  ],
}

function countSteps<T>(steps: Steps<T>): { readonly count: number; readonly value: T } {
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  return { count, value: step.value }
}

function failureOf(work: () => unknown): Pick<LedgerStateError, 'code' | 'message' | 'fields'> {
  try {
    work()
  } catch (error) {
    const { code, message, fields } = error as LedgerStateError
    return { code, message, fields }
  }
  throw new Error('it does not fail')
}

describe('a long value', () => {
  for (const [name, [layout, value]] of Object.entries(LONG)) {
    it(`is printed in short steps as it is at once: ${name}`, () => {
      const codec = codecOf(layout)
      const text = JSON.stringify(value)
      const bytes = codec.jsonTextToBytes(text)
      const whole = codec.bytesToJson(bytes)
      expect(JSON.parse(whole)).toEqual(value)
      const inSteps = countSteps(codec.bytesToJsonInSteps(bytes))
      expect(inSteps.value).toBe(whole)
      expect(inSteps.count).toBeGreaterThan(whole.length / (128 << 10) - 1)
      expect(Buffer.from(atOnce(codec.bytesToJsonUtf8InSteps(bytes))).toString()).toBe(whole)
    })

    it(`is refused in steps as it is at once: ${name}`, () => {
      const codec = codecOf(layout)
      const bytes = codec.jsonTextToBytes(JSON.stringify(value))
      for (const broken of [bytes.subarray(0, -1), Buffer.concat([bytes, bytes.subarray(0, 1)])]) {
        const expected = failureOf(() => codec.bytesToJson(broken))
        expect(failureOf(() => atOnce(codec.bytesToJsonInSteps(broken)))).toEqual(expected)
      }
    })
  }

  it('is printed in steps as it is at once: map of enums, which have lists', () => {
    const variants = [
      { name: 'One', fields: fields(['x', U64]) },
      { name: 'List', fields: fields(['z', listOf(FLAG)], ['a', FLAG]) },
    ]
    const codec = codecOf({ kind: 'map', key: { kind: 'address' }, value: { kind: 'enum', name: 'E', variants } })
    const writer = new ByteWriter().uleb128(COUNT / 10)
    for (let at = 0; at < COUNT / 10; at++) {
      const key = Buffer.alloc(32)
      key.writeUInt32BE(at, 28)
      writer.bytes(key)
      if (at % 2 === 0) writer.uleb128(0).u64(BigInt(at))
      else
        writer
          .uleb128(1)
          .uleb128(3)
          .bytes(Uint8Array.of(1, 0, 1))
          .bool(true)
    }
    const bytes = writer.toBytes()
    const whole = codec.bytesToJson(bytes)
    const { count, value } = countSteps(codec.bytesToJsonInSteps(bytes))
    expect(value).toBe(whole)
    expect(count).toBeGreaterThan(whole.length / (128 << 10) - 1)
    const unsorted = Uint8Array.from(bytes)
    unsorted[2 + 31] = 9
    const expected = failureOf(() => codec.bytesToJson(unsorted))
    expect(failureOf(() => atOnce(codec.bytesToJsonInSteps(unsorted)))).toEqual(expected)
  })

  it('of few bytes is printed in steps if its text is long', () => {
    const element: Layout = { kind: 'struct', name: 'S', fields: fields(['n'.repeat(200), FLAG]) }
    const codec = codecOf(listOf(element))
    const bytes = new Uint8Array(30_003).fill(1)
    bytes.set([0xb0, 0xea, 0x01])
    const whole = codec.bytesToJson(bytes)
    const { count, value } = countSteps(codec.bytesToJsonInSteps(bytes))
    expect(value === whole).toBe(true)
    expect(count).toBeGreaterThan(whole.length / (128 << 10))
  })

  it('is printed while others are', () => {
    const codec = codecOf(listOf(FLAG))
    const bytes = codec.jsonTextToBytes(JSON.stringify(flags(4 * COUNT)))
    const [one, other] = [codec.bytesToJsonInSteps(bytes), codec.bytesToJsonInSteps(bytes)]
    let [a, b] = [one.next(), other.next()]
    while (!a.done || !b.done) {
      expect(codec.bytesToJson(Uint8Array.of(1, 1))).toBe('[true]')
      ;[a, b] = [a.done ? a : one.next(), b.done ? b : other.next()]
    }
    expect(a.value).toBe(codec.bytesToJson(bytes))
    expect(b.value).toBe(a.value)
  })

  it('that is short takes no step', () => {
    const codec = codecOf(HOLDER)
    const bytes = codec.jsonTextToBytes('{"z":[true],"b":"7","a":"x"}')
    expect(codec.bytesToJsonInSteps(bytes).next()).toEqual({ done: true, value: '{"a":"x","b":"7","z":[true]}' })
  })
})

describe('a value that is appended to a text', () => {
  const STRUCT: Layout = { kind: 'struct', name: 'S', fields: fields(['b', listOf(U64)], ['a', { kind: 'string' }]) }

  it('is printed as it is alone, after the text', () => {
    const codec = codecOf(STRUCT)
    const out = new JsonTextWriter()
    const texts = ['plain', '"\\\n\u0001', '… 𝄞', 'a'.repeat(5_000)].map((a) => JSON.stringify({ a, b: ['1', '2'] }))
    for (const text of texts) expect(codec.appendJson(codec.jsonTextToBytes(text), out)).toBe(true)
    const notUtf8 = new ByteWriter().uleb128(0).byteString(Uint8Array.of(0xff, 0x22)).toBytes()
    expect(codec.appendJson(notUtf8, out)).toBe(true)
    expect(out.takeText()).toBe(texts.join('') + codec.bytesToJson(notUtf8))
  })

  it('leaves nothing if it is refused, with the error that it has alone', () => {
    const codec = codecOf(STRUCT)
    const out = new JsonTextWriter()
    out.byte(0x5b)
    const bytes = new ByteWriter().uleb128(1).u64(1n).byteString(Uint8Array.of(0x61, 0x62)).toBytes()
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length)
      expect(failureOf(() => codec.appendJson(cut, out))).toEqual(failureOf(() => codec.bytesToJson(cut)))
      expect(out.length).toBe(1)
    }
  })

  it('leaves nothing if it or its text is long', () => {
    const out = new JsonTextWriter()
    out.byte(0x5b)
    const list = codecOf(listOf({ kind: 'struct', name: 'S', fields: fields(['name_of_a_field', FLAG]) }))
    const longText = list.jsonTextToBytes(
      JSON.stringify(Array.from({ length: 60_000 }, () => ({ name_of_a_field: true }))),
    )
    expect(longText.length).toBeLessThan(64 << 10)
    expect(list.appendJson(longText, out)).toBe(false)
    expect(out.length).toBe(1)
    const longValue = codecOf(listOf(FLAG)).jsonTextToBytes(JSON.stringify(flags(70_000)))
    expect(codecOf(listOf(FLAG)).appendJson(longValue, out)).toBe(false)
    expect(out.takeText()).toBe('[')
  })

  it('limits no text that follows', () => {
    const out = new JsonTextWriter()
    codecOf(U64).appendJson(new ByteWriter().u64(7n).toBytes(), out)
    const long = new Uint8Array(600 << 10)
    out.quotedHex(long, 0, long.length)
    expect(out.takeText()).toBe(`"7""0x${'00'.repeat(long.length)}"`)
  })
})
