import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { skipStructTag } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import { PartedMap } from '../parted-map.js'
import { inSteps, type SlicedWork } from '../sliced-work.js'
import { areSameBytes } from './same-bytes.js'

/** Most members that are compared one by one. */
const MOST_COMPARED = 8

/** Members of a stored resource group, by the BCS of the tags of their types. A later member replaces an earlier one. */
export class GroupMembers {
  readonly #tags: Uint8Array[] = []
  readonly #values: Uint8Array[] = []
  /** Members by the hex digits of their tags, in a group with many. */
  #byText: PartedMap<string, Uint8Array> | undefined

  get(tag: Uint8Array): Uint8Array | undefined {
    if (this.#byText) return this.#byText.get(bytesToHexDigits(tag))
    for (let at = this.#tags.length - 1; at >= 0; at--) {
      if (areSameBytes(this.#tags[at]!, tag)) return this.#values[at]
    }
    return undefined
  }

  add(tag: Uint8Array, value: Uint8Array): void {
    if (!this.#byText && this.#tags.length < MOST_COMPARED) {
      this.#tags.push(tag)
      this.#values.push(value)
      return
    }
    if (!this.#byText) {
      this.#byText = new PartedMap()
      for (const [at, one] of this.#tags.entries()) this.#byText.set(bytesToHexDigits(one), this.#values[at]!)
    }
    this.#byText.set(bytesToHexDigits(tag), value)
  }
}

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
  const members = new GroupMembers()
  try {
    let left = BYTES_AT_ONCE
    for (let count = reader.readLength(); count > 0; count--) {
      const start = reader.offset
      const tag = new ByteReader(reader.bytes, start, Math.min(start + LONGEST_TAG, bytes.length))
      skipStructTag(tag)
      reader.offset = tag.offset
      const length = tag.offset - start
      meter.chargeOnce(MEMBER_WORK)
      meter.chargeBytesOnce(MEMBER_BYTES + 2 * length)
      members.add(reader.bytes.subarray(start, tag.offset), reader.readByteString())
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
