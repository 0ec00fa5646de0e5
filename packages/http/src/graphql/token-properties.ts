import { addressToLongHex, ByteReader, bytesToHex, isLedgerStateError } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { TokenProperty } from '@ledger-state/ledger'

const ADDRESS_LENGTH = 32
/** Readers of the values of properties, by the numbers of their types. */
const READERS: readonly ((reader: ByteReader) => string)[] = [
  (reader) => String(reader.readBool()),
  (reader) => String(reader.readU8()),
  (reader) => String(reader.readU16()),
  (reader) => String(reader.readU32()),
  (reader) => String(reader.readU64()),
  (reader) => String(reader.readWideInteger(16)),
  (reader) => String(reader.readWideInteger(32)),
  (reader) => addressToLongHex(reader.readBytes(ADDRESS_LENGTH)),
  (reader) => bytesToHex(reader.readByteString()),
  (reader) => decodeUtf8(reader.readByteString()) ?? '',
]

/** The properties of a token as JSON: an object with a text for each. A value that does not decode is in hex. */
export function propertiesToJson(properties: readonly TokenProperty[]): string {
  return `{${properties.map((property) => `${JSON.stringify(property.name)}:${JSON.stringify(valueText(property))}`).join(',')}}`
}

function valueText({ type, value }: TokenProperty): string {
  const read = READERS[type]
  if (!read) return bytesToHex(value)
  try {
    const reader = new ByteReader(value)
    const text = read(reader)
    reader.expectEnd()
    return text
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return bytesToHex(value)
    throw error
  }
}
