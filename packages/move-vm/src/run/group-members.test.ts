import { ByteWriter, parseAddress } from '@ledger-state/core'
import { parseStructTag, writeStructTag } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { Meter } from '../budget/meter.js'
import { DEFAULT_BUDGET } from '../budget/view-budget.js'
import { GroupReading } from './group-members.js'

function tagOf(name: string): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(`0x1::m::${name}`))
  return writer.toBytes()
}

function groupOf(members: readonly (readonly [string, number])[]): Uint8Array {
  const writer = new ByteWriter().uleb128(members.length)
  for (const [name, value] of members) writer.bytes(tagOf(name)).byteString(Uint8Array.of(value))
  return writer.toBytes()
}

it.each([1, 7, 8, 9, 40])('a group of %i members has each of them, and the last one of a name', (count) => {
  const members = Array.from({ length: count }, (_, at): [string, number] => [`S${at % 30}`, at])
  const work = new GroupReading(groupOf(members), new Meter(DEFAULT_BUDGET))
  let end = work.continue()
  while (!end) end = work.continue()
  const group = end.result!
  for (const [name, value] of new Map(members)) {
    const reader = group.get(tagOf(name))!
    expect([reader.readU8(), reader.remaining]).toEqual([value, 0])
  }
  expect(group.get(tagOf('Other'))).toBeUndefined()
  expect(group.get(parseAddress('0x1'))).toBeUndefined()
})
