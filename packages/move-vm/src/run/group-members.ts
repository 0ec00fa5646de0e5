import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits, partToHexDigits } from '@ledger-state/core/bytes'
import { skipStructTag } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import { PartedMap } from '../parted-map.js'
import type { SlicedWork } from '../sliced-work.js'

/** Most members that are compared one by one. */
const MOST_COMPARED = 8

/** A member of a group: offsets of the first byte and after the last one of its tag and of its value. */
interface Member {
  readonly tag: number
  readonly tagEnd: number
  readonly value: number
  readonly end: number
}

/** Members of a stored resource group, by the BCS of the tags of their types. A later member replaces an earlier one. */
export class GroupMembers {
  readonly #bytes: Uint8Array
  readonly #members: Member[] = []
  /** Members by the hex digits of their tags, in a group with many. */
  #byText: PartedMap<string, Member> | undefined

  /** @param bytes the stored group, which must not change */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** A reader of the value of a member. */
  get(tag: Uint8Array): ByteReader | undefined {
    const member = this.#byText ? this.#byText.get(bytesToHexDigits(tag)) : this.#find(tag)
    return member && new ByteReader(this.#bytes, member.value, member.end)
  }

  #find(tag: Uint8Array): Member | undefined {
    const members = this.#members
    for (let at = members.length - 1; at >= 0; at--) if (this.#hasTag(members[at]!, tag)) return members[at]
    return undefined
  }

  /** Whether a member has a tag. Tags differ most often at their end, so that comes first. */
  #hasTag({ tag: start, tagEnd }: Member, tag: Uint8Array): boolean {
    if (tagEnd - start !== tag.length) return false
    const bytes = this.#bytes
    for (let at = tag.length - 1; at >= 0; at--) if (bytes[start + at] !== tag[at]) return false
    return true
  }

  add(member: Member): void {
    if (!this.#byText && this.#members.length < MOST_COMPARED) {
      this.#members.push(member)
      return
    }
    if (!this.#byText) {
      this.#byText = new PartedMap()
      for (const one of this.#members) this.#byText.set(this.#textOf(one), one)
    }
    this.#byText.set(this.#textOf(member), member)
  }

  #textOf({ tag, tagEnd }: Member): string {
    return partToHexDigits(this.#bytes, tag, tagEnd)
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

/** Reads the members of a stored group. The result is undefined if the bytes are not a group. It charges once. */
export class GroupReading implements SlicedWork<GroupMembers | undefined> {
  readonly #reader: ByteReader
  readonly #meter: Meter
  readonly #members: GroupMembers
  /** Members that are left; undefined before the first slice. */
  #left: number | undefined

  constructor(bytes: Uint8Array, meter: Meter) {
    this.#reader = new ByteReader(bytes)
    this.#meter = meter
    this.#members = new GroupMembers(this.#reader.bytes)
  }

  continue(): { readonly result: GroupMembers | undefined } | undefined {
    try {
      return this.#continue()
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs')) return { result: undefined }
      throw error
    }
  }

  #continue(): { readonly result: GroupMembers } | undefined {
    const reader = this.#reader
    let left = this.#left ?? reader.readLength()
    for (let rest = BYTES_AT_ONCE; left > 0; left--) {
      if (rest <= 0) {
        this.#left = left
        return undefined
      }
      rest -= this.#readMember()
    }
    reader.expectEnd()
    return { result: this.#members }
  }

  /** Reads a member. Returns the bytes that it counts for in a slice. */
  #readMember(): number {
    const reader = this.#reader
    const { offset } = reader
    const tagEnd = this.#skipTag()
    const length = tagEnd - offset
    this.#meter.chargeOnce(MEMBER_WORK)
    this.#meter.chargeBytesOnce(MEMBER_BYTES + 2 * length)
    const size = reader.readLength()
    const value = reader.skip(size)
    this.#members.add({ tag: offset, tagEnd, value, end: value + size })
    return Math.max(length, LEAST_BYTES)
  }
  /** Moves past a tag, and returns its end. A tag above the limit is a fault, whose bytes are not all looked at. */
  #skipTag(): number {
    const reader = this.#reader
    const { bytes, offset, end } = reader
    if (end - offset <= LONGEST_TAG) skipStructTag(reader)
    else {
      const tag = new ByteReader(bytes, offset, offset + LONGEST_TAG)
      skipStructTag(tag)
      reader.offset = tag.offset
    }
    return reader.offset
  }
}
