import { join } from 'node:path'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it, vi } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { identityOf, openSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { MOST_LISTED } from '../records/block-lists.ts'
import { ENVELOPE_LENGTH } from './lmdb-envelope.ts'
import { SegmentFile } from './segment-file.ts'
import { SegmentLists } from './segment-lists.ts'
import { SegmentWriter } from './segment-writer.ts'

const folder = temporaryFolder()
const BLOCKS = 200_000
const FIRST = identityOf(0).firstVersion
const path = () => join(folder.path, 'segment')

function blockAt(place: number) {
  const height = BigInt(place)
  return { firstVersion: FIRST + 3n * height, block: { height, epoch: height / 1_000n, timestampUsec: height * 977n } }
}

function writeBlocks(): void {
  const writer = new SegmentWriter(path(), identityOf(3 * BLOCKS), { isDurable: false })
  for (let place = 0; place < BLOCKS; place++) writer.addBlock(blockAt(place))
  writer.finish()
}

it.each([
  ['mapped', true],
  ['without a map', false],
])(`any list is found, and only heads stay in memory, %s (TEST_SEED=${testSeed()})`, (_, isMapped) => {
  writeBlocks()
  const reader = openSegment(path(), isMapped)
  const { start, end } = reader.summary.parts.lists
  const reads = vi.spyOn(SegmentFile.prototype, 'read')
  /** Bytes that work reads from the file. */
  const bytesOf = (work: () => void): number => {
    reads.mockClear()
    work()
    return reads.mock.calls.reduce((sum, [target]) => sum + target.length, 0)
  }
  const lists = new SegmentLists(reader)
  expect(lists.count).toBe(BLOCKS / MOST_LISTED)
  const head = 12 * lists.count
  const all = bytesOf(() => expect(lists.firstOf(0)).toBe(FIRST))
  expect(all).toBe(end - start)
  const random = createRandom(testSeed())
  for (let turn = 0; turn < 200; turn++) {
    const place = random.below(BLOCKS)
    const { firstVersion } = blockAt(place)
    const read = bytesOf(() => {
      const list = lists.at(lists.countAtMost(firstVersion + BigInt(random.below(3))) - 1)
      expect(list.at(list.countAtMost(firstVersion) - 1)).toEqual(blockAt(place))
    })
    expect(read).toBeLessThanOrEqual(isMapped ? 0 : 8_192)
    const near = Math.min(BLOCKS - 1, Math.max(0, place + random.below(300) - 150))
    const listed = lists.at(lists.countAtMost(blockAt(near).firstVersion) - 1)
    expect(listed.at(listed.countAtMost(blockAt(near).firstVersion) - 1)).toEqual(blockAt(near))
    expect(lists.countAtMost(FIRST - 1n)).toBe(0)
  }
  // Read again and again: nothing of them was kept.
  for (let turn = 0; turn < 2; turn++) {
    const read = bytesOf(() => {
      const found = Array.from({ length: lists.count }, (_list, list) => lists.at(list))
      expect(found.every((list, at) => list.firstVersion === blockAt(MOST_LISTED * at).firstVersion)).toBe(true)
      expect([...found.at(-1)!].at(-1)).toEqual(blockAt(BLOCKS - 1))
    })
    if (!isMapped) expect(read).toBeGreaterThanOrEqual(all - head)
    if (!isMapped) expect(read).toBeLessThan(1.2 * (all - head))
  }
  reads.mockRestore()
  reader.close()
})

it.each([
  ['mapped', true],
  ['without a map', false],
])('a list that is damaged after it was verified is refused with its place, %s', (_, isMapped) => {
  writeBlocks()
  const reader = openSegment(path(), isMapped)
  const lists = new SegmentLists(reader)
  expect(lists.at(0).count).toBe(MOST_LISTED)
  const place = ENVELOPE_LENGTH + reader.summary.parts.lists.end - 30
  changeByte(path(), place, 4)
  expect(lists.at(0).count).toBe(MOST_LISTED)
  expect(() => lists.at(lists.count - 1)).toThrow(
    expect.objectContaining({
      code: 'store_corrupt',
      message: expect.stringMatching(/segment at byte \d+: a list of blocks is damaged$/),
    }),
  )
  reader.close()
})
