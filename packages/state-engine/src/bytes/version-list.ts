import { Buffer } from 'node:buffer'

const EMPTY = Buffer.alloc(0)

/** Ascending versions as records hold them, 8 bytes each: most are copied without being decoded. */
export class VersionList {
  #bytes: Buffer
  #length: number

  /** Uses the bytes as they are, without a copy. */
  constructor(bytes: Buffer = EMPTY) {
    this.#bytes = bytes
    this.#length = bytes.length
  }

  get count(): number {
    return this.#length >> 3
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  at(place: number): bigint {
    return this.#bytes.readBigUInt64BE(place * 8)
  }

  /** How many are at or below a version. */
  countAtMost(version: bigint): number {
    let least = 0
    let most = this.count
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.at(middle) <= version) least = middle + 1
      else most = middle
    }
    return least
  }

  push(version: bigint): void {
    if (this.#length === this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(64, this.#length * 2))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#length = this.#bytes.writeBigUInt64BE(version, this.#length)
  }

  slice(start: number, end: number = this.count): VersionList {
    return new VersionList(this.#bytes.subarray(start * 8, end * 8))
  }

  *[Symbol.iterator](): Generator<bigint> {
    for (let place = 0; place < this.count; place++) yield this.at(place)
  }
}
