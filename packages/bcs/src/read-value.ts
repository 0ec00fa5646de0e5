import type { ByteReader } from '@ledger-state/core'
import type { Layout } from './layout.js'

// Counts and tags that every reader of values checks alike.

/** Elements of a list whose elements take no bytes, where the bytes left bound nothing. */
const MAX_ZERO_SIZED_ELEMENTS = 65_536

/** A count of elements that the bytes left can hold. */
export function readElementCount(reader: ByteReader, minimumSize: number): number {
  const start = reader.offset
  const count = reader.readLength()
  if (minimumSize === 0 ? count > MAX_ZERO_SIZED_ELEMENTS : count * minimumSize > reader.remaining) {
    throw reader.fault(`unexpected end of input: ${count} elements in ${reader.remaining} bytes`, start)
  }
  return count
}

/** 0 or 1. */
export function readOptionCount(reader: ByteReader): number {
  const start = reader.offset
  const count = reader.readUleb128()
  if (count > 1) throw reader.fault(`an Option of ${count} elements`, start)
  return count
}

/** The index of a variant that the enum has. */
export function readVariantIndex(reader: ByteReader, layout: Layout & { kind: 'enum' }): number {
  const start = reader.offset
  const index = reader.readUleb128()
  if (index < layout.variants.length) return index
  throw reader.fault(`variant ${index} of ${layout.name}, which has ${layout.variants.length}`, start)
}
