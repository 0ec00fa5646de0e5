import { Buffer } from 'node:buffer'
import { type BlockInfo, U64_MAX } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { numberedKeySeed, versionKey } from '../bytes/numbered-key.js'
import { RecordBuilder } from '../bytes/record.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import {
  appendBlocks,
  ListedBlocks,
  MOST_LISTED,
  newestListAtMost,
  nextListAbove,
  removeBlocksAbove,
  removeBlocksBelow,
} from './block-lists.js'

const folder = temporaryFolder()
const builder = new RecordBuilder()
const MOST_LISTS = 1_000
let store: LmdbStore

beforeEach(() => {
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
})
afterEach(() => store.root.close())

function transact<T>(work: () => T): T {
  return runTransaction(store.root, 'none', work)
}

function append(blocks: readonly BlockEntry[]): void {
  expect(transact(() => appendBlocks(store, builder, blocks))).toBe(blocks.length)
}

function lists(): ListedBlocks[] {
  const all = [...store.blockLists.getRange({ start: undefined, end: undefined })]
  return all.map(({ key, value }) => new ListedBlocks(key, value))
}

function allBlocks(): BlockEntry[] {
  return lists().flatMap((list) => [...list])
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

function recordHex(): string[] {
  return [...store.blockLists.getRange({ start: undefined, end: undefined })].map(({ value }) =>
    value.subarray(0, -4).toString('hex'),
  )
}

describe('a list', () => {
  it('is laid out to the byte', () => {
    append([entry(7n, 5n, 2n, 1_000n), entry(9n, 6n, 2n, 1_000n), entry(300n, 9n, 2n, 66_536n)])
    const u64 = (number: number) => number.toString(16).padStart(16, '0')
    const first = [5, 2, 1_000].map(u64).join('')
    // Versions less 7; heights less 5 and less the place.
    expect(recordHex()).toEqual([`03 02010003 ${first} 0002 00 000000 0125 02 010000`.replaceAll(' ', '')])
  })

  it('takes 12 bytes a block at most where blocks are like those of a chain', () => {
    append(chainBlocks(10_000))
    const { treeLeafPageCount, treeBranchPageCount, entryCount } = store.blockLists.getStats()
    expect(entryCount).toBe(Math.ceil(10_000 / MOST_LISTED))
    expect(((treeLeafPageCount + treeBranchPageCount) * 4_096) / 10_000).toBeLessThan(12)
  })

  it('is as long if blocks come one by one, and pages are nearly as full', () => {
    append(chainBlocks(3_000))
    const whole = recordHex()
    transact(() => store.blockLists.clearSync())
    for (const block of chainBlocks(3_000)) append([block])
    expect(recordHex()).toEqual(whole)
    expect((store.blockLists.getStats().treeLeafPageCount * 4_096) / 3_000).toBeLessThan(9)
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
    append(blocks)
    expect(allBlocks()).toEqual(blocks)
    expect(lists().map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1])
    transact(() => store.blockLists.clearSync())
    const near = [entry(0n, 0n, 0n, 0n), entry(far - 1n, far, far - 1n, far - 1n)]
    append(near)
    expect(allBlocks()).toEqual(near)
    expect(lists()).toHaveLength(1)
  })
})

it('pruning does nothing without blocks', () => {
  append(chainBlocks(3))
  const before = recordHex()
  append([])
  expect(recordHex()).toEqual(before)
  transact(() => store.blockLists.clearSync())
  append([])
  expect(newestListAtMost(store, U64_MAX, {})).toBeUndefined()
})

it('pruning removes as many lists at a time as it may', () => {
  append(chainBlocks(10 * MOST_LISTED))
  const cut = 3n * BigInt(5 * MOST_LISTED) + 1n
  expect(transact(() => removeBlocksBelow(store, builder, cut, 4))).toEqual({ blocks: 4 * MOST_LISTED, done: false })
  expect(transact(() => removeBlocksBelow(store, builder, cut, 4))).toEqual({ blocks: MOST_LISTED + 1, done: true })
  expect(transact(() => removeBlocksAbove(store, builder, cut + 2n, 3))).toEqual({
    blocks: 3 * MOST_LISTED,
    done: false,
  })
  expect(transact(() => removeBlocksAbove(store, builder, cut + 2n, 3))).toEqual({
    blocks: 2 * MOST_LISTED - 2,
    done: true,
  })
  expect(allBlocks()).toEqual(chainBlocks(1, 5 * MOST_LISTED + 1))
})

describe('a damaged list', () => {
  const key = versionKey(7n, 0)
  const open = (content: readonly number[], sealedUnder = key) =>
    new ListedBlocks(
      key,
      Buffer.from(builder.begin().bytes(Uint8Array.from(content)).seal(numberedKeySeed(sealedUnder))),
    )
  const numbers = (count: number) => new Array<number>(count).fill(1)

  it('is refused by its checksum', () => {
    expect(() => open([1, 0, 0, 0, 0, ...numbers(24)], versionKey(8n, 0))).toThrow(/does not match its checksum/)
    append(chainBlocks(70))
    for (const { key, value } of [...store.blockLists.getRange({ start: undefined, end: undefined })]) {
      for (let bit = 0; bit < 8 * value.length; bit += 13) {
        const damaged = Buffer.from(value)
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        expect(() => new ListedBlocks(key, damaged)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
      }
      expect(() => new ListedBlocks(versionKey(1n, 0), value)).toThrow(/does not match its checksum/)
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

/** Differences of a block from the one before, and what happens to the list of blocks. */
const drawnBlock = fc.record({
  versions: fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 1, max: 2 ** 33 })),
  heights: fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 2 ** 50 })),
  epoch: fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, fc.bigInt(0n, U64_MAX)),
  time: fc.oneof({ weight: 20, arbitrary: fc.nat(3_000_000) }, fc.bigInt(0n, U64_MAX)),
})
const place = fc.integer({ min: 0, max: 1_000 })
const drawnStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), drawn: fc.array(drawnBlock, { maxLength: 150 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), drawn: fc.array(drawnBlock, { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('prune' as const, 'truncate' as const), place }) },
)

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

function expectSearches(model: readonly BlockEntry[], version: bigint): void {
  const expected = model.findLast(({ firstVersion }) => firstVersion <= version)
  const list = newestListAtMost(store, version, {})
  expect(list?.at(list.countAtMost(version) - 1)).toEqual(expected)
  const next = model.find(({ firstVersion }) => firstVersion > version)?.firstVersion
  const count = list?.countAtMost(version) ?? 0
  expect(list && count < list.count ? list.versionAt(count) : nextListAbove(store, version, {})).toBe(next)
}

it('the lists of blocks are what a plain list of blocks is: appended in parts, pruned, truncated, searched', () => {
  const property = fc.property(
    fc.array(drawnStep, { minLength: 1, maxLength: 20 }),
    fc.array(place),
    (steps, places) => {
      transact(() => store.blockLists.clearSync())
      let model: BlockEntry[] = []
      let newest = entry(10n, 3n, 0n, 0n)
      const versionAt = (share: number) => {
        const [low, high] = [model[0]?.firstVersion ?? 10n, newest.firstVersion]
        return low + ((high - low) * BigInt(share)) / 1_000n
      }
      for (const step of steps) {
        if (step.kind === 'append') {
          const added = step.drawn.map((drawn) => (newest = nextBlock(newest, drawn)))
          append(added)
          model.push(...added)
        } else {
          const version = versionAt(step.place)
          const before = model.length
          model = model.filter(({ firstVersion }) =>
            step.kind === 'prune' ? firstVersion >= version : firstVersion <= version,
          )
          const remove = step.kind === 'prune' ? removeBlocksBelow : removeBlocksAbove
          const removed = transact(() => remove(store, builder, version, MOST_LISTS))
          expect(removed).toEqual({ blocks: before - model.length, done: true })
          if (step.kind === 'truncate') newest = model.at(-1) ?? newest
        }
        expect(allBlocks()).toEqual(model)
        for (const share of places) {
          const version = versionAt(share)
          for (const near of [version - 1n, version, version + 1n]) expectSearches(model, near)
        }
      }
    },
  )
  fc.assert(property, { numRuns: isSlowRun ? 1_000 : 100 })
})
