import {
  resourceGroupKey,
  resourceKey,
  type StructTag,
  structTagToBytes,
  typeTagSize,
  typeTagToText,
} from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'

/** Cost of each node of a type tag, and the highest total. */
const TAG_COST = { node: 100, most: 5_000 } as const
const NO_ADDRESS = new Uint8Array(32)

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
