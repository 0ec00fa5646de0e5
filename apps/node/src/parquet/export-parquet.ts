import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import { lockFile } from '@ledger-state/core/files'
import { branchOf, noLedger, type StateEngineReader } from '@ledger-state/engine'
import { createLedger, type Ledger } from '@ledger-state/ledger'
import { isOwnKey, isTransactionKey, isWholeTransactionKey } from '@ledger-state/records'
import { exportFailed, usage } from '../errors.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { type ExportedRange, type Manifest, openManifest, saveManifest, withoutCutRanges } from './manifest.js'
import { rangeFileName, rangeFilePath } from './range-file-name.js'
import type { RangeFiles } from './range-job.js'
import { RangeWriter, type RangeWriterOptions } from './range-writer.js'
import { TABLE_NAMES, type TableName } from './tables.js'
import { WritePacker } from './write-packer.js'
import { UNFINISHED } from './write-table-file.js'

/** Bytes of writes, as `WritePacker` counts them, after which a range ends. */
const BYTES_OF_RANGE = 128 << 20
/**
 * Writes after which a range ends. Each key of a file costs its address and its first value, so files of half as many
 * have a fifth more bytes for a write. In longer ranges, threads would mostly wait for the first one.
 */
const WRITES_OF_RANGE = 1_000_000
/** Versions of a range. */
const MOST_VERSIONS = 200_000
const VERSIONS_OF_TURN = 200
const ENTRIES_OF_TURN = 2_000
/** Bytes of transactions and events as rows, compared with the bytes that the store keeps them in. */
const BYTES_OF_KEPT = 8

export interface ParquetExport extends Pick<RangeWriterOptions, 'threads' | 'execArgv'> {
  readonly engine: StateEngineReader
  /** Folder of the store; without it one thread does all. */
  readonly store?: string | undefined
  readonly folder: string
  /** Tables to write; all by default. */
  readonly only?: readonly TableName[] | undefined
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  /** Time between looks for further versions after the last one; without it the export ends there. */
  readonly followMs?: number | undefined
  readonly bytesOfRange?: number
  readonly signal: AbortSignal
  /** Called with the bytes of all writes in memory whenever a range begins to be written. */
  readonly onBuffered?: (bytes: number) => void
  /** Called after each range. */
  readonly onRange?: (range: ExportedRange) => void
  /** Called with each fault after which an export that follows tries again. */
  readonly onFault?: (error: Error) => void
}

/**
 * Exports the state at a version, and the writes of the versions after it, as Parquet files of ranges of versions. A
 * range counts once the manifest names it, so a run that was killed is completed by the next one. With `followMs` it tries again after faults
 * of the system that may pass, such as a full disk.
 * @throws `export_failed` if the store is pruned beyond what is exported
 */
export async function exportParquet(options: ParquetExport): Promise<Manifest> {
  const { signal, to, followMs } = options
  const exporter = await ParquetExporter.open(options)
  try {
    while (!signal.aborted) {
      try {
        await exporter.discard()
        await exporter.exportState()
        if (signal.aborted) break
        if (!(await exporter.exportVersions())) continue
        if (followMs === undefined || (to !== undefined && exporter.lastVersion >= to)) break
      } catch (error) {
        if (followMs === undefined || !mayPass(error)) throw error
        options.onFault?.(error)
      }
      await sleep(followMs, undefined, { signal }).catch(() => {})
    }
    return exporter.saved
  } catch (error) {
    throw isLedgerStateError(error, 'version_pruned') ? exportFailed.pruned(options.folder, error) : error
  } finally {
    await exporter.close()
  }
}

/** A range that is being written. */
interface RangeUnderWay {
  readonly range: Omit<ExportedRange, 'files'>
  readonly fileName: string
  /** Where the state continues; undefined for the last range of the state, and for ranges of versions. */
  readonly stateAfter: string | undefined
  /** Bytes of its writes. */
  readonly bytes: number
  readonly written: Promise<RangeFiles>
}

/** Writes ranges, and the manifest after each of them. */
class ParquetExporter {
  manifest: Manifest
  /** The manifest of the folder. It is an earlier one after a fault. */
  saved: Manifest
  readonly #options: ParquetExport
  readonly #tables: readonly TableName[]
  /** Version of the state with which the export begins. */
  readonly #begin: bigint
  readonly #writer: RangeWriter
  /** Releases the lock of the folder. */
  readonly #unlock: () => void
  /** Ranges that are being written, in order. */
  #underWay: RangeUnderWay[] = []
  /** Paths of files that the manifest will not name. */
  readonly #unnamed = new Set<string>()

  /** @throws `export_failed` if another export writes into the folder, and as `openManifest` does */
  static async open(options: ParquetExport): Promise<ParquetExporter> {
    const { engine, folder, only = TABLE_NAMES } = options
    const { ledger: first } = engine
    if (!first) throw noLedger()
    const ledger = createLedger(engine)
    makeDataFolder(folder)
    // The program needs a Node.js that has locks.
    const unlock = lockFile(join(folder, 'export.lock'), (cause) => exportFailed.otherRuns(folder, cause))!
    try {
      const manifest = await openManifest(folder, {
        chain_id: Number(first.chainId),
        tables: TABLE_NAMES.filter((name) => only.includes(name)),
        is_slice: ledger.at().source.sliced !== undefined,
      })
      return new ParquetExporter(options, ledger, manifest, first.oldestVersion, unlock)
    } catch (error) {
      unlock()
      throw error
    }
  }

  private constructor(
    options: ParquetExport,
    ledger: Ledger,
    manifest: Manifest,
    oldestVersion: bigint,
    unlock: () => void,
  ) {
    const { engine, folder, from, to, store, threads, execArgv } = options
    this.#unlock = unlock
    this.#options = options
    this.#tables = manifest.tables
    this.manifest = manifest
    this.saved = manifest
    this.#begin = BigInt(manifest.ranges[0]?.first ?? from ?? oldestVersion)
    if (from !== undefined && from !== this.#begin) throw usage.otherBegin(folder, this.#begin)
    if (to !== undefined && this.#begin > to) throw usage.fromAboveTo(this.#begin, to)
    this.#writer = new RangeWriter({ engine, ledger, store, threads, execArgv })
  }

  get lastVersion(): bigint {
    return BigInt(this.manifest.ranges.at(-1)!.last)
  }

  async close(): Promise<void> {
    try {
      await this.discard()
    } finally {
      await this.#writer.close()
      this.#unlock()
    }
  }

  /**
   * Exports the rest of the state, as one or more ranges. After a truncation of later versions it goes on behind the
   * ranges that are kept.
   */
  async exportState(): Promise<void> {
    const { engine, folder, signal } = this.#options
    while (this.manifest.state_after !== undefined && !signal.aborted) {
      this.manifest = await withoutCutRanges(folder, this.manifest, engine.ledger!)
      if (!(await this.#unlessCut(() => this.#writeState(this.manifest.state_after!)))) await this.discard()
    }
  }

  /** Writes the state after a key, in hex. Returns false if versions were cut off meanwhile. */
  async #writeState(after: string): Promise<boolean> {
    const { engine, signal } = this.#options
    const begin = this.#begin
    const branch = branchOf(engine.ledger!)
    const time = engine.blockAt(begin).block.timestampUsec
    const newPacker = (): WritePacker => {
      const packer = new WritePacker(begin)
      packer.beginVersion(time)
      return packer
    }
    const range = { first: String(begin), last: String(begin), isState: true, branch }
    let packer = newPacker()
    let entries = 0
    const start = after === '' ? new Uint8Array(0) : keyAfter(hexToBytes(after))
    for (const { key, value } of engine.at(begin).scan(new Uint8Array(0), { start })) {
      if (!isOwnKey(key)) packer.add({ key, value })
      if (this.#isFull(packer)) {
        if (!(await this.#write(packer, range, bytesToHex(key)))) return false
        packer = newPacker()
      } else if (++entries % ENTRIES_OF_TURN === 0) await nextTurn()
      if (signal.aborted) break
    }
    if (!signal.aborted && !(await this.#write(packer, range))) return false
    return await this.#keepAll()
  }

  /**
   * Exports the writes of all versions so far, as ranges. Returns false if versions were cut off meanwhile, so that some
   * are missing.
   */
  async exportVersions(): Promise<boolean> {
    const { engine, folder } = this.#options
    const isWhole = await this.#unlessCut(async () => {
      this.manifest = await withoutCutRanges(folder, this.manifest, engine.ledger!)
      return (await this.#writeVersions()) && (await this.#keepAll())
    })
    if (!isWhole) await this.discard()
    return isWhole
  }

  /** Result of some work, or false if it read versions that were cut off meanwhile. */
  async #unlessCut(work: () => Promise<boolean>): Promise<boolean> {
    const { engine } = this.#options
    const branch = branchOf(engine.ledger!)
    try {
      return await work()
    } catch (error) {
      // A view that is made after the truncation does not know that there was such a version.
      const isAbsent = isLedgerStateError(error, 'version_not_found') && branchOf(engine.ledger!) !== branch
      if (isAbsent || isLedgerStateError(error, 'version_truncated')) return false
      throw error
    }
  }

  /** Returns false if versions were cut off meanwhile. */
  async #writeVersions(): Promise<boolean> {
    const { engine, signal, to } = this.#options
    const latest = engine.ledger!.latestVersion
    const end = to !== undefined && to < latest ? to : latest
    const branch = branchOf(engine.ledger!)
    const isCut = (): boolean => branchOf(engine.ledger!) !== branch
    let from = this.lastVersion + 1n
    let packer = new WritePacker(from)
    if (from > end) return true
    let time = engine.blockAt(from).block.timestampUsec
    for (const { version, block, writes } of engine.versions(from, end)) {
      if (block) {
        packer.addBlock(this.#blockOf(version - 1n))
        time = block.timestampUsec
      }
      packer.beginVersion(time)
      for (const [key, value] of writes) {
        if (!isOwnKey(key)) packer.add({ key, value })
        else if (value && this.#hasRowsOf(key)) packer.countOthers(BYTES_OF_KEPT * value.length)
      }
      if (this.#isFull(packer) || version - from >= MOST_VERSIONS || version === end) {
        // The writes may belong to versions that were cut off meanwhile.
        if (isCut() || !(await this.#write(packer, { first: String(from), last: String(version), branch })))
          return false
        from = version + 1n
        packer = new WritePacker(from)
      } else if (version % BigInt(VERSIONS_OF_TURN) === 0n) await nextTurn()
      if (isCut()) return false
      if (signal.aborted) break
    }
    return true
  }

  #blockOf(version: bigint) {
    const { block, firstVersion, lastVersion } = this.#options.engine.blockAt(version)
    return { ...block, firstVersion, lastVersion }
  }

  /** Tells whether rows are made of the value under a key of the store's own. */
  #hasRowsOf(key: Uint8Array): boolean {
    const isExported = this.#tables.includes('transactions') || this.#tables.includes('events')
    return isExported && (isTransactionKey(key) || isWholeTransactionKey(key))
  }

  #isFull(packer: WritePacker): boolean {
    return packer.count >= WRITES_OF_RANGE || packer.bytes >= (this.#options.bytesOfRange ?? BYTES_OF_RANGE)
  }

  /**
   * Begins to write a range, once fewer are under way than the writer can write at the same time. Returns false if an
   * earlier one was cut off.
   */
  async #write(packer: WritePacker, range: Omit<ExportedRange, 'files'>, stateAfter?: string): Promise<boolean> {
    while (this.#underWay.length >= this.#writer.width) if (!(await this.#keepOldest())) return false
    const { folder, onBuffered } = this.#options
    const { bytes } = packer
    onBuffered?.(this.#underWay.reduce((sum, one) => sum + one.bytes, bytes))
    const number = this.manifest.ranges.length + this.#underWay.length
    const fileName = rangeFileName(range, number)
    const written = this.#writer.write({
      writes: packer.take(),
      isState: range.isState ?? false,
      isFirst: number === 0,
      folder,
      fileName,
      tables: this.#tables,
    })
    // An error is thrown when the range is kept.
    written.catch(() => {})
    this.#underWay.push({ range, fileName, stateAfter, bytes, written })
    return true
  }

  async #keepAll(): Promise<boolean> {
    while (this.#underWay.length > 0) if (!(await this.#keepOldest())) return false
    await this.#save()
    return true
  }

  /** Names the files of the oldest range in the manifest. Returns false if its versions were cut off. */
  async #keepOldest(): Promise<boolean> {
    const { onRange } = this.#options
    const { range, stateAfter, written } = this.#underWay[0]!
    const { files, branch } = await written
    if (branch !== range.branch) return false
    this.#underWay.shift()
    const kept: ExportedRange = { ...range, files }
    const { state_after: before, ...rest } = this.manifest
    const after = range.isState ? stateAfter : before
    this.manifest = {
      ...rest,
      ...(after !== undefined && { state_after: after }),
      ranges: [...this.manifest.ranges, kept],
    }
    await this.#save()
    onRange?.(kept)
    return true
  }

  async #save(): Promise<void> {
    const { manifest } = this
    if (manifest === this.saved) return
    await saveManifest(this.#options.folder, manifest)
    this.saved = manifest
  }

  /** Removes the files of ranges that the manifest will not name. What it could not remove, the next call removes. */
  async discard(): Promise<void> {
    for (const { fileName, written } of this.#underWay.splice(0)) {
      // A range that failed may have files of some tables.
      await written.catch(() => {})
      for (const table of this.#tables) {
        const path = rangeFilePath(table, fileName)
        this.#unnamed.add(path).add(path + UNFINISHED)
      }
    }
    for (const path of this.#unnamed) {
      rmSync(join(this.#options.folder, path), { force: true })
      this.#unnamed.delete(path)
    }
  }
}

const PASSING = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])

/** Whether an error is a fault of the system that may have passed at the next try. */
function mayPass(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  const systemCode = isLedgerStateError(error, 'export_failed') ? error.fields.systemCode : code
  return isLedgerStateError(error, 'store_failed') || PASSING.has(systemCode ?? '')
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
