/** Bytes that grow as varints and others are added. */
export class ColumnWriter {
  #bytes = Buffer.allocUnsafe(1 << 14)
  length = 0

  clear(): void {
    this.length = 0
  }

  varint(value: number): void {
    this.#reserve(8)
    let left = value
    for (; left > 127; left = Math.floor(left / 128)) this.#bytes[this.length++] = (left % 128) | 128
    this.#bytes[this.length++] = left
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    this.#bytes.set(source.subarray(start, end), this.length)
    this.length += end - start
  }

  get content(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.length + count))
    larger.set(this.content)
    this.#bytes = larger
  }
}

/** Reads what a `ColumnWriter` has written. */
export class ColumnReader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  byte(): number {
    return this.#bytes[this.at++]!
  }

  take(length: number): Buffer {
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }
}
