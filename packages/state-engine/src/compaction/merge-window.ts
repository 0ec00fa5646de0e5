import type { SegmentRow } from '../records/segment-rows.js'
import { BlockCache } from '../segments/block-cache.js'
import type { Codec } from '../segments/codec.js'
import { mergeSegments } from '../segments/merge-segments.js'
import { openNamedSegment } from '../segments/named-segment.js'
import type { SegmentReader } from '../segments/segment-reader.js'
import type { SegmentSink } from '../segments/split-writer.js'
import { FINAL_LEVEL, filesOfMerge } from './merge-level.js'
import { type FileFacts, writeSegments } from './write-segments.js'

/** A merge of all files of a store. */
export interface WindowMerge {
  /** All files, the oldest first. */
  readonly inputs: readonly SegmentRow[]
  /** Oldest version of the window. */
  readonly floor: bigint
  /** Number of the first file of the output. */
  readonly file: number
  readonly codec: Codec
}

/** Number of files that the output of a merge of the window may have. */
export function filesOfWindow(inputs: readonly SegmentRow[]): number {
  return 2 * filesOfMerge({ inputs })
}

/**
 * Rewrites all files as two segments, without data that no version of the window sees: the state at its oldest version, and
 * the writes after it. Returns the rows of the new files, which no transaction has yet.
 */
export function* mergeWindow(
  facts: FileFacts,
  { inputs, floor, file, codec }: WindowMerge,
): Generator<number, readonly SegmentRow[]> {
  const latest = inputs.reduce((most, { until }) => (until > most ? until : most), floor)
  const cache = new BlockCache(0)
  const readers: SegmentReader[] = []
  /** Merges the writes of these versions. */
  function* part(firstVersion: bigint, lastVersion: bigint, number: number): Generator<number, readonly SegmentRow[]> {
    const isState = lastVersion === floor
    const taken = inputs.flatMap((row, at) => {
      const until = row.until < lastVersion ? row.until : lastVersion
      return row.firstVersion > lastVersion || until < firstVersion ? [] : [{ reader: readers[at]!, until }]
    })
    if (taken.length === 0) return []
    const place = { firstVersion, lastVersion, level: FINAL_LEVEL, isBase: isState, file: number }
    const options = { firstVersion, floor: isState ? floor : undefined }
    const merge = (sink: SegmentSink) => mergeSegments(taken, sink, options)
    const { rows } = yield* writeSegments(facts, place, codec, merge)
    return rows
  }
  try {
    for (const row of inputs) readers.push(openNamedSegment(facts, row, { cache, isMapped: false }))
    const state = yield* part(inputs[0]!.firstVersion, floor, file)
    const history = yield* part(floor + 1n, latest, file + filesOfMerge({ inputs }))
    return [...state, ...history]
  } finally {
    for (const reader of readers) reader.close()
  }
}
