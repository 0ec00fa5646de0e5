import { Buffer } from 'node:buffer'
import { versionKey } from '../bytes/numbered-key.js'
import { ListedBlocks } from '../records/block-lists.js'
import type { SegmentFile } from './segment-file.js'

const HEAD_LENGTH = 12

/** The lists of blocks of a segment. They are read when somebody asks first. */
export class SegmentLists {
  readonly count: number
  readonly #file: SegmentFile
  #bytes: Buffer | undefined

  constructor(file: SegmentFile) {
    this.#file = file
    this.count = file.summary.lists
  }

  /** First version of a list. @throws `store_corrupt` */
  firstOf(list: number): bigint {
    return this.#load().readBigUInt64LE(8 * list)
  }

  /** Reads a list. @throws `store_corrupt` */
  at(list: number): ListedBlocks {
    const bytes = this.#load()
    const end = bytes.readUInt32LE(8 * this.count + 4 * list)
    const start = list === 0 ? 0 : bytes.readUInt32LE(8 * this.count + 4 * (list - 1))
    const records = HEAD_LENGTH * this.count
    return new ListedBlocks(versionKey(this.firstOf(list), 0), bytes.subarray(records + start, records + end))
  }

  /** Number of lists that begin at or below a version. @throws `store_corrupt` */
  countAtMost(version: bigint): number {
    let least = 0
    let most = this.count
    while (least < most) {
      const middle = (least + most) >>> 1
      if (this.firstOf(middle) <= version) least = middle + 1
      else most = middle
    }
    return least
  }

  #load(): Buffer {
    if (this.#bytes) return this.#bytes
    const part = this.#file.summary.parts.lists
    const bytes = Buffer.allocUnsafeSlow(part.end - part.start)
    if (bytes.length < HEAD_LENGTH * this.count)
      throw this.#file.damaged(part.start, 'the lists of blocks are cut short')
    this.#file.verifyPart(part, 'part with the lists of blocks', bytes)
    this.#bytes = bytes
    return bytes
  }
}
