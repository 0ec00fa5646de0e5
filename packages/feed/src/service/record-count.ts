import { Buffer } from 'node:buffer'

const LENGTH_BYTES = 4

/** Counts records in a stream of pieces. A record is a u32 big-endian length and that number of bytes. */
export class RecordCount {
  records = 0
  /** Bytes of the longest record, as its length says, which may not have come yet. */
  longest = 0
  readonly #head = Buffer.alloc(LENGTH_BYTES)
  #headBytes = 0
  /** Bytes of the current record that have not come yet. */
  #left = 0

  /** Whether the last record is complete. */
  get isComplete(): boolean {
    return this.#headBytes === 0 && this.#left === 0
  }

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, piece.length - at)
        this.#left -= taken
        at += taken
        if (this.#left === 0) this.#end()
        continue
      }
      this.#head[this.#headBytes++] = piece[at++]!
      if (this.#headBytes < LENGTH_BYTES) continue
      this.#left = this.#head.readUInt32BE(0)
      this.longest = Math.max(this.longest, this.#left)
      if (this.#left === 0) this.#end()
    }
  }

  #end(): void {
    this.records++
    this.#headBytes = 0
  }
}
