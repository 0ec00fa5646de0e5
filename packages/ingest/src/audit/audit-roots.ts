import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHexDigits, isLedgerStateError } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { isPresent, makeFolderNow, syncFolder } from '@ledger-state/core/files'
import { branchOf, expectNotTruncated, type LedgerSummary, type StoredWrite, versionPruned } from '@ledger-state/engine'
import {
  type Cut,
  type KeysFile,
  type LeavesFile,
  MOST_CUT_DEPTH,
  openKeysFile,
  openLeavesFile,
  openRootRanges,
  type RootRange,
  type RootRanges,
} from '@ledger-state/feed'
import { isOwnKey, STATE_ROOT_KEY } from '@ledger-state/records'
import { auditDamaged } from '../errors.js'
import {
  type AuditFinding,
  type AuditProofs,
  type AuditRecord,
  type CutsOfVersions,
  readAuditRecord,
  writeAuditRecord,
} from './audit-record.js'
import { listBlockEnds } from './block-ends.js'
import { findCandidates, lacksCandidates } from './find-candidates.js'
import { FindingTracker } from './finding-tracker.js'
import { GivenRoots } from './given-roots.js'
import { CutAppender, type CutsPlace, fitCuts } from './kept-cuts.js'
import { planRanges } from './plan-ranges.js'
import { type AuditedEngine, readRangeWrites, writesUpTo } from './range-writes.js'

/** Progress of an audit. */
export interface AuditProgress {
  /** Newest version that is audited durably. */
  readonly version: bigint
  /** Audited writes, including the done part of ranges under way, and all writes of this call. */
  readonly doneWrites: number
  readonly totalWrites: number
}

/** Options of an audit. */
export interface AuditRootsOptions {
  /** Folder of the audit: its record, the state at its last version, temporary files. It is made if it is missing. */
  readonly folder: string
  /** The word before the name of each hash. */
  readonly hashSalt: string
  /** Last version to audit: the end of a block. */
  readonly target: bigint
  /** Whether to begin at the oldest version, whatever was audited before. */
  readonly isAgain?: boolean | undefined
  readonly threads?: number | undefined
  /** Bytes of hashed writes in memory before files are written; 1 GiB by default. */
  readonly memoryBytes?: number | undefined
  /** Writes of a range. A killed audit continues at the end of its last complete range. */
  readonly rangeWrites?: number | undefined
  /**
   * Bytes that files for proofs at ends of blocks may take; 0 removes them. By default, the audit keeps them as an
   * earlier call did.
   */
  readonly proofBytes?: number | undefined
  /** Average number of keys that a proof reads; by default so many that it takes about 10 ms. */
  readonly proofKeys?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Waits until the work may continue. It is called after a few thousand writes, and before each part of the state. */
  readonly pace?: (() => Promise<void>) | undefined
  /** Called after each part of the work. */
  readonly onProgress?: ((progress: AuditProgress) => void) | undefined
}

const FILES = /^(leaves|keys|cuts)-\d+-[0-9a-f]+$/
/** Average number of keys that a proof reads: 0.1 to 0.2 s if all of them come from a disk. */
const PROOF_KEYS = 1_000
/** Shares of the work: reading and hashing writes, and replaying them. */
const READING_SHARE = 0.4

/**
 * Computes the root of the state at the end of each block, from the oldest version to the target, and compares it with
 * the roots that the store has of the ledger. Continues after the versions that an earlier call has audited. Reads the
 * store only; its findings are in the folder, durable after each range.
 * @returns the record: whoever finds a finding in it has a store whose state differs from the ledger
 * @throws `version_pruned`, `version_truncated` if the store loses versions of a range meanwhile: the next call goes
 * on; `spill_failed` if files cannot be written; `store_corrupt`
 */
export async function auditRoots(engine: AuditedEngine, options: AuditRootsOptions): Promise<AuditRecord> {
  makeFolderNow(options.folder)
  const ranges = openRootRanges({
    hashSalt: options.hashSalt,
    threads: options.threads,
    folder: options.folder,
    memoryBytes: options.memoryBytes,
    signal: options.signal,
    pace: options.pace,
  })
  try {
    const audit = new Audit(engine, options, ranges)
    return await audit.run()
  } catch (error) {
    if (!isLedgerStateError(error, 'state_tree_damaged')) throw error
    removeFiles(options.folder, undefined)
    throw auditDamaged(options.folder)
  } finally {
    await ranges.close()
  }
}

/** A range whose writes are added. */
interface FinishedRange {
  readonly range: RootRange
  /** The ledger before its writes were read. */
  readonly ledger: LedgerSummary
  /** Version that `ends` are relative to. */
  readonly first: bigint
  readonly ends: Uint32Array
  /** Depth of the kept cuts; undefined if there are none. */
  readonly cutDepth: number | undefined
  readonly from: bigint
  readonly version: bigint
  readonly tracker: FindingTracker
  /** Compares the root of a block. */
  readonly take: (block: number, root: Uint8Array) => void
  readonly before?: { readonly record: AuditRecord; readonly leaves: LeavesFile; readonly keys: KeysFile | undefined }
}

class Audit {
  readonly #engine: AuditedEngine
  readonly #options: AuditRootsOptions
  readonly #ranges: RootRanges
  #doneWrites = 0
  #totalWrites = 0
  #proofBytes = 0

  constructor(engine: AuditedEngine, options: AuditRootsOptions, ranges: RootRanges) {
    this.#engine = engine
    this.#options = options
    this.#ranges = ranges
  }

  async run(): Promise<AuditRecord> {
    const { folder, target } = this.#options
    let record = this.#usableRecord()
    if (record?.proofs && this.#options.proofBytes === 0) {
      record = { ...record, proofs: undefined }
      await writeAuditRecord(folder, record)
    }
    // Also the record of versions that were cut off since says whether to keep proofs.
    this.#proofBytes = this.#options.proofBytes ?? readAuditRecord(folder)?.proofs?.budgetBytes ?? 0
    removeFiles(folder, record)
    record ??= await this.#auditBase()
    const plan = await planRanges(this.#engine, record.version, target, this.#options)
    this.#doneWrites = 0
    this.#totalWrites = plan.writes
    for (const { last, writes } of plan.ranges) record = await this.#auditRange(record, last, writes)
    return await this.#addCandidates(record)
  }

  /** The record of an earlier audit, if it is valid for the present store. */
  #usableRecord(): AuditRecord | undefined {
    const { folder, hashSalt, isAgain } = this.#options
    const record = readAuditRecord(folder)
    const { storeId, ledger } = this.#engine
    if (isAgain || !record || !ledger || record.storeId !== storeId || record.hashSalt !== hashSalt) return undefined
    if (record.version < ledger.oldestVersion || record.version > ledger.latestVersion) return undefined
    if (validUntil(record, ledger) < record.version) return undefined
    const leaves = openLeavesFile(join(folder, record.leavesFile))
    leaves?.close()
    if (leaves?.version !== record.version) return undefined
    // Files for proofs are complete, beginning with the first audited version.
    const isComplete = record.proofs ? this.#hasFiles(record.proofs, record.version) : !this.#options.proofBytes
    return isComplete ? record : undefined
  }

  #hasFiles({ keysFile, cuts }: AuditProofs, version: bigint): boolean {
    const { folder } = this.#options
    const keys = openKeysFile(join(folder, keysFile))
    keys?.close()
    return keys?.version === version && cuts.every(({ name }) => isPresent(join(folder, name)))
  }

  /** Depth of the cuts of the next range; undefined if none are kept. */
  #cutDepth(before: AuditProofs | undefined): number | undefined {
    if (this.#proofBytes === 0) return undefined
    const { proofKeys = PROOF_KEYS } = this.#options
    const parts = Math.max(1, Math.max(before?.keys ?? 0, this.#engine.stats.keys) / proofKeys)
    const last = before?.cuts.at(-1)?.depth
    const fits = (depth: number) => parts <= 2 ** depth && parts > 2 ** (depth - 2)
    if (last !== undefined && fits(last)) return last
    return Math.min(MOST_CUT_DEPTH, Math.ceil(Math.log2(parts)))
  }

  /** Findings of an earlier audit of the same store that cannot be found again, because their versions are pruned. */
  #prunedFindings(): AuditFinding[] {
    const { folder, isAgain } = this.#options
    const record = readAuditRecord(folder)
    const { storeId, ledger } = this.#engine
    if (isAgain || !record || !ledger || record.storeId !== storeId) return []
    const last = validUntil(record, ledger)
    return record.findings.filter(({ firstWrong }) => firstWrong <= last && firstWrong < ledger.oldestVersion)
  }

  /** Audits the state of the oldest version. */
  async #auditBase(): Promise<AuditRecord> {
    const engine = this.#engine
    const ledger = engine.ledger!
    const version = ledger.oldestVersion
    const cutDepth = this.#cutDepth(undefined)
    const range = this.#ranges.begin(undefined, engine.stats.keys, cutDepth)
    const root = { given: undefined as Uint8Array | undefined }
    const merged = engine.openMergedWrites()
    try {
      let count = 0
      for (const { key, isNewKey, value, annotation, version: written } of writesUpTo(engine, merged, version)) {
        if (isOwnKey(key)) {
          if (value && written === version && compareBytes(key, STATE_ROOT_KEY) === 0)
            root.given = Uint8Array.from(value)
          continue
        }
        const wait = range.add({ version: 0, key, isNewKey, value, annotation })
        if (wait) await wait
        if (++count % 1_000 !== 0) continue
        this.#report(version, count)
        await this.#pause()
      }
      this.#expectKept(version)
      const findings = this.#prunedFindings().map((finding) => ({
        ...finding,
        goodAfter: finding.goodAfter ?? version,
      }))
      const found = { findings, findingCount: findings.length, compared: 0, withoutRoot: 0, goodVersion: null }
      const tracker = new FindingTracker(found)
      const take = (_: number, computed: Uint8Array) => tracker.take(version, computed, root.given)
      const base = { ledger, first: version, ends: Uint32Array.of(0), from: version, version }
      return await this.#commit({ ...base, range, cutDepth, tracker, take })
    } finally {
      merged.close()
      await range.close()
    }
  }

  async #auditRange(record: AuditRecord, last: bigint, writes: number): Promise<AuditRecord> {
    const { folder, signal } = this.#options
    const engine = this.#engine
    const ledger = engine.ledger!
    const first = record.version + 1n
    const ends = await listBlockEnds(engine, first, last, signal)
    const base = openLeavesFile(join(folder, record.leavesFile))
    if (!base) throw auditDamaged(folder)
    const cutDepth = this.#cutDepth(record.proofs)
    const range = this.#ranges.begin(base, writes, cutDepth)
    const keys = record.proofs && openKeysFile(join(folder, record.proofs.keysFile))
    const given = new GivenRoots()
    try {
      const visit = ({ version, key, isNewKey, value, annotation }: StoredWrite) => {
        const number = Number(version - first)
        if (isOwnKey(key)) {
          if (value && compareBytes(key, STATE_ROOT_KEY) === 0) given.add(number, value)
          return undefined
        }
        if (range.writes % 10_000 === 0) this.#report(record.version, range.writes * READING_SHARE)
        return range.add({ version: number, key, isNewKey, value, annotation })
      }
      await readRangeWrites(engine, { first, last, signal, pace: this.#options.pace }, visit)
      this.#expectKept(record.version)
      const tracker = new FindingTracker(record)
      const take = (block: number, computed: Uint8Array) => {
        tracker.take(first + BigInt(ends[block]!), computed, given.upTo(ends[block]!))
      }
      const { from } = record
      const next = await this.#commit({
        ...{ range, ledger, first, ends, from, version: last, cutDepth, tracker, take },
        before: { record, leaves: base, keys },
      })
      this.#doneWrites += range.writes
      this.#report(last, 0)
      return next
    } finally {
      await range.close()
      base.close()
      keys?.close()
    }
  }

  /** Replays a range, and makes its findings durable. */
  async #commit(finished: FinishedRange): Promise<AuditRecord> {
    const { ledger, from, version, tracker, before } = finished
    const { folder, hashSalt } = this.#options
    const mark = randomBytes(4).toString('hex')
    const [leavesFile, keysFile] = [`leaves-${version}-${mark}`, `keys-${version}-${mark}`]
    const place = { folder, budgetBytes: this.#proofBytes }
    const { roots, cuts } = await this.#replay(finished, place, leavesFile, keysFile)
    const isDamaged =
      before &&
      (before.leaves.digest() !== before.record.leavesDigest || bytesToHexDigits(roots.before) !== before.record.root)
    if (isDamaged) {
      removeFiles(folder, undefined)
      throw auditDamaged(folder)
    }
    expectNotTruncated(version, ledger, this.#engine.ledger)
    const keysBytes = roots.keysBytes ?? 0
    const proofs: AuditProofs | undefined = cuts && {
      ...{ keysFile, keysBytes, keys: roots.keys, budgetBytes: this.#proofBytes },
      cuts: fitCuts(place, cuts, keysBytes),
    }
    await syncFolder(folder)
    const record: AuditRecord = {
      storeId: this.#engine.storeId,
      hashSalt,
      branch: branchOf(ledger),
      from,
      version,
      root: bytesToHexDigits(roots.after),
      goodVersion: tracker.goodVersion,
      leavesFile,
      leavesDigest: roots.digest,
      compared: tracker.compared,
      withoutRoot: tracker.withoutRoot,
      findings: tracker.findings,
      findingCount: tracker.count,
      proofs,
    }
    await writeAuditRecord(folder, record)
    removeFiles(folder, record)
    return record
  }

  /** Finishes a range: makes its leaves, and, if proofs are asked for, the cuts of its blocks and the keys. */
  async #replay(finished: FinishedRange, place: CutsPlace, leavesFile: string, keysFile: string) {
    const { range, first, ends, version, cutDepth, take, before } = finished
    const oldest = this.#engine.ledger!.oldestVersion
    const cutsBefore = before?.record.proofs?.cuts.filter((cuts) => cuts.last >= oldest) ?? []
    const appender = cutDepth === undefined ? undefined : new CutAppender(place, cutDepth, cutsBefore)
    const keys = appender && { before: before?.keys, path: join(place.folder, keysFile) }
    const onRoot = (block: number, root: Uint8Array, cut: Cut) => {
      take(block, root)
      const end = first + BigInt(ends[block]!)
      // The oldest version may be within its block.
      if (appender && (before || this.#engine.blockAt(end).lastVersion === end)) appender.add(end, cut)
    }
    const onPart = (share: number) => {
      this.#report(before?.record.version ?? version, range.writes * (READING_SHARE + (1 - READING_SHARE) * share))
    }
    try {
      const path = join(place.folder, leavesFile)
      const roots = await range.finish(ends, version, { path, keys, onRoot, onPart })
      return { roots, cuts: appender?.finish() }
    } finally {
      appender?.close()
    }
  }

  /**
   * Checks that no prune has dropped writes above a version, or the state at it, before they were read.
   * @throws `version_pruned`
   */
  #expectKept(version: bigint): void {
    const { oldestVersion } = this.#engine.ledger!
    if (oldestVersion > version) throw versionPruned(version, oldestVersion)
  }

  async #addCandidates(record: AuditRecord): Promise<AuditRecord> {
    if (!record.findings.some(lacksCandidates)) return record
    const findings = await findCandidates(this.#engine, record.findings, this.#options.signal)
    const next = { ...record, findings }
    await writeAuditRecord(this.#options.folder, next)
    return next
  }

  #report(version: bigint, underWay: number): void {
    this.#options.onProgress?.({
      version,
      doneWrites: this.#doneWrites + underWay,
      totalWrites: Math.max(this.#totalWrites, this.#doneWrites + underWay),
    })
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    await this.#options.pace?.()
    this.#options.signal?.throwIfAborted()
  }
}

/** Newest audited version that no later truncation has cut off. */
function validUntil(record: AuditRecord, ledger: LedgerSummary): bigint {
  let valid = record.version
  for (const { number, version } of ledger.truncations ?? []) {
    if (number > record.branch && version < valid) valid = version
  }
  return valid
}

/** Removes the files of ranges that were not finished, and of earlier ones. */
function removeFiles(folder: string, record: AuditRecord | undefined): void {
  const kept = new Set([record?.leavesFile, record?.proofs?.keysFile, ...(record?.proofs?.cuts ?? []).map(cutsName)])
  for (const name of readdirSync(folder)) {
    if (FILES.test(name) && !kept.has(name)) rmSync(join(folder, name), { force: true })
  }
}

function cutsName({ name }: CutsOfVersions): string {
  return name
}
