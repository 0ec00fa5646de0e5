import { ADDRESS_LENGTH, isLedgerStateError } from '@ledger-state/core'
import { readGroupMembers, skipTag } from '@ledger-state/move-module'
import { parseStructTag, skipStructTag, structTagToBytes } from '@ledger-state/type-tag'

const OBJECT_CORE = tagBytes('0x1::object::ObjectCore')
/** Type of the remains of a burnt object. */
const TOMB_STONE = tagBytes('0x1::object::TombStone')
/** Offset of the owner in an `ObjectCore`: u64 creation number, owner, and more. A `TombStone` has only the owner. */
const OWNER_IN_CORE = 8

/** The owners that a resource group names: the owners of an object, existing or burnt. Empty for other groups. */
export function ownersInGroup(group: Uint8Array): readonly Uint8Array[] {
  try {
    return readGroupMembers(group, (reader) => {
      if (skipTag(reader, OBJECT_CORE)) return OWNER_IN_CORE
      if (skipTag(reader, TOMB_STONE)) return 0
      skipStructTag(reader)
      return undefined
    }).flatMap(({ name: at, bytes }) =>
      at === undefined || bytes.length < at + ADDRESS_LENGTH ? [] : [bytes.subarray(at, at + ADDRESS_LENGTH)],
    )
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return []
    throw error
  }
}

function tagBytes(text: string): Uint8Array {
  return structTagToBytes(parseStructTag(text))
}
