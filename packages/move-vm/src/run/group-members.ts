import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { readStructTag, typeTagToText } from '@ledger-state/type-tag'

/** Most tags that are kept. Few types of a chain are members of groups. */
const MOST_TAGS = 1_024

/** Reads the members of resource groups. It keeps the texts of tags without type arguments, which most members have. */
export class GroupMembers {
  readonly #texts = new Map<string, string>()

  /** The members of a stored group by the texts of their types; undefined if the bytes are not a group. */
  read(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
    const reader = new ByteReader(bytes)
    const members = new Map<string, Uint8Array>()
    try {
      for (let count = reader.readLength(); count > 0; count--) {
        members.set(this.#readTag(reader), reader.readByteString())
      }
      reader.expectEnd()
      return members
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs')) return undefined
      throw error
    }
  }

  #readTag(reader: ByteReader): string {
    const start = reader.offset
    reader.skip(ADDRESS_LENGTH)
    // Skips the names of the module and of the struct.
    reader.skip(reader.readLength())
    reader.skip(reader.readLength())
    const isPlain = reader.readLength() === 0
    const name = isPlain ? bytesToHexDigits(reader.bytes.subarray(start, reader.offset)) : undefined
    const known = name === undefined ? undefined : this.#texts.get(name)
    if (known !== undefined) return known
    reader.offset = start
    const text = typeTagToText(readStructTag(reader))
    if (name !== undefined && this.#texts.size < MOST_TAGS) this.#texts.set(name, text)
    return text
  }
}
