import { join } from 'node:path'
import { isLedgerStateError, isSameBlock } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { beginRead } from '../lmdb/begin-read.js'
import { checkPages } from '../lmdb/check-pages.js'
import { type LmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { SegmentFiles } from '../read/segment-slices.js'
import { expectImportedEntries } from '../records/import-record.js'
import { decodeLedgerRecord, LEDGER_KEY, type LedgerRecord } from '../records/ledger-record.js'
import { getMark } from '../records/mark.js'
import { getTruncations } from '../records/truncations.js'
import { CheckFindings } from './check-findings.js'
import { type CheckedFiles, type CheckedSegments, checkSegments, openCheckedSegments } from './check-segments.js'
import { checkWalFiles, type UnmergedCommits } from './check-wal-files.js'

/** Callbacks that report the progress of a check. */
export interface CheckOptions extends CheckedFiles {
  /** Called from time to time with the number of records checked so far. */
  readonly onProgress?: (records: number) => void
}

/** Result of a check. */
export interface CheckReport {
  /** One line for each of the first hundred faults; empty for a sound store. */
  readonly problems: readonly string[]
  /** Number of keys with a merged write. */
  readonly keys: number
  /** Number of merged values that were superseded and that the window sees. */
  readonly supersededEntries: number
  /** Number of blocks of the window, merged or not. */
  readonly blocks: number
  /** Number of commits in the WAL files that are not merged. */
  readonly unmergedCommits: number
  /** Number of writes of these commits. A key that several of them write counts once for each. */
  readonly unmergedWrites: number
  /** Oldest version that can be read; undefined for a store without versions. `lastVersion` is the newest. */
  readonly firstVersion: bigint | undefined
  readonly lastVersion: bigint | undefined
  /**
   * Number of bytes of the WAL files that are in no commit: the torn end that a killed writer left, or damage.
   */
  readonly unreadableBytes: number
  /** Number of records of all databases. */
  readonly records: number
}

const PAGES_BETWEEN_TURNS = 500

export interface CheckParts {
  readonly atFailpoint: AtFailpoint
  /** Called after each pause. @throws `store_closed` once the engine is closed, which ends the check */
  readonly expectOpen: () => void
}

/** Checks every record in one state of the store. The pages of that state cannot be reused meanwhile. */
export async function checkStore(
  store: LmdbStore,
  { onProgress = () => {}, ...files }: CheckOptions,
  { atFailpoint, expectOpen }: CheckParts,
): Promise<CheckReport> {
  const open = new SegmentFiles(store)
  for (let mismatched: number | undefined, missing: number | undefined; ; ) {
    store.root.resetReadTxn()
    const transaction = beginRead(store.root)
    try {
      atFailpoint('check: transaction begun')
      const findings = new CheckFindings(transaction, onProgress, expectOpen)
      const bytes = store.meta.getBinary(LEDGER_KEY, findings.options)
      const record = bytes && findings.attempt(() => decodeLedgerRecord(bytes))
      const found = record && findings.attempt(() => checkWalFiles(store, record, findings))
      const segments = openCheckedSegments(store, open, findings)
      atFailpoint('check: files read')
      if (segments.missing !== undefined) {
        // If a merge has removed it meanwhile, the store now has another file in its place.
        if (missing !== segments.missing || store.showNewer(transaction)) {
          missing = segments.missing
          continue
        }
        findings.add(`the store is damaged: the segment file ${missing} is missing`)
      }
      if (record && found && 'mismatch' in found) {
        // If the writer has begun another file meanwhile, the ledger record now names that file.
        if (mismatched !== record.walFile || store.showNewer(transaction)) {
          mismatched = record.walFile
          continue
        }
        findings.add(found.mismatch)
      }
      const unmerged = found && 'mismatch' in found ? undefined : found
      return await checkState({ store, findings, record, unmerged, segments, files }, bytes !== undefined)
    } finally {
      open.keep([])
      transaction.done()
    }
  }
}

interface StateParts {
  readonly store: LmdbStore
  readonly findings: CheckFindings
  readonly record: LedgerRecord | undefined
  readonly unmerged: UnmergedCommits | undefined
  readonly segments: CheckedSegments
  readonly files: CheckedFiles
}

/** Checks the records of one state. `hasLedger` says whether it has a ledger record, damaged or not. */
async function checkState(parts: StateParts, hasLedger: boolean): Promise<CheckReport> {
  const { store, findings, record, unmerged, segments } = parts
  const ledger = record?.ledger
  const report = {
    problems: findings.problems,
    keys: 0,
    supersededEntries: 0,
    blocks: 0,
    unmergedCommits: unmerged?.commits ?? 0,
    unmergedWrites: unmerged?.writes ?? 0,
    firstVersion: ledger?.oldestVersion,
    lastVersion: unmerged?.latestVersion ?? ledger?.latestVersion,
    unreadableBytes: unmerged?.unreadableBytes ?? 0,
    records: 0,
  }
  // LMDB may crash on damaged pages.
  if (!(await arePagesSound(store, findings))) return report
  try {
    if (!hasLedger) findings.attempt(() => expectImportedEntries(store, segments.rows, findings.options))
    const counts = record && (await checkRecords(parts, record))
    return { ...report, ...counts, records: findings.records }
  } catch (error) {
    if (isLedgerStateError(error)) throw error
    const why = error instanceof Error ? error.message.replace(/MDB_\w+: /, '') : String(error)
    findings.add(`the check stopped after ${findings.records} records: LMDB cannot read on: ${why}`)
    return report
  }
}

async function arePagesSound(store: LmdbStore, findings: CheckFindings): Promise<boolean> {
  let pages = 0
  let isSound = true
  store.expectInPlace()
  for (const fault of checkPages(join(store.path, STORE_FILE))) {
    if (fault !== undefined) {
      isSound = false
      findings.add(`the store is damaged: ${fault}`)
    } else if (++pages % PAGES_BETWEEN_TURNS === 0) await findings.pause()
  }
  return isSound
}

async function checkRecords({ store, findings, unmerged, segments, files }: StateParts, record: LedgerRecord) {
  const { ledger, base, blocks: counted } = record
  const { oldestVersion, oldestBlock, latestVersion, latestBlock } = ledger
  findings.attempt(() => getMark(store, findings.options))
  findings.attempt(() => getTruncations(store, findings.options))
  if (base.version > oldestVersion) {
    findings.add(`the base is version ${base.version}, above the oldest, ${oldestVersion}`)
  }
  const newestVersion = unmerged?.latestVersion ?? latestVersion
  if (oldestVersion > newestVersion) {
    findings.add(`the oldest version ${oldestVersion} is above the latest, ${newestVersion}`)
  }
  const later = unmerged?.blocks.filter(({ firstVersion }) => firstVersion >= oldestVersion) ?? []
  let blocks = 0
  let newest: BlockEntry | undefined
  let atOldest = later.find(({ firstVersion }) => firstVersion === oldestVersion)?.block
  const onBlock = (entry: BlockEntry) => {
    checkBlock(findings, entry, newest, latestVersion)
    newest = entry
    if (entry.firstVersion >= oldestVersion) blocks++
    if (entry.firstVersion === oldestVersion) atOldest = entry.block
  }
  const found = await checkSegments(store, findings, segments, record, { ...files, onBlock })
  if (blocks !== counted) findings.add(`the store has ${blocks} blocks, the ledger record counts ${counted}`)
  if (!atOldest) findings.add(`no block begins at the oldest version, ${oldestVersion}`)
  else if (!isSameBlock(atOldest, oldestBlock)) {
    findings.add(`the oldest block is not the one at version ${oldestVersion}`)
  }
  const last = newest as BlockEntry | undefined
  if (last && !isSameBlock(last.block, latestBlock)) {
    findings.add(`the newest block is ${last.block.height}, the ledger record says ${latestBlock.height}`)
  }
  const supersededEntries = Math.max(0, found.writes - found.keys)
  return { keys: found.keys, supersededEntries, blocks: blocks + later.length }
}

function checkBlock(
  findings: CheckFindings,
  { firstVersion, block }: BlockEntry,
  previous: BlockEntry | undefined,
  latestVersion: bigint,
): void {
  const name = `block ${block.height} at version ${firstVersion}`
  if (previous && (block.height <= previous.block.height || firstVersion <= previous.firstVersion)) {
    findings.add(`${name} follows block ${previous.block.height} at version ${previous.firstVersion}`)
  }
  if (firstVersion > latestVersion) findings.add(`${name} is above the latest version, ${latestVersion}`)
}
