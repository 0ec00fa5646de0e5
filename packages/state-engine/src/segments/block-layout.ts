// The content of a block: u8 0 · u8 w, 2 or 4 · u16 entries n · n × u8 tag · n × uw end of the entry, from the first one on ·
//   entries
// Entry: varint length of the key + 1, or 0 for the key of the entry before · key · u8 m, 1 to 16 · m × varint version, less
//   the one before (the first less that of the file) · m × varint operation · bytes of each operation
// Operation: 0 a deletion; odd: a value, of op >> 1 bytes; even: a patch of the value before, of (op − 2) >> 1 bytes

export const DELETION_OPERATION = 0
export const CONTENT_HEAD_LENGTH = 4

export function valueOperation(length: number): number {
  return 2 * length + 1
}

export function patchOperation(length: number): number {
  return 2 * length + 2
}

/** Number of bytes that an operation has. */
export function operationLength(operation: number): number {
  return operation === DELETION_OPERATION ? 0 : Math.floor((operation - 1) / 2)
}

/** Number of entries of the content of a block, which begins at `base`. */
export function entryCountOf(bytes: Uint8Array, base: number): number {
  return bytes[base + 2]! | (bytes[base + 3]! << 8)
}

/** End of an entry. Each takes 2 or 4 bytes. */
export function endAt(bytes: Uint8Array, ends: number, width: number, entry: number): number {
  const at = ends + width * entry
  const low = bytes[at]! | (bytes[at + 1]! << 8)
  return width === 2 ? low : low + (bytes[at + 2]! << 16) + bytes[at + 3]! * 2 ** 24
}

/** Offset of an entry of the content of a block, which begins at `base`. */
export function startOfEntry(bytes: Uint8Array, base: number, entry: number): number {
  const width = bytes[base + 1]!
  const count = entryCountOf(bytes, base)
  const ends = base + CONTENT_HEAD_LENGTH + count
  return entry === 0 ? ends + count * width : ends + count * width + endAt(bytes, ends, width, entry - 1)
}
