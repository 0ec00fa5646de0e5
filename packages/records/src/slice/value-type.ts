import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readTypeTag, type TypeTag, writeTypeTag } from '@ledger-state/type-tag'

/** Encodes the type of a table's values. */
export function encodeValueType(type: TypeTag): Uint8Array {
  const writer = new ByteWriter()
  writeTypeTag(writer, type)
  return writer.toBytes()
}

/** Reads the type of a table's values. @throws `invalid_bcs` */
export function decodeValueType(bytes: Uint8Array): TypeTag {
  return readTypeTag(new ByteReader(bytes))
}
