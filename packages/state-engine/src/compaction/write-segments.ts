import { removeIfPossible, syncFile, syncFolder } from '@ledger-state/core/files'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { Codec } from '../segments/codec.js'
import { hashSeedOf } from '../segments/key-filter.js'
import { segmentPath } from '../segments/segment-names.js'
import { SegmentWriter, type WrittenSegment } from '../segments/segment-writer.js'
import { mostFileBytes, type SegmentSink, SplitWriter } from '../segments/split-writer.js'

/** Name of the variable with which tests make the engine compress all files. */
const COMPRESSED_VARIABLE = 'LEDGER_STATE_COMPRESSED'
/** Most bytes that a write takes in a file in addition to its key and value. */
const WRITE_BYTES = 64

/** Part of a segment's row that is known before the segment is written. */
export type SegmentPlace = Pick<SegmentRow, 'firstVersion' | 'lastVersion' | 'level' | 'isBase'>

export interface FileFacts extends Pick<LmdbStore, 'path' | 'segmentsId'> {
  /** Whether files are on disk once they are written. Without it nothing waits for the disk: see `syncSegments`. */
  readonly isSynced: boolean
}

/** Facts for files that are written on the event loop. */
export function unsyncedFiles({ path, segmentsId }: LmdbStore): FileFacts {
  return { path, segmentsId, isSynced: false }
}

/**
 * Makes files durable that were written on the event loop, before a transaction names them. They are removed if that fails.
 * @throws `store_full`, `store_failed`
 */
export async function syncSegments({ path, durability }: LmdbStore, rows: readonly SegmentRow[]): Promise<void> {
  if (durability === 'none' || rows.length === 0) return
  const files = rows.map(({ file }) => segmentPath(path, file))
  await withStoreErrorsAsync(path, async () => {
    try {
      for (const file of files) await syncFile(file)
      await syncFolder(path)
    } catch (error) {
      for (const file of files) removeIfPossible(file)
      throw error
    }
  })
}

/** Number of files that a segment may need, from above: two that follow each other have more bytes than one may have. */
export function mostFiles(payloadBytes: number, writes: number): number {
  return 2 + Math.ceil((2 * (payloadBytes + WRITE_BYTES * writes)) / mostFileBytes())
}

/**
 * Writes a segment into files with consecutive numbers, in steps. Returns their rows, which no transaction has yet. No
 * file is left if it is interrupted. `put` puts the writes, and returns when all are put.
 */
export function* writeSegments<Step, T>(
  { path, segmentsId, isSynced }: FileFacts,
  place: SegmentPlace & { readonly file: number },
  codec: Codec,
  put: (sink: SegmentSink) => Generator<Step, T>,
): Generator<Step, { readonly rows: readonly SegmentRow[]; readonly result: T }> {
  const { file, ...versions } = place
  const identity = { storeId: segmentsId, hashSeed: hashSeedOf({ segmentsId }), ...versions }
  const isCompressed = process.env[COMPRESSED_VARIABLE] !== undefined
  const options = { codec: isCompressed ? 'deflate' : codec, isDurable: isSynced } as const
  const open = (part: number) => new SegmentWriter(segmentPath(path, file + part), identity, options)
  const writer = new SplitWriter(open, mostFileBytes())
  let isDone = false
  try {
    const result = yield* put(writer)
    const rows = writer.finish().map((written, part) => toRow(written, { ...versions, file: file + part }))
    isDone = true
    return { rows, result }
  } finally {
    if (!isDone) writer.abort()
  }
}

/** The row of a file that was written. */
export function toRow(
  { summary, fileBytes }: WrittenSegment,
  place: SegmentPlace & { readonly file: number },
): SegmentRow {
  const { writes, keys, payloadBytes, sha256 } = summary
  return { ...place, until: place.lastVersion, fileBytes, writes, keys, payloadBytes, sha256 }
}
