import { type ByteReader, clip } from '@ledger-state/core'
import type { Layout } from '../layout/layout.js'

// Every reader of values checks counts and tags by these functions.

/**
 * Most elements of a list of zero-size elements: the remaining bytes do not bound their number. Move has no such types,
 * because the verifier refuses a struct without fields.
 */
const MAX_ZERO_SIZED_ELEMENTS = 256

/** Reads the number of elements of a list. A number that the bytes left cannot hold is refused. */
export function readElementCount(reader: ByteReader, minimumSize: number): number {
  const start = reader.offset
  const count = reader.readLength()
  if (minimumSize === 0 ? count > MAX_ZERO_SIZED_ELEMENTS : count * minimumSize > reader.remaining) {
    throw reader.fault(`unexpected end of input: ${count} elements in ${reader.remaining} bytes`, start)
  }
  return count
}

/** Reads the number of elements of an Option: 0 or 1. */
export function readOptionCount(reader: ByteReader): number {
  const start = reader.offset
  const count = reader.readUleb128()
  if (count > 1) throw reader.fault(`an Option of ${count} elements`, start)
  return count
}

/** Reads the index of a variant of an enum. */
export function readVariantIndex(reader: ByteReader, layout: Layout & { kind: 'enum' }): number {
  const start = reader.offset
  const index = reader.readUleb128()
  if (index < layout.variants.length) return index
  throw reader.fault(`variant ${index} of ${clip(layout.name)}, which has ${layout.variants.length} variants`, start)
}
