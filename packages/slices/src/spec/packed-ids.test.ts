import { bytesToHex } from '@ledger-state/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PackedIds } from './packed-ids.js'

const bytes = fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat(255))
const ids = fc
  .array(fc.record({ at: fc.nat(31), byte: bytes, last: fc.constantFrom(0, 1, 2) }), { maxLength: 400 })
  .map((list) =>
    list.map(({ at, byte, last }) => {
      const id = new Uint8Array(32)
      id[at] = byte
      id[31]! += last
      return id
    }),
  )

function packed(list: readonly Uint8Array[]): PackedIds {
  const ids = new PackedIds()
  for (const id of list) ids.add(id)
  return ids.settle()
}

it('a packed list has each id once, in the order of their bytes', () => {
  fc.assert(
    fc.property(ids, (list) => {
      const found = packed(list)
      const expected = [...new Set(list.map(bytesToHex))].sort()
      expect([...found].map(bytesToHex)).toEqual(expected)
      expect(found.length).toBe(expected.length)
    }),
  )
})

it('a packed list has more ids than a block, in any order', () => {
  const count = 70_000
  const idOf = (number: number) => {
    const id = new Uint8Array(32)
    new DataView(id.buffer).setUint32(28, number)
    return id
  }
  for (const numberAt of [
    (at: number) => at,
    (at: number) => count - 1 - at,
    (at: number) => (at * 7_919) % count,
    (at: number) => at % 3,
  ]) {
    const list = Array.from({ length: count }, (_, at) => idOf(numberAt(at)))
    const expected = [...new Set(Array.from({ length: count }, (_, at) => numberAt(at)))].sort((a, b) => a - b)
    let at = 0
    const found = packed(list)
    expect(found.length).toBe(expected.length)
    for (const id of found) if (new DataView(id.buffer).getUint32(28) !== expected[at++]) expect.fail(`id ${at - 1}`)
  }
})
