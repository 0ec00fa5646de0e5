import type { Buffer } from 'node:buffer'
import type { BlockInfo } from '@ledger-state/core'
import { type BlockEntry, storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { rowKeySeed } from '../bytes/row-key.js'
import { addBlock } from './ledger-record.js'

// A segment file has its blocks in lists, each of them a record:
//   u8 blocks | u8 bytes of a version, of a height, of an epoch, of a time | u64 height | u64 epoch | u64 time of the first
//     | for each other: version, height, epoch, time | u32 CRC, with a seed made of the version that the first begins with
// The numbers of the other blocks are stored as differences from the first, and heights also less the place in the
// list. So all have the same length, and a version is found by bisection.

/**
 * Most blocks of a list. With more, the numbers of a chain take more bytes, and a read takes more time for the
 * checksum.
 */
export const MOST_LISTED = 64
/**
 * Most bytes of a stored number. Another list begins if a number is below that of the first block, or needs more bytes.
 */
const WIDEST = 6
const TOO_FAR = 2 ** (8 * WIDEST)
const COLUMNS = 4
const FIRST_AT = 1 + COLUMNS
const OTHERS_AT = FIRST_AT + 3 * 8

/** A list of successive blocks. */
export class ListedBlocks {
  readonly count: number
  /** First version of the first block. */
  readonly firstVersion: bigint
  readonly #firstBlock: BlockInfo
  readonly #content: Buffer
  /** Number of bytes of each block but the first. */
  readonly #stride: number

  /** Reads a record. @throws `store_corrupt` */
  constructor(firstVersion: bigint, record: Buffer) {
    const content = openRecord(record, listSeed(firstVersion), () => 'a list of blocks')
    if (content.length < OTHERS_AT) throw storeCorrupt(`a list of blocks has ${content.length} bytes`)
    let stride = 0
    for (let column = 1; column <= COLUMNS; column++) {
      const width = content[column]!
      if (width > WIDEST) throw storeCorrupt(`a list of blocks has numbers of ${width} bytes`)
      stride += width
    }
    const count = content[0]!
    const length = OTHERS_AT + stride * (count - 1)
    if (count === 0 || count > MOST_LISTED || content.length !== length) {
      throw storeCorrupt(`a list of ${count} blocks has ${content.length} bytes`)
    }
    this.count = count
    this.firstVersion = firstVersion
    this.#firstBlock = {
      height: content.readBigUInt64BE(FIRST_AT),
      epoch: content.readBigUInt64BE(FIRST_AT + 8),
      timestampUsec: content.readBigUInt64BE(FIRST_AT + 16),
    }
    this.#content = content
    this.#stride = stride
  }

  at(place: number): BlockEntry {
    if (place === 0) return { firstVersion: this.firstVersion, block: this.#firstBlock }
    const content = this.#content
    const { height, epoch, timestampUsec } = this.#firstBlock
    const heightAt = OTHERS_AT + (place - 1) * this.#stride + content[1]!
    const epochAt = heightAt + content[2]!
    const timeAt = epochAt + content[3]!
    return {
      firstVersion: this.versionAt(place),
      block: {
        height: height + BigInt(this.#number(heightAt, content[2]!) + place),
        epoch: epoch + BigInt(this.#number(epochAt, content[3]!)),
        timestampUsec: timestampUsec + BigInt(this.#number(timeAt, content[4]!)),
      },
    }
  }

  /** First version of a block. */
  versionAt(place: number): bigint {
    return this.firstVersion + BigInt(this.#offset(place))
  }

  /** Number of blocks that begin at or below a version. */
  countAtMost(version: bigint): number {
    if (version < this.firstVersion) return 0
    const offset = Number(version - this.firstVersion)
    let least = 1
    let most = this.count
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.#offset(middle) <= offset) least = middle + 1
      else most = middle
    }
    return least
  }

  *[Symbol.iterator](): Generator<BlockEntry> {
    for (let place = 0; place < this.count; place++) yield this.at(place)
  }

  #offset(place: number): number {
    return place === 0 ? 0 : this.#number(OTHERS_AT + (place - 1) * this.#stride, this.#content[1]!)
  }

  #number(at: number, width: number): number {
    return width === 0 ? 0 : this.#content.readUIntBE(at, width)
  }
}

/** Seed of the checksum of a list, by the first version of its first block. */
export function listSeed(firstVersion: bigint): number {
  return rowKeySeed({ firstVersion, file: 0 })
}

/** Takes a list: the first version of its first block, and the record. */
type PutList = (firstVersion: bigint, record: Uint8Array) => void

/** Puts blocks into lists, each as long as possible. */
export class ListWriter {
  readonly #builder: RecordBuilder
  readonly #put: PutList
  #first: BlockEntry | undefined
  /** Numbers of the blocks after the first, as they are stored: version, height, epoch, time. */
  #numbers: number[] = []
  /** Largest version, height, epoch and time among these. */
  #largest = [0, 0, 0, 0]

  constructor(builder: RecordBuilder, put: PutList) {
    this.#builder = builder
    this.#put = put
  }

  add(entry: BlockEntry): void {
    const numbers = this.#first && this.#toNumbers(this.#first, entry)
    if (!numbers) {
      this.end()
      this.#first = entry
      return
    }
    for (let column = 0; column < COLUMNS; column++) {
      const number = numbers[column]!
      this.#numbers.push(number)
      if (number > this.#largest[column]!) this.#largest[column] = number
    }
  }

  /** Puts the list with the blocks that were added. */
  end(): void {
    if (!this.#first) return
    const { firstVersion, block } = this.#first
    const builder = this.#builder
    const numbers = this.#numbers
    const widths = this.#largest.map(bytesOf)
    builder.begin().u8(1 + numbers.length / COLUMNS)
    for (const width of widths) builder.u8(width)
    addBlock(builder, block)
    for (let at = 0; at < numbers.length; at++) builder.uint(numbers[at]!, widths[at % COLUMNS]!)
    this.#put(firstVersion, builder.seal(listSeed(firstVersion)))
    this.#first = undefined
    this.#numbers = []
    this.#largest = [0, 0, 0, 0]
  }

  /** Numbers of a block after the first; undefined if the block has to begin another list. */
  #toNumbers(first: BlockEntry, { firstVersion, block }: BlockEntry): readonly number[] | undefined {
    const place = 1 + this.#numbers.length / COLUMNS
    if (place === MOST_LISTED) return undefined
    const numbers = [
      Number(firstVersion - first.firstVersion),
      Number(block.height - first.block.height) - place,
      Number(block.epoch - first.block.epoch),
      Number(block.timestampUsec - first.block.timestampUsec),
    ]
    return numbers.every((number) => number >= 0 && number < TOO_FAR) ? numbers : undefined
  }
}

function bytesOf(number: number): number {
  let bytes = 0
  for (let rest = number; rest >= 1; rest /= 256) bytes++
  return bytes
}
