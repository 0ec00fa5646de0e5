import { allocateBytes, writeHexBytes } from '@ledger-state/core/bytes'
import {
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  type StructTag,
  structTagToBytes,
  tableKeyPrefix,
  typeTagSize,
  typeTagToText,
} from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'

/** Cost of each node of a type tag, and the highest total. */
const TAG_COST = { node: 100, most: 5_000 } as const
const NO_ADDRESS = new Uint8Array(32)
/** Prefix of the keys of the items of a table with handle zero. A handle is at the place of an address in other keys. */
const ITEM_PREFIX = tableKeyPrefix(NO_ADDRESS)
/** Up to this number of bytes, a loop is faster than the runtime's copy. */
const SHORT_COPY = 64

/** Place in the state at which resources of a type are stored. */
export interface StoredType {
  /** Canonical text of the type. */
  readonly text: string
  /** BCS of the tag of the type, by which groups name their members. */
  readonly member: Uint8Array
  /** Canonical text of the group that the type is a member of. */
  readonly group: string | undefined
  /** The key of the resource, or of its group, at address zero. */
  readonly key: Uint8Array
}

/** Checks that the names in a tag are not too long, before its text is made. @throws VmFault */
export function expectShortNames(nameLength: number): void {
  if (nameLength > TAG_COST.most) throw new VmFault(STATUS.TYPE_TAG_LIMIT_EXCEEDED)
}

/** Works out the place of a type. @throws VmFault if the tag is too large */
export function storedTypeOf(tag: StructTag, group: StructTag | undefined): StoredType {
  const text = typeTagToText(tag)
  if (TAG_COST.node * typeTagSize(tag) + text.length > TAG_COST.most) throw new VmFault(STATUS.TYPE_TAG_LIMIT_EXCEEDED)
  return {
    text,
    member: structTagToBytes(tag),
    group: group && typeTagToText(group),
    key: group ? resourceGroupKey(NO_ADDRESS, group) : resourceKey(NO_ADDRESS, tag),
  }
}

/** The state key of an item of a table with a handle of 64 hex digits. `key` is the BCS of the table's key. */
export function itemKeyOf(handle: string, key: Uint8Array): Uint8Array {
  const start = ITEM_PREFIX.length
  const { length } = key
  const own = allocateBytes(start + length)
  own[0] = ITEM_PREFIX[0]!
  writeHexBytes(own, STATE_KEY_ADDRESS_AT, handle, 0)
  if (length > SHORT_COPY) own.set(key, start)
  else for (let at = 0; at < length; at++) own[start + at] = key[at]!
  return own
}

/** The state key of a resource, or of its group, at an address of 64 hex digits. */
export function storedKeyAt({ key }: StoredType, address: string): Uint8Array {
  const own = allocateBytes(key.length)
  own.set(key)
  writeHexBytes(own, STATE_KEY_ADDRESS_AT, address, 0)
  return own
}
