import { BlockEncoder, decodeBlock, type EncodedBlock, type SegmentWrite } from './segment-block.ts'

/** Bytes of a filter for each key, and of an index page's head for each of its entries. */
const FILTER_BYTES_PER_KEY = 10 / 8
const INDEX_ENTRY_OVERHEAD = 11

/** A segment in memory: what would be its file, and how long that would be. */
export interface Segment {
  readonly firstVersion: number
  readonly blocks: readonly EncodedBlock[]
  readonly writes: number
  readonly keys: number
  readonly dataBytes: number
  readonly indexBytes: number
  readonly filterBytes: number
}

/** Makes a segment of writes in the order of keys and then versions. */
export function encodeSegment(writes: Iterable<SegmentWrite>, firstVersion: number): Segment {
  const encoder = new BlockEncoder(firstVersion)
  const blocks: EncodedBlock[] = []
  let [count, keys] = [0, 0]
  let key: Buffer | undefined
  for (const write of writes) {
    const ended = encoder.add(write)
    if (ended) blocks.push(ended)
    count++
    if (!key?.equals(write.key)) keys++
    key = write.key
  }
  const last = encoder.end()
  if (last) blocks.push(last)
  return {
    firstVersion,
    blocks,
    writes: count,
    keys,
    dataBytes: blocks.reduce((sum, { storedLength }) => sum + storedLength, 0),
    indexBytes: blocks.reduce((sum, { firstKey }, at) => sum + indexEntryLength(firstKey, blocks[at - 1]?.firstKey), 0),
    filterBytes: keys * FILTER_BYTES_PER_KEY,
  }
}

/** The first bytes of the key that tell it from the one before, less what both share. */
function indexEntryLength(key: Buffer, before: Buffer | undefined): number {
  let shared = 0
  while (before && shared < key.length && key[shared] === before[shared]) shared++
  return INDEX_ENTRY_OVERHEAD + Math.min(key.length - shared, 8)
}

export function* segmentWrites({ blocks, firstVersion }: Segment): Generator<SegmentWrite> {
  for (const { frame } of blocks) yield* decodeBlock(frame, firstVersion)
}

/** The writes of segments, of which each is of later versions than the one before, in the order of keys and then versions. */
export function* mergedWrites(segments: readonly Segment[]): Generator<SegmentWrite> {
  const sources = segments.map((segment) => {
    const writes = segmentWrites(segment)
    return { writes, next: writes.next() }
  })
  for (;;) {
    let least: (typeof sources)[number] | undefined
    for (const source of sources) {
      if (source.next.done) continue
      if (!least || source.next.value.key.compare(least.next.value!.key) < 0) least = source
    }
    if (!least) return
    const { key } = least.next.value!
    // The writes of the key that the source has; then another source has the least key, perhaps the same.
    while (!least.next.done && least.next.value.key.equals(key)) {
      yield least.next.value
      least.next = least.writes.next()
    }
  }
}

/** The newest write of a key at or below a version. */
export function lookUp({ blocks, firstVersion }: Segment, key: Buffer, version: number): SegmentWrite | undefined {
  let least = 0
  let most = blocks.length
  while (least < most) {
    const middle = (least + most) >> 1
    const order = blocks[middle]!.firstKey.compare(key)
    if (order < 0 || (order === 0 && blocks[middle]!.firstVersion <= version)) least = middle + 1
    else most = middle
  }
  const block = blocks[least - 1]
  if (!block) return undefined
  let found: SegmentWrite | undefined
  for (const write of decodeBlock(block.frame, firstVersion)) {
    const order = write.key.compare(key)
    if (order > 0) break
    if (order === 0 && write.version <= version) found = write
  }
  return found
}
