import type { RecordBuilder } from '../bytes/record.js'
import { hashSeedOf, LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { decodeLedgerRecord, encodeLedgerRecord } from '../records/ledger-record.js'
import { listSegmentRows, putSegmentRow, removeSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { BlockCache } from '../segments/block-cache.js'
import { MAX_SEGMENT_BYTES } from '../segments/format.js'
import { mergeSegments } from '../segments/merge-segments.js'
import { segmentPath } from '../segments/segment-names.js'
import { SegmentReader } from '../segments/segment-reader.js'
import { SegmentWriter } from '../segments/segment-writer.js'
import { type FileFacts, toRow } from './flush-segment.js'

/** Number of files of a level that become one of the next. */
const FAN = 8
/** Fewest files of a level that become one. */
const LEAST_INPUTS = 4

/** A merge of files that follow each other into one. */
export interface LevelMerge {
  /** The oldest first. */
  readonly inputs: readonly SegmentRow[]
  readonly file: number
  readonly level: number
  /** Oldest version that is asked for, if all inputs end at or below it. */
  readonly floor: bigint | undefined
}

/** Level of the file with what lies below the window. */
const BASE_LEVEL = 255
/** Versions of a file span less than this, so that their differences are exact numbers. */
const MOST_SPAN = 2n ** 53n

/**
 * Finds files to merge: those below the window, if half of what they have is superseded or so, or those of the lowest level
 * that is full. Rows are the oldest first.
 */
export function filesToMerge(rows: readonly SegmentRow[], oldestVersion: bigint): Omit<LevelMerge, 'file'> | undefined {
  const ended = rows.filter(({ until }) => until <= oldestVersion)
  const base = ended.reduce((sum, { isBase, writes }) => sum + (isBase ? writes : 0), 0)
  const others = ended.reduce((sum, { isBase, writes }) => sum + (isBase ? 0 : writes), 0)
  if (others > 0 && 2 * others >= base && canMerge(ended)) {
    return { inputs: ended, level: BASE_LEVEL, floor: oldestVersion }
  }
  // Files of an imported state have the same versions, and no file with later ones may lie among them.
  const groups = [rows.filter(({ isBase }) => isBase), rows.filter(({ isBase }) => !isBase)]
  for (const group of groups) {
    const inputs = fullLevel(group)
    if (inputs) return { inputs, level: inputs[0]!.level + 1, floor: undefined }
  }
  return undefined
}

/** The oldest files of the lowest level that is full, as many as fit into one. */
function fullLevel(rows: readonly SegmentRow[]): readonly SegmentRow[] | undefined {
  const levels = new Set(rows.map(({ level }) => level).toSorted((a, b) => a - b))
  for (const level of levels) {
    const ofLevel = rows.filter((row) => row.level === level)
    if (ofLevel.length < FAN || level === BASE_LEVEL) continue
    let count = ofLevel.length
    while (count >= LEAST_INPUTS && !canMerge(ofLevel.slice(0, count))) count--
    // A file has less than 2 GiB.
    if (count >= LEAST_INPUTS) return ofLevel.slice(0, count)
  }
  return undefined
}

function canMerge(inputs: readonly SegmentRow[]): boolean {
  const bytes = inputs.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
  return bytes < MAX_SEGMENT_BYTES && inputs.at(-1)!.until - inputs[0]!.firstVersion < MOST_SPAN
}

/** Merges files in steps of about a millisecond. Returns the row of the new file, which no transaction has yet. */
export function* mergeLevel(
  { path, storeId, durability }: FileFacts,
  { inputs, file, level, floor }: LevelMerge,
): Generator<void, SegmentRow> {
  const [firstVersion, lastVersion] = [inputs[0]!.firstVersion, inputs.at(-1)!.until]
  const place = { firstVersion, lastVersion, level, isBase: floor !== undefined || inputs[0]!.isBase }
  const identity = { storeId, hashSeed: hashSeedOf({ storeId }), ...place }
  const cache = new BlockCache(0)
  const readers: SegmentReader[] = []
  const writer = new SegmentWriter(segmentPath(path, file), identity, { isDurable: durability !== 'none' })
  try {
    for (const row of inputs) {
      readers.push(new SegmentReader(segmentPath(path, row.file), { cache, isMapped: false }))
    }
    const slices = inputs.map(({ until }, at) => ({ reader: readers[at]!, until }))
    yield* mergeSegments(slices, writer, { firstVersion, floor })
    return toRow(writer.finish(), { ...place, file })
  } catch (error) {
    writer.abort()
    throw error
  } finally {
    for (const reader of readers) reader.close()
  }
}

/**
 * Has the output of a merge take the place of its inputs, within the transaction of the caller. Returns false, and does
 * nothing, if a truncation has changed the inputs meanwhile.
 */
export function putMerged(
  store: LmdbStore,
  builder: RecordBuilder,
  { inputs }: LevelMerge,
  output: SegmentRow,
): boolean {
  const rows = new Map(listSegmentRows(store).map((row) => [row.file, row]))
  if (inputs.some(({ file, until }) => rows.get(file)?.until !== until)) return false
  for (const row of inputs) removeSegmentRow(store, row)
  putSegmentRow(store, builder, output)
  // An import under way has no ledger record.
  const bytes = store.meta.getBinary(LEDGER_KEY)
  if (!bytes) return true
  const record = decodeLedgerRecord(bytes)
  const nextGeneration = Math.max(record.nextGeneration, output.file + 1)
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, { ...record, nextGeneration }))
  return true
}
