import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { getLedgerRecord, putLedgerRecord } from '../records/ledger-record.js'
import { listSegmentRows, putSegmentRow, removeSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { BlockCache } from '../segments/block-cache.js'
import type { Codec } from '../segments/codec.js'
import { type MergeInput, mergeSegments } from '../segments/merge-segments.js'
import { openNamedSegment } from '../segments/named-segment.js'
import { mostFileBytes, type SegmentSink } from '../segments/split-writer.js'
import { type FileFacts, mostFiles, writeSegments } from './write-segments.js'

/** Number of segments of a level that become one of the next. */
const FAN = 8
/** The same while a state is imported, whose files nobody reads yet: most entries are then merged once. */
const FAN_OF_IMPORT = 32
/** Commits wait for merges if a level has this many segments: a merge of `FAN`, and half as many more. */
const PACED_FROM = 12
/** Segments above `PACED_FROM` with which a byte of commits waits for one byte more of merges. */
const SEGMENTS_PER_BYTE = 3
/** Fewest segments of a level that become one. */
const LEAST_INPUTS = 4

/** Segments to be merged, which follow each other. A segment may have several files. */
export interface MergeChoice {
  /** The oldest first. */
  readonly inputs: readonly SegmentRow[]
  readonly level: number
  /** Oldest version that is asked for, if all inputs end at or below it. */
  readonly floor: bigint | undefined
}

/** A merge of segments into one. */
export interface LevelMerge extends MergeChoice {
  /** Number of the first file of the output. */
  readonly file: number
  readonly codec: Codec
}

/** Output of a merge. */
export interface MergedLevel {
  readonly rows: readonly SegmentRow[]
  /** Number of values and deletions that it dropped, because no version of the window sees them. */
  readonly dropped: number
}

/** Level of segments that no level is merged with: those with the data below the window, and those of `compact`. */
export const FINAL_LEVEL = 255
/** Versions of a file span less than this, so that their differences are exact numbers. */
const MOST_SPAN = 2n ** 53n
/** Bytes of a disk that a merge leaves to commits. */
const SPARE_BYTES = 2 ** 24

/**
 * Finds files to merge: those below the window, if about half of their writes are superseded, or those of the lowest
 * level that is full. Rows are the oldest first. `oldestVersion` is undefined while a state is imported. Files of the
 * merges that are under way are left out, and so are other files of their levels: they are merged together later.
 */
export function filesToMerge(
  rows: readonly SegmentRow[],
  oldestVersion: bigint | undefined,
  running: readonly LevelMerge[] = [],
): MergeChoice | undefined {
  const isImporting = oldestVersion === undefined
  const below = isImporting ? undefined : filesBelow(rows, oldestVersion)
  const taken = new Set(running.flatMap(({ inputs }) => inputs.map(({ file }) => file)))
  if (below && !below.inputs.some(({ file }) => taken.has(file))) return below
  for (const { file } of below?.inputs ?? []) taken.add(file)
  const free = rows.filter(({ file }) => !taken.has(file))
  // Files of an imported state have the same versions, and no file with later ones may lie among them. Their keys differ, so
  // nothing is won by merging long ones.
  const most = mostFileBytes() / 2
  const imported = free.filter(({ isBase, fileBytes }) => isBase && fileBytes < most).map((row) => [row])
  const others = toSegments(free.filter((row) => !row.isBase))
  for (const isBase of [true, false]) {
    const isTaken = (level: number) =>
      running.some((merge) => merge.level === level + 1 && merge.inputs[0]!.isBase === isBase)
    const inputs = fullLevel(isBase ? imported : others, isImporting ? FAN_OF_IMPORT : FAN, isTaken)
    if (inputs) return { inputs, level: inputs[0]!.level + 1, floor: undefined }
  }
  return undefined
}

/**
 * How much of merges a byte of new commits has to wait for, in bytes: nothing up to `PACED_FROM` segments in each
 * level, and more with each further segment. Each byte is merged once for each level, and there are three levels up to
 * 16 GB, so the number of segments of a level stops growing at some `PACED_FROM` + 9.
 */
export function mergesPerByte(rows: readonly SegmentRow[]): number {
  const counts = new Map<number, number>()
  for (const [row] of toSegments(rows.filter(({ isBase }) => !isBase))) {
    counts.set(row!.level, (counts.get(row!.level) ?? 0) + 1)
  }
  return Math.max(0, (Math.max(0, ...counts.values()) - PACED_FROM) / SEGMENTS_PER_BYTE)
}

/** Finds the files below the window, if they are to be merged. */
export function filesBelow(rows: readonly SegmentRow[], oldestVersion: bigint): MergeChoice | undefined {
  const ended = rows.filter(({ until }) => until <= oldestVersion)
  const base = ended.reduce((sum, { isBase, writes }) => sum + (isBase ? writes : 0), 0)
  const others = ended.reduce((sum, { isBase, writes }) => sum + (isBase ? 0 : writes), 0)
  if (others === 0 || 2 * others < base || !canMerge(ended)) return undefined
  return { inputs: ended, level: FINAL_LEVEL, floor: oldestVersion }
}

/** Whether a disk has room for the output of merges: their inputs are removed only afterwards. */
export function hasRoom(merges: readonly Pick<MergeChoice, 'inputs'>[], freeBytes: number): boolean {
  const inputs = merges.flatMap((merge) => merge.inputs)
  return freeBytes >= SPARE_BYTES + inputs.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
}

/** Number of files that the output of a merge may have. */
export function filesOfMerge({ inputs }: Pick<MergeChoice, 'inputs'>): number {
  const sum = (of: (row: SegmentRow) => number) => inputs.reduce((total, row) => total + of(row), 0)
  return mostFiles(
    sum(({ payloadBytes }) => payloadBytes),
    sum(({ writes }) => writes),
  )
}

/** The files of each segment. Those of one begin at the same version. */
function toSegments(rows: readonly SegmentRow[]): readonly (readonly SegmentRow[])[] {
  return [...Map.groupBy(rows, ({ firstVersion }) => firstVersion).values()]
}

/** The files of the oldest segments of the lowest level that is full, as many as can be merged. */
function fullLevel(
  segments: readonly (readonly SegmentRow[])[],
  fan: number,
  isTaken: (level: number) => boolean,
): readonly SegmentRow[] | undefined {
  const levels = new Set(segments.map(([row]) => row!.level).toSorted((a, b) => a - b))
  for (const level of levels) {
    const ofLevel = segments.filter(([row]) => row!.level === level)
    if (ofLevel.length < fan || level === FINAL_LEVEL || isTaken(level)) continue
    for (let count = ofLevel.length; count >= LEAST_INPUTS; count--) {
      const inputs = ofLevel.slice(0, count).flat()
      if (canMerge(inputs)) return inputs
    }
  }
  return undefined
}

function canMerge(inputs: readonly SegmentRow[]): boolean {
  return inputs.at(-1)!.until - inputs[0]!.firstVersion < MOST_SPAN
}

/**
 * Merges files in steps of about a millisecond. Each step yields the bytes of keys and values that it took. Returns the
 * rows of the new files, which no transaction has yet.
 */
export function* mergeLevel(
  facts: FileFacts,
  { inputs, file, level, floor, codec }: LevelMerge,
): Generator<number, MergedLevel> {
  const [firstVersion, lastVersion] = [inputs[0]!.firstVersion, inputs.at(-1)!.until]
  const place = { firstVersion, lastVersion, level, isBase: floor !== undefined || inputs[0]!.isBase, file }
  return yield* withReaders(facts, inputs, function* (opened) {
    const merge = (sink: SegmentSink) => mergeSegments(opened, sink, { firstVersion, floor })
    const { rows, result: dropped } = yield* writeSegments(facts, place, codec, merge)
    return { rows, dropped }
  })
}

/** Opens files for steps that merge them, and closes them afterwards. */
export function* withReaders<Step, T>(
  facts: FileFacts,
  rows: readonly SegmentRow[],
  merge: (inputs: readonly MergeInput[]) => Generator<Step, T>,
): Generator<Step, T> {
  const cache = new BlockCache(0)
  const inputs: MergeInput[] = []
  try {
    for (const row of rows) {
      inputs.push({ reader: openNamedSegment(facts, row, { cache, isMapped: false }), until: row.until })
    }
    return yield* merge(inputs)
  } finally {
    for (const { reader } of inputs) reader.close()
  }
}

/**
 * Lets the files of a merge take the place of its inputs, within the transaction of the caller. Returns false, and does
 * nothing, if a truncation has changed the inputs meanwhile.
 */
export function putMerged(
  store: LmdbStore,
  builder: RecordBuilder,
  inputs: readonly SegmentRow[],
  output: readonly SegmentRow[],
): boolean {
  const rows = new Map(listSegmentRows(store).map((row) => [row.file, row]))
  if (inputs.some(({ file, until }) => rows.get(file)?.until !== until)) return false
  for (const row of inputs) removeSegmentRow(store, row)
  for (const row of output) putSegmentRow(store, builder, row)
  // An import under way has no ledger record.
  const record = getLedgerRecord(store)
  if (!record) return true
  // Readers list the rows again only if the record differs: the output may have lower numbers than a later flush.
  const nextFile = Math.max(record.nextFile + 1, ...output.map(({ file }) => file + 1))
  const files = record.files - inputs.length + output.length
  putLedgerRecord(store, builder, { ...record, nextFile, files })
  return true
}
