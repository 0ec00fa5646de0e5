// Measures the design of segments, which the engine does not have: docs/lab/segments.md. Takes CHAIN and WRITES, where CHAIN is
// `spreading` or `returning` for made-up chains, or the folder of a backup, whose hash salt may follow.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { VersionWrites } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { createRandom } from '@ledger-state/testing/random'
import { chainLikeVersions } from '../workload/chain/chain-like-versions.ts'
import { FIRST_WRITES, type KeyReturns } from '../workload/chain/key-population.ts'
import { encodeSegment, lookUp, mergedWrites, type Segment } from './segment.ts'
import type { SegmentWrite } from './segment-block.ts'

/** Writes of a memtable, half of 64 MiB: the final segments are merged of so large ones. */
const TABLE_WRITES = 52_000
const LOOK_UPS = 2_000
/** The segments have level 6. */
const DEFLATE_LEVELS = [1, 3, 6]

const [chain = 'spreading', most = '840000', hashSalt] = process.argv.slice(2)
await measure(await collectWrites(chain, Number(most)))

async function collectWrites(chain: string, most: number): Promise<SegmentWrite[]> {
  const writes: SegmentWrite[] = []
  const add = ({ version, writes: put }: VersionWrites) => {
    for (const [key, value, annotation] of put) {
      // As a store would keep it: the annotation comes after the value.
      const stored = value ? Buffer.concat([value, annotation ?? Buffer.alloc(0)]) : undefined
      writes.push({ key: Buffer.from(key), version: Number(version), value: stored })
    }
  }
  if (isKeyReturns(chain)) {
    for (const version of chainLikeVersions(chain)) {
      add(version)
      if (writes.length >= most) break
    }
    return writes
  }
  const source = await openSource(chain, { verify: false, hashSalt })
  for await (const version of source.versions()) add(version)
  await source.close()
  return writes
}

function isKeyReturns(text: string): text is KeyReturns {
  return Object.hasOwn(FIRST_WRITES, text)
}

async function measure(writes: readonly SegmentWrite[]): Promise<void> {
  const count = writes.length
  const tables: Segment[] = []
  let sorting = 0
  let encoding = 0
  for (let from = 0; from < count; from += TABLE_WRITES) {
    const part = writes.slice(from, from + TABLE_WRITES)
    let sorted: SegmentWrite[] = []
    sorting += cpuOf(() => {
      sorted = part.sort((a, b) => a.key.compare(b.key) || a.version - b.version)
    })
    encoding += cpuOf(() => tables.push(encodeSegment(sorted, sorted.reduce(least, sorted[0]!.version))))
  }
  say('of tables, not merged', tables)
  console.log(
    `CPU of a write: sorting ${(sorting / count).toFixed(1)} µs, first files ${(encoding / count).toFixed(1)} µs`,
  )
  for (const parts of [4, 1]) {
    const each = Math.ceil(tables.length / parts)
    const groups = Array.from({ length: Math.ceil(tables.length / each) }, (_, at) =>
      tables.slice(at * each, (at + 1) * each),
    )
    const merged: Segment[] = []
    const cpu = cpuOf(() => {
      for (const group of groups) merged.push(encodeSegment(mergedWrites(group), group[0]!.firstVersion))
    })
    say(`merged into ${merged.length}`, merged)
    console.log(`CPU of a write: merging ${(cpu / count).toFixed(1)} µs`)
    if (merged.length === 1) {
      measureFrames(merged[0]!)
      measureLookUps(merged[0]!, writes)
    }
  }
}

function least(one: number, { version }: SegmentWrite): number {
  return Math.min(one, version)
}

function say(what: string, segments: readonly Segment[]): void {
  const sum = (of: (segment: Segment) => number) => segments.reduce((total, segment) => total + of(segment), 0)
  const writes = sum((segment) => segment.writes)
  const keys = sum((segment) => segment.keys)
  const [data, index, filter] = [
    sum((one) => one.dataBytes),
    sum((one) => one.indexBytes),
    sum((one) => one.filterBytes),
  ]
  const frames = sum(({ blocks }) => blocks.length)
  console.log(
    `${what}: ${segments.length} segments, ${writes} writes, ${keys} keys in all: ${((data + index + filter) / writes).toFixed(1)} B a write ` +
      `(data ${(data / writes).toFixed(1)}, index ${(index / writes).toFixed(2)}, filter ${(filter / writes).toFixed(2)}), frames of ${(data / frames).toFixed(0)} B`,
  )
}

/** Inflates all blocks and deflates them again: what of encoding, merging and look-ups is the codec of the frames. */
function measureFrames({ blocks, writes }: Segment): void {
  let columns: Buffer[] = []
  const inflating = cpuOf(() => {
    columns = blocks.map(({ frame }) => inflateRawSync(frame))
  })
  console.log(
    `CPU of inflating a block: ${(inflating / blocks.length).toFixed(1)} µs, of a write ${(inflating / writes).toFixed(2)} µs`,
  )
  for (const level of DEFLATE_LEVELS) {
    let bytes = 0
    const deflating = cpuOf(() => {
      for (const column of columns) bytes += deflateRawSync(column, { level, windowBits: 14 }).length
    })
    console.log(
      `deflate, level ${level}: ${(deflating / writes).toFixed(2)} µs and ${(bytes / writes).toFixed(1)} B a write`,
    )
  }
}

/** Asks for writes that were drawn, and compares each answer. */
function measureLookUps(segment: Segment, writes: readonly SegmentWrite[]): void {
  const random = createRandom(5)
  const asked = Array.from({ length: LOOK_UPS }, () => writes[random.below(writes.length)]!)
  const cpu = cpuOf(() => {
    for (const { key, version, value } of asked) {
      const found = lookUp(segment, key, version)
      if (!found || found.version !== version || !sameValue(found.value, value))
        throw new Error('another value was found')
    }
  })
  console.log(`CPU of a look-up, its block in memory: ${(cpu / LOOK_UPS).toFixed(0)} µs`)
}

function sameValue(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one && other ? one.equals(other) : one === other
}

/** Microseconds. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
