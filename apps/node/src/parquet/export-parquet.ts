import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import { branchOf } from '@ledger-state/engine'
import { createLedger, type Ledger } from '@ledger-state/ledger'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import { noLedgerErrors, usage } from '../errors.js'
import { type ExportedRange, type Manifest, openManifest, saveManifest, withoutCutRanges } from './manifest.js'
import { TABLE_NAMES, type TableName } from './tables.js'
import { VersionRows, type WrittenKey } from './version-rows.js'
import { type TableFile, writeTableFile } from './write-table-file.js'

/** Memory of rows, as `TableRows` counts it, after which a range ends. */
const BYTES_OF_RANGE = 64 << 20
/** Versions of a range. */
const MOST_VERSIONS = 200_000
const VERSIONS_OF_TURN = 200
const ENTRIES_OF_TURN = 2_000

export interface ParquetExport {
  readonly engine: LmdbEngineReader
  readonly folder: string
  /** Tables to write; all by default. */
  readonly only?: readonly TableName[] | undefined
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  /** Time between looks for further versions after the last one; without it the export ends there. */
  readonly followMs?: number | undefined
  readonly bytesOfRange?: number
  readonly signal: AbortSignal
  /** Called after each range. */
  readonly onRange?: (range: ExportedRange) => void
}

/**
 * Exports the state at a version, and the writes of the versions after it, as Parquet files of ranges of versions. A
 * range counts once the manifest names it, so a run that was killed is completed by the next one.
 */
export async function exportParquet(options: ParquetExport): Promise<Manifest> {
  const { signal, to, followMs } = options
  const exporter = new ParquetExporter(options)
  await exporter.exportState()
  while (!signal.aborted) {
    try {
      await exporter.dropCutRanges()
      await exporter.exportVersions()
    } catch (error) {
      if (!isLedgerStateError(error, 'version_truncated')) throw error
      continue
    }
    const isDone = to !== undefined && exporter.lastVersion >= to
    if (followMs === undefined || isDone) break
    await sleep(followMs, undefined, { signal }).catch(() => {})
  }
  return exporter.manifest
}

/** Writes ranges, and the manifest after each of them. */
class ParquetExporter {
  manifest: Manifest
  readonly #options: ParquetExport
  readonly #ledger: Ledger
  readonly #tables: readonly TableName[]
  /** Version of the state with which the export begins. */
  readonly #begin: bigint

  constructor(options: ParquetExport) {
    const { engine, folder, only = TABLE_NAMES, from, to } = options
    const { ledger: first } = engine
    if (!first) throw noLedgerErrors.emptyStore(folder)
    this.#options = options
    this.#ledger = createLedger(engine)
    this.#tables = TABLE_NAMES.filter((name) => only.includes(name))
    this.manifest = openManifest(folder, {
      chain_id: Number(first.chainId),
      tables: this.#tables,
      is_slice: this.#ledger.at().source.sliced !== undefined,
    })
    this.#begin = BigInt(this.manifest.ranges[0]?.first ?? from ?? first.oldestVersion)
    if (from !== undefined && from !== this.#begin) throw usage.otherBegin(folder, this.#begin)
    if (to !== undefined && this.#begin > to) throw usage.fromAboveTo(this.#begin, to)
  }

  get lastVersion(): bigint {
    return BigInt(this.manifest.ranges.at(-1)!.last)
  }

  /** Drops the ranges of versions that the store has cut off. */
  async dropCutRanges(): Promise<void> {
    const { engine, folder } = this.#options
    this.manifest = await withoutCutRanges(folder, this.manifest, engine.ledger!)
  }

  /** Exports the rest of the state, as one or more ranges. */
  async exportState(): Promise<void> {
    while (this.manifest.state_after !== undefined && !this.#options.signal.aborted) await this.#exportPartOfState()
  }

  async #exportPartOfState(): Promise<void> {
    const { engine, signal } = this.#options
    const begin = this.#begin
    const branch = branchOf(engine.ledger!)
    const rows = new VersionRows(this.#ledger, this.#tables)
    let writes: WrittenKey[] = []
    let last: Uint8Array | undefined
    const time = engine.blockAt(begin).block.timestampUsec
    const add = (): void => {
      rows.addVersion(begin, time, writes, true)
      writes = []
    }
    const after = this.manifest.state_after!
    const start = after === '' ? new Uint8Array(0) : keyAfter(hexToBytes(after))
    for (const { key, value } of engine.at(begin).scan(new Uint8Array(0), { start })) {
      writes.push({ key, value })
      last = key
      if (writes.length < ENTRIES_OF_TURN) continue
      add()
      if (this.#isFull(rows)) break
      await nextTurn()
      if (signal.aborted) return
      last = undefined
    }
    const isWhole = writes.length > 0 || last === undefined
    add()
    const range = { first: String(begin), last: String(begin), isState: true, branch }
    await this.#keep(rows, range, isWhole ? undefined : bytesToHex(last!))
  }

  /** Exports the writes of all versions so far, as ranges. Returns early if versions are cut off meanwhile. */
  async exportVersions(): Promise<void> {
    const { engine, signal, to } = this.#options
    const latest = engine.ledger!.latestVersion
    const end = to !== undefined && to < latest ? to : latest
    const branch = branchOf(engine.ledger!)
    const isCut = (): boolean => branchOf(engine.ledger!) !== branch
    let rows = new VersionRows(this.#ledger, this.#tables)
    let from = this.lastVersion + 1n
    const flush = async (last: bigint): Promise<void> => {
      // The rows may belong to versions that were cut off meanwhile.
      if (!isCut()) await this.#keep(rows, { first: String(from), last: String(last), branch })
      rows = new VersionRows(this.#ledger, this.#tables)
      from = last + 1n
    }
    if (from > end) return
    let time = engine.blockAt(from).block.timestampUsec
    for (const { version, block, writes } of engine.versions(from, end)) {
      if (block) {
        this.#addBlockOf(rows, version - 1n)
        time = block.timestampUsec
      }
      rows.addVersion(
        version,
        time,
        writes.map(([key, value]) => ({ key, value })),
      )
      if (this.#isFull(rows) || version - from >= MOST_VERSIONS) await flush(version)
      else if (version % BigInt(VERSIONS_OF_TURN) === 0n) await nextTurn()
      if (isCut() || signal.aborted) return
    }
    if (from <= end) await flush(end)
  }

  /** Adds the block of a version. */
  #addBlockOf(rows: VersionRows, version: bigint): void {
    const { block, firstVersion, lastVersion } = this.#options.engine.blockAt(version)
    rows.addBlock(block.height, block.epoch, firstVersion, lastVersion, block.timestampUsec)
  }

  #isFull(rows: VersionRows): boolean {
    return rows.bytes >= (this.#options.bytesOfRange ?? BYTES_OF_RANGE)
  }

  /** Writes the files of a range, and then the manifest that names them. */
  async #keep(rows: VersionRows, range: Omit<ExportedRange, 'files'>, stateAfter?: string): Promise<void> {
    const { folder, onRange } = this.#options
    const files: Partial<Record<TableName, TableFile & { readonly path: string }>> = {}
    for (const [name, table] of rows.tables) {
      if (table.count === 0) continue
      const path = `${name}/${fileName(range, this.manifest.ranges.length)}.parquet`
      files[name] = { path, ...(await writeTableFile(join(folder, path), table)) }
    }
    const kept: ExportedRange = { ...range, files }
    const { state_after: _, ...rest } = this.manifest
    this.manifest = {
      ...rest,
      ...(stateAfter !== undefined && { state_after: stateAfter }),
      ranges: [...this.manifest.ranges, kept],
    }
    await saveManifest(folder, this.manifest)
    onRange?.(kept)
  }
}

function fileName({ first, last, isState }: Omit<ExportedRange, 'files'>, number: number): string {
  const padded = (version: string) => version.padStart(20, '0')
  return isState ? `${padded(first)}-state-${String(number).padStart(5, '0')}` : `${padded(first)}-${padded(last)}`
}

/** The first key after a key in the order of their bytes. */
function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
