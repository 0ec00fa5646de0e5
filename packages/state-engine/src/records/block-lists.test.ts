import { Buffer } from 'node:buffer'
import { type BlockInfo, U64_MAX } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecordBuilder } from '../bytes/record.js'
import { ListedBlocks, ListWriter, listSeed, MOST_LISTED } from './block-lists.js'

const builder = new RecordBuilder()

interface List {
  readonly key: bigint
  readonly value: Buffer
}

/** Writes blocks into lists. */
function write(blocks: readonly BlockEntry[]): List[] {
  const lists: List[] = []
  const writer = new ListWriter(builder, (firstVersion, record) => {
    lists.push({ key: firstVersion, value: Buffer.from(record) })
  })
  for (const block of blocks) writer.add(block)
  writer.end()
  return lists
}

function read(lists: readonly List[]): ListedBlocks[] {
  return lists.map(({ key, value }) => new ListedBlocks(key, value))
}

function blocksOf(lists: readonly List[]): BlockEntry[] {
  return read(lists).flatMap((list) => [...list])
}

/** Makes blocks as on a chain: one every few versions, a second apart, at heights without gaps. */
function chainBlocks(count: number, first = 0): BlockEntry[] {
  return Array.from({ length: count }, (_, at) => {
    const height = BigInt(first + at)
    const block = { height, epoch: height / 500n, timestampUsec: 1_700_000_000_000_000n + height * 1_000_003n }
    return { firstVersion: 3n * height, block }
  })
}

function entry(firstVersion: bigint, height: bigint, epoch: bigint, timestampUsec: bigint): BlockEntry {
  return { firstVersion, block: { height, epoch, timestampUsec } }
}

describe('a list', () => {
  it('is laid out to the byte', () => {
    const lists = write([entry(7n, 5n, 2n, 1_000n), entry(9n, 6n, 2n, 1_000n), entry(300n, 9n, 2n, 66_536n)])
    const u64 = (number: number) => number.toString(16).padStart(16, '0')
    const first = [5, 2, 1_000].map(u64).join('')
    // Versions less 7; heights less 5 and less the place.
    expect(lists.map(({ value }) => value.subarray(0, -4).toString('hex'))).toEqual([
      `03 02010003 ${first} 0002 00 000000 0125 02 010000`.replaceAll(' ', ''),
    ])
  })

  it('takes 12 bytes a block at most where blocks are like those of a chain', () => {
    const lists = write(chainBlocks(10_000))
    expect(lists).toHaveLength(Math.ceil(10_000 / MOST_LISTED))
    expect(lists.reduce((sum, { value }) => sum + value.length, 0) / 10_000).toBeLessThan(12)
  })

  it('ends before a block whose numbers fall, or would take more than six bytes', () => {
    const far = 2n ** 48n
    const blocks = [
      entry(0n, 0n, 0n, 0n),
      entry(1n, 1n, 0n, 1_700_000_000_000_000n),
      entry(2n, far + 2n, 0n, 1_700_000_000_000_000n),
      entry(3n, far + 3n, U64_MAX, 1_700_000_000_000_000n),
      entry(4n, far + 4n, 3n, 1_700_000_000_000_000n),
      entry(5n, far + 5n, 3n, 1_600_000_000_000_000n),
      entry(5n + far, far + 6n, 3n, 1_600_000_000_000_000n),
      entry(4n + 2n * far, U64_MAX - far, 3n, U64_MAX - far + 1n),
      entry(U64_MAX, U64_MAX, 2n + far, U64_MAX),
    ]
    const lists = write(blocks)
    expect(blocksOf(lists)).toEqual(blocks)
    expect(read(lists).map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1])
    const near = [entry(0n, 0n, 0n, 0n), entry(far - 1n, far, far - 1n, far - 1n)]
    expect(blocksOf(write(near))).toEqual(near)
    expect(write(near)).toHaveLength(1)
  })

  it('is not written without blocks', () => {
    expect(write([])).toEqual([])
  })
})

describe('a damaged list', () => {
  const key = 7n
  const open = (content: readonly number[], sealedUnder = key) =>
    new ListedBlocks(key, Buffer.from(builder.begin().bytes(Uint8Array.from(content)).seal(listSeed(sealedUnder))))
  const numbers = (count: number) => new Array<number>(count).fill(1)

  it('is refused by its checksum', () => {
    expect(() => open([1, 0, 0, 0, 0, ...numbers(24)], 8n)).toThrow(/does not match its checksum/)
    for (const { key, value } of write(chainBlocks(70))) {
      for (let bit = 0; bit < 8 * value.length; bit += 13) {
        const damaged = Buffer.from(value)
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        expect(() => new ListedBlocks(key, damaged)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
      }
      expect(() => new ListedBlocks(1n, value)).toThrow(/does not match its checksum/)
    }
  })

  it.each([
    ['no blocks', [0, 0, 0, 0, 0, ...numbers(24)]],
    ['more blocks than a list may have', [MOST_LISTED + 1, 0, 0, 0, 0, ...numbers(24)]],
    ['too few bytes for its first block', [1, 0, 0, 0, 0, ...numbers(23)]],
    ['too few bytes for its other blocks', [3, 1, 0, 0, 1, ...numbers(24 + 3)]],
    ['too many bytes', [3, 1, 0, 0, 1, ...numbers(24 + 5)]],
    ['numbers of seven bytes', [2, 7, 0, 0, 0, ...numbers(24 + 7)]],
    ['nothing', []],
  ])('is refused if it has %s', (_, content) => {
    expect(() => open(content)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
  })
})

/** Differences of a block from the one before. */
const drawnBlock = fc.record({
  versions: fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 1, max: 2 ** 33 })),
  heights: fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 2 ** 50 })),
  epoch: fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, fc.bigInt(0n, U64_MAX)),
  time: fc.oneof({ weight: 20, arbitrary: fc.nat(3_000_000) }, fc.bigInt(0n, U64_MAX)),
})
function nextBlock(
  before: BlockEntry,
  { versions, heights, epoch, time }: typeof drawnBlock extends fc.Arbitrary<infer T> ? T : never,
): BlockEntry {
  const { block, firstVersion } = before
  const next: BlockInfo = {
    height: block.height + BigInt(heights),
    epoch: epoch ?? block.epoch,
    timestampUsec: typeof time === 'bigint' ? time : (block.timestampUsec + BigInt(time)) & U64_MAX,
  }
  return { firstVersion: firstVersion + BigInt(versions), block: next }
}

it('lists are plain blocks, one after the other, and can be searched', () => {
  const property = fc.property(fc.array(drawnBlock, { maxLength: 400 }), fc.array(fc.nat(1_000)), (drawn, shares) => {
    let newest = entry(10n, 3n, 0n, 0n)
    const model = drawn.map((one) => (newest = nextBlock(newest, one)))
    const lists = read(write(model))
    expect(lists.flatMap((list) => [...list])).toEqual(model)
    const [low, high] = [model[0]?.firstVersion ?? 10n, newest.firstVersion]
    for (const share of shares) {
      const near = low + ((high - low) * BigInt(share)) / 1_000n
      for (const version of [near - 1n, near, near + 1n]) {
        const list = lists.findLast(({ firstVersion }) => firstVersion <= version)
        const count = list?.countAtMost(version) ?? 0
        expect(list?.at(count - 1)).toEqual(model.findLast(({ firstVersion }) => firstVersion <= version))
        if (list && count < list.count) {
          expect(list.versionAt(count)).toBe(model.find(({ firstVersion }) => firstVersion > version)!.firstVersion)
        }
      }
    }
  })
  fc.assert(property, { numRuns: isSlowRun ? 1_000 : 100 })
})
