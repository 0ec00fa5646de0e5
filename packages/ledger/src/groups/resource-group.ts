import type { Buffer } from 'node:buffer'
import { ByteReader } from '@ledger-state/core'
import { readStructTag, type StructTag } from '@ledger-state/type-tag'

export interface GroupMember<Name> {
  readonly name: Name
  /** A view of the group's bytes. */
  readonly bytes: Uint8Array
}

/**
 * The members of a stored resource group, in the order in which they are stored: a BCS map of struct tags to bytes.
 * `readName` reads a struct tag, as whatever the caller tells members apart by.
 * @throws `invalid_bcs`
 */
export function readGroupMembers<Name>(
  group: Uint8Array,
  readName: (reader: ByteReader) => Name,
): readonly GroupMember<Name>[] {
  const members: GroupMember<Name>[] = []
  const reader = new ByteReader(group)
  let previous: Buffer | undefined
  for (let count = reader.readLength(); count > 0; count--) {
    const start = reader.offset
    const name = readName(reader)
    previous = reader.expectAscending(previous, start)
    members.push({ name, bytes: reader.readByteString() })
  }
  reader.expectEnd()
  return members
}

/** @throws `invalid_bcs` */
export function readResourceGroup(group: Uint8Array): readonly GroupMember<StructTag>[] {
  return readGroupMembers(group, (reader) => readStructTag(reader))
}
