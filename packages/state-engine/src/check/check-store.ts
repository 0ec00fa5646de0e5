import { join } from 'node:path'
import { isLedgerStateError, isSameBlock } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { beginRead } from '../lmdb/begin-read.js'
import { checkPages } from '../lmdb/check-pages.js'
import { LEDGER_KEY, type LmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { SegmentFiles } from '../read/segment-slices.js'
import { expectImportedEntries } from '../records/import-record.js'
import { decodeLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'
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
      return await new StoreCheck({ store, findings, record, unmerged, segments, files }).run(bytes !== undefined)
    } finally {
      open.keep([])
      transaction.done()
    }
  }
}

interface StoreCheckParts {
  readonly store: LmdbStore
  readonly findings: CheckFindings
  readonly record: LedgerRecord | undefined
  readonly unmerged: UnmergedCommits | undefined
  readonly segments: CheckedSegments
  readonly files: CheckedFiles
}

class StoreCheck {
  readonly #store: LmdbStore
  readonly #findings: CheckFindings
  readonly #record: LedgerRecord | undefined
  readonly #unmerged: UnmergedCommits | undefined
  readonly #segments: CheckedSegments
  readonly #files: CheckedFiles

  constructor({ store, findings, record, unmerged, segments, files }: StoreCheckParts) {
    this.#files = files
    this.#segments = segments
    this.#store = store
    this.#findings = findings
    this.#record = record
    this.#unmerged = unmerged
  }

  async run(hasLedger: boolean): Promise<CheckReport> {
    const findings = this.#findings
    const unmerged = this.#unmerged
    const ledger = this.#record?.ledger
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
    const isSound = await this.#checkPages()
    // LMDB may crash on damaged pages.
    if (!isSound) return report
    try {
      if (!hasLedger) this.#expectImport()
      const counts = this.#record && (await this.#checkRecords(this.#record))
      return { ...report, ...counts, records: findings.records }
    } catch (error) {
      if (isLedgerStateError(error)) throw error
      const why = error instanceof Error ? error.message.replace(/MDB_\w+: /, '') : String(error)
      findings.add(`the check stopped after ${findings.records} records: LMDB cannot read on: ${why}`)
      return report
    }
  }

  async #checkPages(): Promise<boolean> {
    let pages = 0
    let isSound = true
    this.#store.expectInPlace()
    for (const fault of checkPages(join(this.#store.path, STORE_FILE))) {
      if (fault !== undefined) {
        isSound = false
        this.#findings.add(`the store is damaged: ${fault}`)
      } else if (++pages % PAGES_BETWEEN_TURNS === 0) await this.#findings.pause()
    }
    return isSound
  }

  #expectImport(): void {
    const findings = this.#findings
    findings.attempt(() => expectImportedEntries(this.#store, this.#segments.rows, findings.options))
  }

  async #checkRecords(record: LedgerRecord) {
    const { ledger, base } = record
    const findings = this.#findings
    findings.attempt(() => getMark(this.#store, findings.options))
    findings.attempt(() => getTruncations(this.#store, findings.options))
    if (base.version > ledger.oldestVersion) {
      findings.add(`the base is version ${base.version}, above the oldest, ${ledger.oldestVersion}`)
    }
    return await this.#checkSegmentFiles(record)
  }

  async #checkSegmentFiles(record: LedgerRecord) {
    const { ledger, blocks: counted } = record
    const { oldestVersion, oldestBlock, latestVersion, latestBlock } = ledger
    const findings = this.#findings
    const newestVersion = this.#unmerged?.latestVersion ?? latestVersion
    if (oldestVersion > newestVersion) {
      findings.add(`the oldest version ${oldestVersion} is above the latest, ${newestVersion}`)
    }
    const unmerged = this.#unmerged?.blocks.filter(({ firstVersion }) => firstVersion >= oldestVersion) ?? []
    let blocks = 0
    let previous: BlockEntry | undefined
    let atOldest = unmerged.find(({ firstVersion }) => firstVersion === oldestVersion)?.block
    const onBlock = (entry: BlockEntry) => {
      this.#checkBlock(entry, previous, latestVersion)
      previous = entry
      if (entry.firstVersion >= oldestVersion) blocks++
      if (entry.firstVersion === oldestVersion) atOldest = entry.block
    }
    const found = await checkSegments(this.#store, findings, this.#segments, record, { ...this.#files, onBlock })
    if (blocks !== counted) findings.add(`the store has ${blocks} blocks, the ledger record counts ${counted}`)
    if (!atOldest) findings.add(`no block begins at the oldest version, ${oldestVersion}`)
    else if (!isSameBlock(atOldest, oldestBlock)) {
      findings.add(`the oldest block is not the one at version ${oldestVersion}`)
    }
    const newest = previous as BlockEntry | undefined
    if (newest && !isSameBlock(newest.block, latestBlock)) {
      findings.add(`the newest block is ${newest.block.height}, the ledger record says ${latestBlock.height}`)
    }
    const supersededEntries = Math.max(0, found.writes - found.keys)
    return { keys: found.keys, supersededEntries, blocks: blocks + unmerged.length }
  }

  #checkBlock({ firstVersion, block }: BlockEntry, previous: BlockEntry | undefined, latestVersion: bigint): void {
    const findings = this.#findings
    const name = `block ${block.height} at version ${firstVersion}`
    if (previous && (block.height <= previous.block.height || firstVersion <= previous.firstVersion)) {
      findings.add(`${name} follows block ${previous.block.height} at version ${previous.firstVersion}`)
    }
    if (firstVersion > latestVersion) findings.add(`${name} is above the latest version, ${latestVersion}`)
  }
}
