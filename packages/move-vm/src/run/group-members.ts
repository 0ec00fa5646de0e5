import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { skipStructTag } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import { inSteps, type SlicedWork } from '../sliced-work.js'

/** Members of a stored resource group, by the hex digits of the tags of their types. */
export type GroupMembers = ReadonlyMap<string, Uint8Array>

/** Heap bytes of a member in addition to the digits of its tag, and its work in instructions. */
const MEMBER_BYTES = 240
const MEMBER_WORK = 16
/** Bytes of tags that are read at once, in a fraction of a millisecond. Each member counts for at least some. */
const BYTES_AT_ONCE = 16_384
const LEAST_BYTES = 64
/** Longest tag of a member: three times the longest that a resource of the vm has. */
const LONGEST_TAG = 16_384

/**
 * Begins to read the members of a stored group. The result is undefined if the bytes are not a group. It charges once.
 */
export function beginToReadGroup(bytes: Uint8Array, meter: Meter): SlicedWork<GroupMembers | undefined> {
  return inSteps(readGroup(bytes, meter))
}

function* readGroup(bytes: Uint8Array, meter: Meter): Generator<void, GroupMembers | undefined, void> {
  const reader = new ByteReader(bytes)
  const members = new Map<string, Uint8Array>()
  try {
    let left = BYTES_AT_ONCE
    for (let count = reader.readLength(); count > 0; count--) {
      const start = reader.offset
      const tag = new ByteReader(bytes, start, Math.min(start + LONGEST_TAG, bytes.length))
      skipStructTag(tag)
      reader.offset = tag.offset
      const length = tag.offset - start
      meter.chargeOnce(MEMBER_WORK)
      meter.chargeBytesOnce(MEMBER_BYTES + 2 * length)
      members.set(bytesToHexDigits(bytes.subarray(start, tag.offset)), reader.readByteString())
      left -= Math.max(length, LEAST_BYTES)
      if (left <= 0) {
        left = BYTES_AT_ONCE
        yield
      }
    }
    reader.expectEnd()
    return members
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
