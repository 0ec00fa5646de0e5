import { Buffer } from 'node:buffer'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import { ListedBlocks } from '../records/block-lists.js'
import type { SegmentFile } from './segment-file.js'
import type { SegmentReader } from './segment-reader.js'

const HEAD_LENGTH = 12
/** Bytes that are read at once from a file without a map: some lists that follow each other. */
const READ_BYTES = 8_192
const NO_BYTES = Buffer.alloc(0)

/**
 * The lists of blocks of a segment. Who asks first compares all of them with their checksum. Only their first versions and
 * ends stay in memory, 12 bytes for up to 64 blocks: a ledger has hundreds of millions.
 */
export class SegmentLists {
  readonly count: number
  readonly #file: SegmentFile
  readonly #reader: Pick<SegmentReader, 'map'>
  #heads: Buffer | undefined
  /** Bytes that were read last, and their place. Nobody changes them: lists lie in them. */
  #bytes = NO_BYTES
  #bytesAt = 0
  /** The list that was read last. Its neighbor blocks are asked for next: of a version, of the next one, of a history. */
  #last: { readonly list: number; readonly blocks: ListedBlocks } | undefined

  constructor(reader: Pick<SegmentReader, 'file' | 'map'>) {
    const { file } = reader
    this.#file = file
    this.#reader = reader
    this.count = file.summary.lists
  }

  /** First version of a list. @throws `store_corrupt` */
  firstOf(list: number): bigint {
    return this.#load().readBigUInt64LE(8 * list)
  }

  /** Reads a list. @throws `store_corrupt` */
  at(list: number): ListedBlocks {
    if (this.#last?.list !== list) this.#last = { list, blocks: this.#read(list) }
    return this.#last.blocks
  }

  /** All blocks, in order. @throws `store_corrupt` */
  *[Symbol.iterator](): Generator<BlockEntry> {
    for (let list = 0; list < this.count; list++) {
      const blocks = this.at(list)
      for (let place = 0; place < blocks.count; place++) yield blocks.at(place)
    }
  }

  /** Number of lists that begin at or below a version. @throws `store_corrupt` */
  countAtMost(version: bigint): number {
    const last = this.#last?.list
    if (last !== undefined && this.firstOf(last) <= version) {
      if (last + 1 === this.count || this.firstOf(last + 1) > version) return last + 1
    }
    let least = 0
    let most = this.count
    while (least < most) {
      const middle = (least + most) >>> 1
      if (this.firstOf(middle) <= version) least = middle + 1
      else most = middle
    }
    return least
  }

  #read(list: number): ListedBlocks {
    const { start, end } = this.#file.summary.parts.lists
    const lists = start + HEAD_LENGTH * this.count
    const from = list === 0 ? lists : lists + this.#endOf(list - 1)
    const to = lists + this.#endOf(list)
    if (from > to || to > end) throw this.#file.damaged(start, 'a list of blocks ends outside')
    const record = this.#part(from, to)
    try {
      return new ListedBlocks(this.firstOf(list), record)
    } catch {
      throw this.#file.damaged(from, 'a list of blocks is damaged')
    }
  }

  #endOf(list: number): number {
    return this.#load().readUInt32LE(8 * this.count + 4 * list)
  }

  /** Bytes of the segment, a copy of those of the map: they stay valid after the file is closed. */
  #part(from: number, to: number): Buffer {
    const { map } = this.#reader
    if (map) return Buffer.from(map.subarray(from, to))
    if (from < this.#bytesAt || to > this.#bytesAt + this.#bytes.length) {
      const { end } = this.#file.summary.parts.lists
      const bytes = Buffer.allocUnsafeSlow(Math.max(to - from, Math.min(READ_BYTES, end - from)))
      this.#file.read(bytes, from)
      this.#bytes = bytes
      this.#bytesAt = from
    }
    return this.#bytes.subarray(from - this.#bytesAt, to - this.#bytesAt)
  }

  #load(): Buffer {
    if (this.#heads) return this.#heads
    const part = this.#file.summary.parts.lists
    const length = HEAD_LENGTH * this.count
    if (part.end - part.start < length) throw this.#file.damaged(part.start, 'the lists of blocks are cut short')
    const heads = Buffer.allocUnsafeSlow(length)
    this.#file.verifyPart(part, 'part with the lists of blocks', heads)
    this.#heads = heads
    return heads
  }
}
