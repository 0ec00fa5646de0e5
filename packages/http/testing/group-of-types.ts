import { ByteWriter } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, writeStructTag } from '@ledger-state/type-tag'

/** A resource group in BCS with a member of one byte for each type. */
export function groupOfTypes(types: readonly string[]): Uint8Array {
  const tags = types.map((type) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(type))
    return writer.toBytes()
  })
  const writer = new ByteWriter().uleb128(tags.length)
  for (const tag of tags.sort(compareBytes)) writer.bytes(tag).byteString(Uint8Array.of(1))
  return writer.toBytes()
}
