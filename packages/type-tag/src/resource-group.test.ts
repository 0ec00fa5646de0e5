import { ByteWriter, bytesToHex } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseStructTag } from './parse-type-tag.js'
import { findGroupMember, findGroupMembers } from './resource-group.js'
import { writeStructTag } from './type-tag-bcs.js'

const NAMES = ['A', 'A<u8>', 'B', 'B<u64>', 'C<0x1::a::A, vector<u8>>', 'D']

function tagOf(name: string): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(`0x1::a::${name}`))
  return writer.toBytes()
}

function groupOf(names: readonly string[]): Uint8Array {
  const tags = names.map(tagOf).sort(compareBytes)
  const writer = new ByteWriter().uleb128(tags.length)
  for (const tag of tags) writer.bytes(tag).uleb128(tag.length).bytes(tag)
  return writer.toBytes()
}

it('findGroupMembers finds each member that the group has, in one pass', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(NAMES), fc.shuffledSubarray(NAMES), (present, wanted) => {
      const group = groupOf(present)
      const expected = wanted.map((name) => (present.includes(name) ? bytesToHex(tagOf(name)) : undefined))
      const found = findGroupMembers(group, wanted.map(tagOf))
      expect(found.map((bytes) => bytes && bytesToHex(bytes))).toEqual(expected)
      expect(wanted.map((name) => findGroupMember(group, tagOf(name)))).toEqual(found)
    }),
  )
})

it.each([
  ['cut short', groupOf(['A', 'B']).subarray(0, -1)],
  ['with bytes after its end', Uint8Array.of(...groupOf(['A']), 0)],
  ['with members that do not ascend', Uint8Array.of(2, ...groupOf(['B']).subarray(1), ...groupOf(['A']).subarray(1))],
])('findGroupMembers refuses a group %s', (_, group) => {
  expect(() => findGroupMembers(group, [tagOf('A')])).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
})
