import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readTypeTag, skipTypeTag, type TypeTag } from '@ledger-state/type-tag'
import { readVariant } from './variant.js'

// See docs/ledger-formats.md, "Transactions".

const EVENT_V1 = 0
const EVENT_VARIANTS = 2
/** Bytes of an event key: u64 creation number, address. */
const EVENT_KEY_LENGTH = 8 + ADDRESS_LENGTH
const SEQUENCE_NUMBER_LENGTH = 8

/** The stream of an event of the first variant, and its number in the stream. */
export interface EventKey {
  readonly creationNumber: bigint
  readonly address: Uint8Array
  readonly sequenceNumber: bigint
}

/** An event. One of the second variant, a module event, has no key. */
export interface ContractEvent {
  readonly key: EventKey | undefined
  readonly type: TypeTag
  readonly data: Uint8Array
}

/** Moves the reader past a vector of events, and passes the bytes of each on. */
export function readEvents(reader: ByteReader, onEvent?: (event: Uint8Array) => void): void {
  for (let rest = reader.readLength(); rest > 0; rest--) {
    const start = reader.offset
    skipEvent(reader)
    onEvent?.(reader.bytes.subarray(start, reader.offset))
  }
}

/** Skips an event without decoding its type. @throws `invalid_bcs` */
export function skipEvent(reader: ByteReader): void {
  if (readEventVariant(reader) === EVENT_V1) reader.skip(EVENT_KEY_LENGTH + SEQUENCE_NUMBER_LENGTH)
  skipTypeTag(reader)
  reader.skip(reader.readLength())
}

/** Key and undecoded type of an event. */
export interface EventHead {
  readonly key: EventKey | undefined
  /** The type in BCS. */
  readonly type: Uint8Array
}

/** Reads key and type of an event, and moves the reader past the event. @throws `invalid_bcs` */
export function readEventHead(reader: ByteReader): EventHead {
  const key = readEventVariant(reader) === EVENT_V1 ? readEventKey(reader) : undefined
  const start = reader.offset
  skipTypeTag(reader)
  const type = reader.bytes.subarray(start, reader.offset)
  reader.skip(reader.readLength())
  return { key, type }
}

/** Reads an event. @throws `invalid_bcs` */
export function readEvent(reader: ByteReader): ContractEvent {
  const key = readEventVariant(reader) === EVENT_V1 ? readEventKey(reader) : undefined
  return { key, type: readTypeTag(reader), data: reader.readByteString() }
}

function readEventKey(reader: ByteReader): EventKey {
  return {
    creationNumber: reader.readU64(),
    address: reader.readBytes(ADDRESS_LENGTH),
    sequenceNumber: reader.readU64(),
  }
}

function readEventVariant(reader: ByteReader): number {
  return readVariant(reader, 'an event', EVENT_VARIANTS)
}
