import type { SegmentRow } from '../records/segment-rows.js'
import type { Codec } from '../segments/codec.js'
import { mergeSegments } from '../segments/merge-segments.js'
import type { SegmentSink } from '../segments/split-writer.js'
import { FINAL_LEVEL, filesOfMerge, withReaders } from './merge-level.js'
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
  return yield* withReaders(facts, inputs, function* (opened) {
    const state = yield* mergePart(inputs[0]!.firstVersion, floor, file)
    const history = yield* mergePart(floor + 1n, latest, file + filesOfMerge({ inputs }))
    return [...state, ...history]

    function* mergePart(firstVersion: bigint, lastVersion: bigint, first: number) {
      const isState = lastVersion === floor
      const taken = opened.flatMap(({ reader, until }) => {
        const last = until < lastVersion ? until : lastVersion
        return reader.identity.firstVersion > lastVersion || last < firstVersion ? [] : [{ reader, until: last }]
      })
      if (taken.length === 0) return []
      const place = { firstVersion, lastVersion, level: FINAL_LEVEL, isBase: isState, file: first }
      const options = { firstVersion, floor: isState ? floor : undefined }
      const merge = (sink: SegmentSink) => mergeSegments(taken, sink, options)
      return (yield* writeSegments(facts, place, codec, merge)).rows
    }
  })
}
