import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, hexToBytes, isLedgerStateError } from '@ledger-state/core'
import { branchOf } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import { noLedgerErrors, usage } from '../errors.js'
import { type ExportedRange, type Manifest, openManifest, saveManifest, withoutCutRanges } from './manifest.js'
import { TABLE_NAMES, type TableName } from './tables.js'
import { VersionRows, type WrittenKey } from './version-rows.js'
import { type TableFile, writeTableFile } from './write-table-file.js'

/** Memory of rows, as `TableRows` counts it, after which a range ends. */
const BYTES_OF_RANGE = 32 << 20
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
  const { engine, folder, signal, only = TABLE_NAMES } = options
  const first = engine.ledger
  if (!first) throw noLedgerErrors.emptyStore(folder)
  const ledger = createLedger(engine)
  const tables = TABLE_NAMES.filter((name) => only.includes(name))
  let manifest = openManifest(folder, {
    chain_id: Number(first.chainId),
    tables,
    is_slice: ledger.at().source.sliced !== undefined,
  })
  const begin = BigInt(manifest.ranges[0]?.first ?? options.from ?? first.oldestVersion)
  if (options.from !== undefined && options.from !== begin) throw usage.otherBegin(folder, begin)
  if (options.to !== undefined && begin > options.to) throw usage.fromAboveTo(begin, options.to)

  const isFull = (rows: VersionRows) => rows.bytes >= (options.bytesOfRange ?? BYTES_OF_RANGE)
  const keep = async (rows: VersionRows, range: Omit<ExportedRange, 'files'>, stateAfter?: string): Promise<void> => {
    const files: Partial<Record<TableName, TableFile & { readonly path: string }>> = {}
    for (const [name, table] of rows.tables) {
      if (table.count === 0) continue
      const path = `${name}/${fileName(range, manifest.ranges.length)}.parquet`
      files[name] = { path, ...(await writeTableFile(join(folder, path), table)) }
    }
    const kept: ExportedRange = { ...range, files }
    const { state_after: _, ...rest } = manifest
    manifest = {
      ...rest,
      ...(stateAfter !== undefined && { state_after: stateAfter }),
      ranges: [...manifest.ranges, kept],
    }
    await saveManifest(folder, manifest)
    options.onRange?.(kept)
  }

  await exportState()
  while (!signal.aborted) {
    try {
      manifest = await withoutCutRanges(folder, manifest, engine.ledger!)
      await exportVersions()
    } catch (error) {
      if (!isLedgerStateError(error, 'version_truncated')) throw error
      continue
    }
    const isDone = options.to !== undefined && BigInt(manifest.ranges.at(-1)!.last) >= options.to
    if (options.followMs === undefined || isDone) break
    await sleep(options.followMs, undefined, { signal }).catch(() => {})
  }
  return manifest

  async function exportState(): Promise<void> {
    while (manifest.state_after !== undefined && !signal.aborted) {
      const branch = branchOf(engine.ledger!)
      const rows = new VersionRows(ledger, tables)
      let writes: WrittenKey[] = []
      let last: Uint8Array | undefined
      const add = (): void => {
        rows.addVersion(begin, writes, true)
        writes = []
      }
      const start = manifest.state_after === '' ? new Uint8Array(0) : keyAfter(hexToBytes(manifest.state_after))
      for (const { key, value } of engine.at(begin).scan(new Uint8Array(0), { start })) {
        writes.push({ key, value })
        last = key
        if (writes.length < ENTRIES_OF_TURN) continue
        add()
        if (isFull(rows)) break
        await nextTurn()
        if (signal.aborted) return
        last = undefined
      }
      const isWhole = writes.length > 0 || last === undefined
      add()
      const range = { first: String(begin), last: String(begin), isState: true, branch }
      await keep(rows, range, isWhole ? undefined : bytesToHex(last!))
    }
  }

  async function exportVersions(): Promise<void> {
    const latest = engine.ledger!.latestVersion
    const end = options.to !== undefined && options.to < latest ? options.to : latest
    const start = BigInt(manifest.ranges.at(-1)!.last) + 1n
    if (start > end) return
    const branch = branchOf(engine.ledger!)
    let rows = new VersionRows(ledger, tables)
    let from = start
    const flush = async (last: bigint): Promise<void> => {
      // The read rows may belong to versions that were cut off meanwhile.
      if (branchOf(engine.ledger!) === branch) await keep(rows, { first: String(from), last: String(last), branch })
      rows = new VersionRows(ledger, tables)
      from = last + 1n
    }
    for (const { version, writes } of engine.versions(start, end)) {
      const { firstVersion } = engine.blockAt(version)
      if (firstVersion === version && version > begin) {
        const { block, ...ended } = engine.blockAt(version - 1n)
        rows.addBlock(block.height, block.epoch, ended.firstVersion, ended.lastVersion, block.timestampUsec)
      }
      rows.addVersion(
        version,
        writes.map(([key, value]) => ({ key, value })),
      )
      if (isFull(rows) || version - from >= MOST_VERSIONS) await flush(version)
      else if (version % BigInt(VERSIONS_OF_TURN) === 0n) await nextTurn()
      if (branchOf(engine.ledger!) !== branch || signal.aborted) return
    }
    if (from <= end) await flush(end)
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
