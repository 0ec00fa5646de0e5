import { setImmediate } from 'node:timers/promises'
import type { AuditedEngine } from './range-writes.js'

/** A range of an audit. */
export interface PlannedRange {
  /** Last version: the end of a block. */
  readonly last: bigint
  /** Number of its writes, about. */
  readonly writes: number
}

/** Ranges that follow each other up to a target. */
export interface Plan {
  readonly ranges: readonly PlannedRange[]
  readonly writes: number
}

/** Parts of the versions whose writes are counted. */
const PARTS = 4_096
/** Writes of a range by default: 600 MB of hashes. A large store has larger ones, so that its files are read 16 times at most. */
const LEAST_RANGE = 2 ** 23
const MOST_RANGE = 2 ** 25
/** Most versions of a range. They are counted in 32 bits. */
const MOST_VERSIONS = 2n ** 31n
const WRITES_AT_ONCE = 20_000

/** Divides the versions after one, up to a target, into ranges with about as many writes. */
export async function planRanges(
  engine: AuditedEngine,
  after: bigint,
  target: bigint,
  { rangeWrites, signal }: { readonly rangeWrites?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Plan> {
  const first = after + 1n
  if (first > target) return { ranges: [], writes: 0 }
  const merged = engine.openMergedWrites()
  try {
    const most = rangeWrites ?? Math.min(MOST_RANGE, Math.max(LEAST_RANGE, Math.ceil(merged.count / 16)))
    const isOne = merged.count + engine.stats.memtableEntries <= most && target - first < MOST_VERSIONS
    if (isOne) {
      const writes = merged.count + engine.stats.memtableEntries
      return { ranges: [{ last: target, writes }], writes }
    }
    const width = (target - first) / BigInt(PARTS) + 1n
    const counts = new Float64Array(PARTS)
    let count = 0
    for (const { version } of merged.writes(first, target)) {
      counts[Number((version - first) / width)]!++
      if (++count % WRITES_AT_ONCE !== 0) continue
      await setImmediate()
      signal?.throwIfAborted()
    }
    return toRanges(engine, { first, target, width, counts, most })
  } finally {
    merged.close()
  }
}

interface Counted {
  readonly first: bigint
  readonly target: bigint
  readonly width: bigint
  readonly counts: Float64Array
  readonly most: number
}

function toRanges(engine: AuditedEngine, { first, target, width, counts, most }: Counted): Plan {
  const ranges: PlannedRange[] = []
  let [writes, all, begin] = [0, 0, first]
  for (let part = 0; part < PARTS; part++) {
    writes += counts[part]!
    all += counts[part]!
    const end = first + BigInt(part + 1) * width - 1n
    if (end >= target) break
    const isFull = writes + (counts[part + 1] ?? 0) > most || end - begin + width > MOST_VERSIONS
    if (!isFull || end < begin) continue
    const last = engine.blockAt(end).lastVersion
    if (last >= target) break
    ranges.push({ last, writes })
    writes = 0
    begin = last + 1n
  }
  ranges.push({ last: target, writes })
  return { ranges, writes: all }
}
