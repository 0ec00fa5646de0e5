import { Buffer } from 'node:buffer'

/** Builds BCS bytes. Values are trusted to be in range: checking them is the caller's part. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(256)
  #length = 0

  #reserve(length: number): number {
    const at = this.#length
    const needed = at + length
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, at)
      this.#bytes = grown
    }
    this.#length = needed
    return at
  }

  get length(): number {
    return this.#length
  }

  u8(value: number): this {
    const at = this.#reserve(1)
    this.#bytes[at] = value
    return this
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  u16(value: number): this {
    const at = this.#reserve(2)
    this.#bytes.writeUInt16LE(value, at)
    return this
  }

  u32(value: number): this {
    const at = this.#reserve(4)
    this.#bytes.writeUInt32LE(value, at)
    return this
  }

  u64(value: bigint): this {
    return this.integer(value, 8)
  }

  /** Little-endian two's complement in `width` bytes. */
  integer(value: bigint, width: number): this {
    const at = this.#reserve(width)
    let rest = BigInt.asUintN(width * 8, value)
    for (let byte = 0; byte < width; byte += 8) {
      if (width - byte >= 8) {
        this.#bytes.writeBigUInt64LE(rest & 0xffff_ffff_ffff_ffffn, at + byte)
      } else {
        this.#bytes.writeUIntLE(Number(rest), at + byte, width - byte)
      }
      rest >>= 64n
    }
    return this
  }

  uleb128(value: number): this {
    let rest = value
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80)
      rest = Math.floor(rest / 128)
    }
    return this.u8(rest)
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  /** Bytes behind their length. */
  byteString(bytes: Uint8Array): this {
    return this.uleb128(bytes.length).bytes(bytes)
  }

  /** UTF-8 behind its length in bytes. */
  string(text: string): this {
    const length = Buffer.byteLength(text)
    this.uleb128(length)
    const at = this.#reserve(length)
    this.#bytes.write(text, at)
    return this
  }

  /** What was written, in an array of its own. */
  toBytes(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }
}
