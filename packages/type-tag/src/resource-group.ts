import { AscendingKeys, atOnce, ByteReader, type Steps } from '@ledger-state/core'
import type { StructTag } from './type-tag.js'
import { readStructTag, skipStructTag } from './type-tag-bcs.js'

/** A member of a resource group. `Name` is the form in which the caller reads its struct tag. */
export interface GroupMember<Name> {
  readonly name: Name
  /** Bytes of the member, a view of the group's bytes. */
  readonly bytes: Uint8Array
}

/** Most members of a group that are read in one step. */
const MEMBERS_AT_ONCE = 64

/**
 * Reads the members of a stored resource group, in stored order: the group is a BCS map from struct tags to bytes.
 * `readName` reads a struct tag, in the form by which the caller distinguishes members.
 * @throws `invalid_bcs`
 */
export function readGroupMembers<Name>(
  group: Uint8Array,
  readName: (reader: ByteReader) => Name,
): readonly GroupMember<Name>[] {
  return atOnce(readGroupMembersInSteps(group, readName))
}

/** Reads the members of a stored resource group, each with its struct tag. @throws `invalid_bcs` */
export function readResourceGroup(group: Uint8Array): readonly GroupMember<StructTag>[] {
  return atOnce(readResourceGroupInSteps(group))
}

/** The same in steps: reading the tags of 20,000 members takes 50 ms. @throws `invalid_bcs` */
export function readResourceGroupInSteps(group: Uint8Array): Steps<readonly GroupMember<StructTag>[]> {
  return readGroupMembersInSteps(group, (reader) => readStructTag(reader))
}

/** Same as `readGroupMembers`, in steps: a group may have 20,000 members. @throws `invalid_bcs` */
export function* readGroupMembersInSteps<Name>(
  group: Uint8Array,
  readName: (reader: ByteReader) => Name,
): Steps<readonly GroupMember<Name>[]> {
  const reader = new ByteReader(group)
  const keys = new AscendingKeys(reader)
  const members: GroupMember<Name>[] = []
  for (let left = reader.readLength(); left > 0; left--) {
    if (left % MEMBERS_AT_ONCE === 0) yield
    const start = reader.offset
    const name = readName(reader)
    keys.expectNext(start)
    members.push({ name, bytes: reader.readByteString() })
  }
  reader.expectEnd()
  return members
}

/**
 * Moves past a struct tag if it has these bytes, and returns whether it has. Comparing bytes costs a tenth of parsing
 * the tags; no tag is a prefix of another.
 */
export function skipTag(reader: ByteReader, tag: Uint8Array): boolean {
  const { bytes, offset } = reader
  // Backwards: most tags of a group have the same beginning.
  for (let at = tag.length - 1; at >= 0; at--) if (bytes[offset + at] !== tag[at]) return false
  reader.skip(tag.length)
  return true
}

/** Finds the member with a struct tag, which is given as BCS; undefined if the group has none. @throws `invalid_bcs` */
export function findGroupMember(group: Uint8Array, tag: Uint8Array): Uint8Array | undefined {
  return findGroupMembers(group, [tag])[0]
}

/**
 * Finds the members with struct tags, which are given as BCS, in one pass: a group may have 20,000 members, and passing
 * them takes 5 ms. Undefined for each that the group does not have.
 * @throws `invalid_bcs`
 */
export function findGroupMembers(group: Uint8Array, tags: readonly Uint8Array[]): readonly (Uint8Array | undefined)[] {
  const found = new Array<Uint8Array | undefined>(tags.length).fill(undefined)
  const reader = new ByteReader(group)
  const keys = new AscendingKeys(reader)
  for (let left = reader.readLength(); left > 0; left--) {
    const start = reader.offset
    const at = skipOneOf(reader, tags)
    if (at < 0) skipStructTag(reader)
    keys.expectNext(start)
    if (at < 0) reader.skip(reader.readLength())
    else found[at] = reader.readByteString()
  }
  reader.expectEnd()
  return found
}

/** Moves past one of several struct tags. Returns its place; -1 if there is another one, past which it does not move. */
function skipOneOf(reader: ByteReader, tags: readonly Uint8Array[]): number {
  for (let at = 0; at < tags.length; at++) if (skipTag(reader, tags[at]!)) return at
  return -1
}
