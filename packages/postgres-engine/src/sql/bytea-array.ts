import { Buffer } from 'node:buffer'

/** Id of the type `bytea`: https://www.postgresql.org/docs/18/catalog-pg-type.html */
const BYTEA = 17
const HEAD_BYTES = 20
const LENGTH_BYTES = 4

/**
 * Encodes a parameter of type `bytea[]` in the binary format (`array_recv` of the server). The text that the driver
 * makes of an array has two digits for each byte. Without it an insert of keys takes 0.6 of the time.
 */
export function toByteaArray(items: readonly Uint8Array[]): Buffer {
  const array = Buffer.allocUnsafe(items.reduce((sum, { length }) => sum + LENGTH_BYTES + length, HEAD_BYTES))
  let at = array.writeInt32BE(1) // dimensions
  at = array.writeInt32BE(0, at) // no nulls
  at = array.writeInt32BE(BYTEA, at)
  at = array.writeInt32BE(items.length, at)
  at = array.writeInt32BE(1, at) // least index
  for (const item of items) {
    at = array.writeInt32BE(item.length, at)
    array.set(item, at)
    at += item.length
  }
  return array
}
