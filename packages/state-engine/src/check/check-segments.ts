import { Buffer } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { newestInSlices, type SegmentFiles, type SegmentSlice } from '../read/segment-slices.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { expectAllVersions, listSegmentRows, type SegmentRow } from '../records/segment-rows.js'
import { SegmentMatch } from '../segments/block-search.js'
import { checkSegment } from '../segments/check-segment.js'
import { ABSENT } from '../segments/found.js'
import { createKeyProbe } from '../segments/key-filter.js'
import { rowOf } from '../segments/named-segment.js'
import type { SegmentReader } from '../segments/segment-reader.js'
import type { CheckFindings } from './check-findings.js'

export interface SegmentCounts {
  readonly keys: number
  readonly writes: number
}

/** The segment files that a check reads, open, so that they stay readable if a merge removes them meanwhile. */
export interface CheckedSegments {
  readonly rows: readonly SegmentRow[]
  readonly slices: ReadonlyMap<number, SegmentSlice>
  /** Number of a file that is gone; undefined if none is. */
  readonly missing: number | undefined
}

/** Opens the files that a state names. Those that are damaged are among the findings. */
export function openCheckedSegments(store: LmdbStore, files: SegmentFiles, findings: CheckFindings): CheckedSegments {
  const rows = findings.attempt(() => listSegmentRows(store, findings.options)) ?? []
  const slices = new Map<number, SegmentSlice>()
  for (const row of rows) {
    const taken = findings.attempt(() => files.take([row]))
    if (typeof taken === 'number') return { rows, slices, missing: row.file }
    if (taken) slices.set(row.file, taken[0]!)
  }
  return { rows, slices, missing: undefined }
}

/** Files that a check need not read, and who is told of those that it read. */
export interface CheckedFiles {
  /** Called with the name of a file once it is read and sound. The name has the hash of the content. */
  readonly onFile?: ((name: string) => void) | undefined
  /** Names of files that an earlier check found sound. */
  readonly soundFiles?: ReadonlySet<string> | undefined
}

/**
 * Checks segment files one by one, and that together they match the ledger record. `onBlock` is called in order. A key
 * of several files counts once, unless one of them was not read.
 */
export async function checkSegments(
  store: LmdbStore,
  findings: CheckFindings,
  { rows, slices }: CheckedSegments,
  record: LedgerRecord,
  { onBlock, onFile, soundFiles }: CheckedFiles & { readonly onBlock: (entry: BlockEntry) => void },
): Promise<SegmentCounts> {
  const probe = createKeyProbe(store)
  const match = new SegmentMatch()
  const older: SegmentSlice[] = []
  const counts = { keys: 0, writes: 0 }
  findings.attempt(() => expectAllVersions(rows, record))
  for (const row of rows) {
    if (row.until > row.lastVersion || row.until > record.ledger.latestVersion) {
      findings.add(`the segment file ${row.file} ends at version ${row.until}, above the latest version`)
    }
    const slice = slices.get(row.file)
    if (!slice) continue
    const { reader, lists, most } = slice
    const problems = findings.problems.length
    expectRow(findings, store, row, reader)
    const name = `segment-${row.file} ${Buffer.from(row.sha256).toString('hex')}`
    const onKey = (oldest: number) => {
      if (oldest <= most && newestInSlices(older, probe, match) === ABSENT) counts.keys++
    }
    const isRead = !soundFiles?.has(name)
    if (!isRead) counts.keys += row.keys
    else {
      for (const steps = checkSegment(reader, probe, onKey); ; ) {
        const step = findings.attempt(() => steps.next())
        if (step?.done !== false) break
        await findings.count(step.value)
      }
    }
    findings.attempt(() => {
      for (const entry of lists) if (entry.firstVersion <= row.until) onBlock(entry)
    })
    counts.writes += row.writes
    if (findings.problems.length > problems) continue
    if (isRead) older.push(slice)
    onFile?.(name)
  }
  return counts
}

function expectRow(findings: CheckFindings, store: LmdbStore, row: SegmentRow, reader: SegmentReader): void {
  const isOfStore = reader.identity.storeId === store.segmentsId
  if (!isOfStore || !isDeepStrictEqual(rowOf(reader, row.file, row.until), row))
    findings.add(`the segment file ${row.file} is not the one that the database segments names`)
}
