import { Buffer } from 'node:buffer'

/** The records of one message to a thread. */
export class MessageBuffer {
  bytes: Buffer
  #length = 0

  constructor(capacity: number) {
    this.bytes = Buffer.from(new ArrayBuffer(capacity))
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Takes the place of the next record. Returns undefined if it does not fit; the first one always does. */
  take(length: number): number | undefined {
    const at = this.#length
    const end = at + length
    if (end > this.bytes.length) {
      if (at > 0) return undefined
      this.bytes = Buffer.from(new ArrayBuffer(end))
    }
    this.#length = end
    return at
  }

  /** The bytes of all records, in a buffer that may be transferred. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes.buffer as ArrayBuffer, 0, this.#length)
  }
}
