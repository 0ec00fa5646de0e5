/** Reads the numbers of an entry of a block. */
export class VarintReader {
  /** Offset of the end of the part of the entry that was read last. */
  next = 0

  /** Reads a varint at `next`. */
  readVarint(bytes: Uint8Array): number {
    let byte = bytes[this.next++]!
    let value = byte & 127
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[this.next++]!
      value += (byte & 127) * unit
    }
    return value
  }
}
