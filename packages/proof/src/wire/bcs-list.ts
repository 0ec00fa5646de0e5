import { ByteReader } from '@ledger-state/core'

/** Reads one value, and moves the reader past it. */
export type ReadValue<T> = (reader: ByteReader) => T

/**
 * A list in BCS that reads its items during iteration. It holds only its bytes, so a list of many small items takes no
 * more memory than its bytes.
 */
export interface BcsList<T> extends Iterable<T> {
  /** Number of items. */
  readonly length: number
  /** The items in BCS, without their number. */
  readonly bytes: Uint8Array
}

/**
 * Moves the reader past a list. Each item must take at least one byte.
 * @param skip moves past an item, in less time than `read`
 */
export function readBcsList<T>(
  reader: ByteReader,
  read: ReadValue<T>,
  skip: (reader: ByteReader) => unknown = read,
): BcsList<T> {
  const length = reader.readLength()
  const start = reader.offset
  for (let rest = length; rest > 0; rest--) skip(reader)
  const bytes = reader.bytes.subarray(start, reader.offset)
  return {
    length,
    bytes,
    *[Symbol.iterator]() {
      const items = new ByteReader(bytes)
      for (let rest = length; rest > 0; rest--) yield read(items)
    },
  }
}

export function readByteString(reader: ByteReader): Uint8Array {
  return reader.readByteString()
}
