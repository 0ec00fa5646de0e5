import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { isLedgerStateError, isSameBlock } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import { openRecord } from '../bytes/record.js'
import { keyToStoredKey, storedKeySeed } from '../bytes/stored-key.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { beginRead } from '../lmdb/begin-read.js'
import { checkPages } from '../lmdb/check-pages.js'
import { LEDGER_KEY, type LmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { SegmentFiles } from '../read/segment-slices.js'
import { ListedBlocks } from '../records/block-lists.js'
import { readLarge } from '../records/large-values.js'
import { decodeLatest, isLarge, type LatestRecord } from '../records/latest-record.js'
import { decodeLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'
import { getMark } from '../records/mark.js'
import { getReverting, getTruncations } from '../records/truncations.js'
import { CheckFindings } from './check-findings.js'
import { HistoryCheck } from './check-history.js'
import { LargeCheck } from './check-large.js'
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
      const reverting = findings.attempt(() => getReverting(store, findings.options))
      const found = record && findings.attempt(() => checkWalFiles(store, record, reverting !== undefined, findings))
      const segments = openCheckedSegments(store, open, findings)
      atFailpoint('check: files read')
      if (segments.missing !== undefined) {
        // If a merge has removed it meanwhile, the store now has another file in its place.
        if (missing !== segments.missing) {
          missing = segments.missing
          continue
        }
        findings.add(`the store is damaged: the segment file ${missing} is missing`)
      }
      if (record && found && 'mismatch' in found) {
        // If the writer has begun another file meanwhile, the ledger record now names that file.
        if (mismatched !== record.walFile) {
          mismatched = record.walFile
          continue
        }
        findings.add(found.mismatch)
      }
      const unmerged = found && 'mismatch' in found ? undefined : found
      return await new StoreCheck({ store, findings, record, unmerged, reverting, segments, files }).run(
        bytes !== undefined,
      )
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
  readonly reverting: bigint | undefined
  readonly segments: CheckedSegments
  readonly files: CheckedFiles
}

class StoreCheck {
  readonly #store: LmdbStore
  readonly #findings: CheckFindings
  readonly #record: LedgerRecord | undefined
  readonly #unmerged: UnmergedCommits | undefined
  readonly #large: LargeCheck
  /** Newest version that records may have while a truncation is under way, which cuts it off; undefined otherwise. */
  readonly #reverting: bigint | undefined
  readonly #segments: CheckedSegments
  readonly #files: CheckedFiles
  #payloadBytes = 0

  constructor({ store, findings, record, unmerged, reverting, segments, files }: StoreCheckParts) {
    this.#files = files
    this.#segments = segments
    this.#store = store
    this.#findings = findings
    this.#record = record
    this.#unmerged = unmerged
    this.#reverting = reverting
    this.#large = new LargeCheck(store, findings)
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
      if (!hasLedger) this.#expectEmpty()
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

  #expectEmpty(): void {
    const { historyLog, generations, garbage, blockLists } = this.#store
    this.#findings.expectEmpty('history-log', historyLog)
    this.#findings.expectEmpty('generations', generations)
    this.#findings.expectEmpty('garbage', garbage)
    this.#findings.expectEmpty('block-lists', blockLists)
  }

  async #checkRecords(record: LedgerRecord) {
    const { ledger, base, nextLargeId, payloadBytes } = record
    const findings = this.#findings
    findings.attempt(() => getMark(this.#store, findings.options))
    findings.attempt(() => getTruncations(this.#store, findings.options))
    if (base.version > ledger.oldestVersion) {
      findings.add(`the base is version ${base.version}, above the oldest, ${ledger.oldestVersion}`)
    }
    if (this.#store.segments) return await this.#checkSegmentFiles(record)
    const blocks = await this.#checkBlocks(record)
    const history = new HistoryCheck(this.#store, findings, this.#large, record, this.#reverting)
    await history.checkGenerations()
    const keys = await this.#checkLatest(record, history)
    await history.checkHistoryLog()
    await history.checkGarbage()
    await this.#large.check(nextLargeId)
    const found = this.#payloadBytes + history.payloadBytes
    if (found !== payloadBytes) {
      findings.add(`the store has ${found} bytes of payload, the ledger record counts ${payloadBytes}`)
    }
    return { keys, supersededEntries: history.seenPairs, blocks }
  }

  async #checkSegmentFiles(record: LedgerRecord) {
    const { ledger, blocks: counted } = record
    const { oldestVersion, oldestBlock, latestVersion, latestBlock } = ledger
    const findings = this.#findings
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

  async #checkBlocks({ ledger, blocks }: LedgerRecord): Promise<number> {
    const findings = this.#findings
    const { oldestVersion, oldestBlock, latestVersion, latestBlock } = ledger
    const newest = this.#unmerged?.latestVersion ?? latestVersion
    if (oldestVersion > newest) findings.add(`the oldest version ${oldestVersion} is above the latest, ${newest}`)
    let count = 0
    let previous: BlockEntry | undefined
    let atOldest = this.#unmerged?.blocks.find(({ firstVersion }) => firstVersion === oldestVersion)?.block
    for await (const { key, value } of findings.each(this.#store.blockLists)) {
      const list = findings.attempt(() => new ListedBlocks(key, value))
      if (!list) continue
      count += list.count
      for (const entry of list) {
        const { firstVersion, block } = entry
        if (firstVersion > latestVersion && this.#reverting !== undefined && firstVersion <= this.#reverting) continue
        this.#checkBlock(entry, previous, latestVersion)
        previous = entry
        if (firstVersion === oldestVersion) atOldest = block
      }
    }
    if (count !== blocks) findings.add(`the store has ${count} blocks, the ledger record counts ${blocks}`)
    if (!atOldest) findings.add(`no block begins at the oldest version, ${oldestVersion}`)
    else if (!isSameBlock(atOldest, oldestBlock)) {
      findings.add(`the oldest block is not the one at version ${oldestVersion}`)
    }
    if (previous && !isSameBlock(previous.block, latestBlock)) {
      findings.add(`the newest block is ${previous.block.height}, the ledger record says ${latestBlock.height}`)
    }
    const unmerged = this.#unmerged?.blocks.filter(({ firstVersion }) => firstVersion >= oldestVersion)
    return count + (unmerged?.length ?? 0)
  }

  #checkBlock({ firstVersion, block }: BlockEntry, previous: BlockEntry | undefined, latestVersion: bigint): void {
    const findings = this.#findings
    const name = `block ${block.height} at version ${firstVersion}`
    if (previous && (block.height <= previous.block.height || firstVersion <= previous.firstVersion)) {
      findings.add(`${name} follows block ${previous.block.height} at version ${previous.firstVersion}`)
    }
    if (firstVersion > latestVersion) findings.add(`${name} is above the latest version, ${latestVersion}`)
  }

  async #checkLatest({ ledger }: LedgerRecord, history: HistoryCheck): Promise<number> {
    const findings = this.#findings
    const shared = new SharedRecord()
    // A merge under way has written records of versions above those that are merged completely.
    const newest = this.#reverting ?? this.#unmerged?.latestVersion ?? ledger.latestVersion
    let keys = 0
    for await (const { key: stored, value: bytes } of findings.each(this.#store.latestByStoredKey)) {
      keys++
      const name = () => `the latest record of ${Buffer.from(stored.subarray(1, 33)).toString('hex')}…`
      if (!findings.attempt(() => openRecord(bytes, storedKeySeed(stored), name))) continue
      shared.load(this.#store.latestByStoredKey, stored, findings.options)
      const latest = findings.attempt(() => decodeLatest(shared))
      if (!latest) continue
      const { version, fences, value } = latest
      if (version > newest) findings.add(`${name()} is of version ${version}, not committed`)
      if (value === null) history.expectGarbage(stored, version)
      this.#checkKey(stored, latest, name)
      this.#payloadBytes += value?.length ?? 0
      history.checkFences(fences, version, name)
    }
    return keys
  }

  #checkKey(stored: Uint8Array, { longKey, value }: LatestRecord, name: () => string): void {
    if (isLarge(value)) this.#large.name(value)
    if (!longKey) {
      this.#payloadBytes += stored.length - 1
      return
    }
    this.#payloadBytes += longKey.length
    this.#large.name(longKey)
    const key = this.#findings.attempt(() => readLarge(this.#store, longKey, this.#findings.options))
    if (key && !keyToStoredKey(key).equals(stored)) this.#findings.add(`${name()} is stored under another key`)
  }
}
