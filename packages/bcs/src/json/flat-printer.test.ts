import { ByteWriter, type LedgerStateError } from '@ledger-state/core'
import { expect, it } from 'vitest'
import type { Layout } from '../layout/layout.js'
import { codecOf } from './codec.js'

function struct(fields: Readonly<Record<string, Layout>>): Layout {
  return { kind: 'struct', name: 'S', fields: Object.entries(fields).map(([name, layout]) => ({ name, layout })) }
}

const U64: Layout = { kind: 'u64' }
const HANDLE = struct({ counter: U64, guid: struct({ creation: U64, 'add"r': { kind: 'address' } }) })
const STORE = struct({ z: HANDLE, coin: struct({ value: U64 }), frozen: { kind: 'bool' }, a: HANDLE })
/** The values in the order in which they are printed: their paths, offsets and ends. */
const VALUES: readonly (readonly [path: string, start: number, end: number])[] = [
  ['a.counter', 57, 65],
  ['a.guid.add"r', 73, 105],
  ['a.guid.creation', 65, 73],
  ['coin.value', 48, 56],
  ['frozen', 56, 57],
  ['z.counter', 0, 8],
  ['z.guid.add"r', 16, 48],
  ['z.guid.creation', 8, 16],
]

function storeBytes(): Uint8Array {
  const writer = new ByteWriter().u64(1n).u64(2n).bytes(new Uint8Array(32).fill(3))
  writer.u64(4n).bool(true).u64(5n).u64(6n)
  return writer.bytes(new Uint8Array(32).fill(7)).toBytes()
}

function failureOf(work: () => unknown): {
  readonly path?: string
  readonly offset?: number
  readonly message: string
} {
  try {
    work()
  } catch (error) {
    const { message, fields } = error as LedgerStateError
    return { message, ...fields }
  }
  throw new Error('it does not fail')
}

const TEXT = `{"a":{"counter":"5","guid":{"add\\"r":"0x7${'07'.repeat(31)}","creation":"6"}},"coin":{"value":"4"},"frozen":true,"z":{"counter":"1","guid":{"add\\"r":"0x3${'03'.repeat(31)}","creation":"2"}}}`

it('a struct of fixed size is printed with the structs in it, alone and in a list', () => {
  expect(codecOf(STORE).bytesToJson(storeBytes())).toBe(TEXT)
  const three = new ByteWriter().uleb128(3).bytes(storeBytes()).bytes(storeBytes()).bytes(storeBytes()).toBytes()
  expect(codecOf({ kind: 'vector', element: STORE }).bytesToJson(three)).toBe(`[${TEXT},${TEXT},${TEXT}]`)
})

it('a fault in it has the path of the first value that is cut short or refused', () => {
  const codec = codecOf(STORE)
  const bytes = storeBytes()
  for (let length = 0; length < bytes.length; length++) {
    const [path] = VALUES.find(([, , end]) => end > length)!
    expect(failureOf(() => codec.bytesToJson(bytes.subarray(0, length)))).toMatchObject({ path, offset: length })
  }
  bytes[56] = 2
  expect(failureOf(() => codec.bytesToJson(bytes))).toEqual({
    message: 'frozen: expected boolean, found byte 2 at byte 56',
    path: 'frozen',
    offset: 56,
  })
})

it('a struct of too many values or too long names is printed field by field', () => {
  const short = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at + 10}`, U64]))
  const long = Object.fromEntries(Array.from({ length: 4 }, (_, at) => [`f${at}${'n'.repeat(2_000)}`, U64]))
  for (const fields of [short, long]) {
    const count = 2 * Object.keys(fields).length
    const bytes = Array.from({ length: count }, (_, at) => new ByteWriter().u64(BigInt(at)).toBytes())
    const half = (base: number) => Object.fromEntries(Object.keys(fields).map((name, at) => [name, String(base + at)]))
    const expected = { a: half(0), b: half(count / 2) }
    const codec = codecOf(struct({ a: struct(fields), b: struct(fields) }))
    expect(codec.bytesToJson(Buffer.concat(bytes))).toBe(JSON.stringify(expected))
  }
})

it('a struct of shared structs without values is refused once its text is too long, as other values are', () => {
  let layout = struct({})
  for (let level = 0; level < 30; level++) layout = struct({ a: layout, b: layout })
  expect(() => codecOf(layout).bytesToJson(new Uint8Array(0), 1_000)).toThrow('prints to more than 1000 bytes')
  expect(codecOf(struct({ a: struct({}), b: struct({}) })).bytesToJson(new Uint8Array(0))).toBe('{"a":{},"b":{}}')
})
