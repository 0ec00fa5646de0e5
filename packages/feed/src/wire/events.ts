import type { ByteReader } from '@ledger-state/core'
import { skipTypeTag } from '@ledger-state/type-tag'

const EVENT_V1 = 0
const EVENT_V2 = 1
/** Bytes of an event key: u64 creation number, address. */
const EVENT_KEY_LENGTH = 8 + 32
const SEQUENCE_NUMBER_LENGTH = 8

/**
 * Moves the reader past a vector of events, and returns the bytes of each. See docs/ledger-formats.md, "Transactions".
 */
export function readEvents(reader: ByteReader, onEvent?: (event: Uint8Array) => void): void {
  for (let rest = reader.readLength(); rest > 0; rest--) {
    const start = reader.offset
    const tag = reader.readUleb128()
    if (tag !== EVENT_V1 && tag !== EVENT_V2) throw reader.fault(`unknown variant ${tag} of event`, start)
    if (tag === EVENT_V1) reader.skip(EVENT_KEY_LENGTH + SEQUENCE_NUMBER_LENGTH)
    skipTypeTag(reader)
    reader.skip(reader.readLength())
    onEvent?.(reader.bytes.subarray(start, reader.offset))
  }
}
