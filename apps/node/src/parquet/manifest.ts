import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isPresent, writeDurably } from '@ledger-state/core/files'
import { branchOf, type LedgerSummary } from '@ledger-state/engine'
import { exportFailed } from '../errors.js'
import { isRangeFileName } from './range-file-name.js'
import { TABLE_NAMES, type TableName } from './tables.js'
import type { TableFile } from './write-table-file.js'

const FORMAT = 'ledger-state-parquet-1'

/** The files of a range of versions. */
export interface ExportedRange {
  /** First and last version, as decimals. */
  readonly first: string
  readonly last: string
  /** Whether the rows are a part of the state at `first`, with which the export begins, instead of writes. */
  readonly isState?: boolean
  /** Number of the newest truncation of the ledger when the range was read. */
  readonly branch: number
  readonly files: Readonly<Partial<Record<TableName, TableFile & { readonly path: string }>>>
}

/** Describes an export, in the file `manifest.json` of its folder. A file that it does not name is not part of it. */
export interface Manifest {
  readonly format: typeof FORMAT
  readonly chain_id: number
  readonly tables: readonly TableName[]
  /** Whether the store keeps a part of the ledger only. */
  readonly is_slice: boolean
  /** Where the state at the first version continues, in hex; missing once all of it is exported. */
  readonly state_after?: string
  readonly ranges: readonly ExportedRange[]
}

const pathOf = (folder: string) => join(folder, 'manifest.json')

/**
 * Reads the manifest of a folder that exists, or makes an empty one, so that a run that is killed before its first range is known.
 * Files of ranges that no manifest names, of a run that was killed, are removed. All other files stay.
 * @throws `export_failed` if the folder has an export of another kind, or files of one without its manifest
 */
export async function openManifest(
  folder: string,
  expected: Pick<Manifest, 'chain_id' | 'tables' | 'is_slice'>,
): Promise<Manifest> {
  const path = pathOf(folder)
  const found = isPresent(path) ? parseManifest(readFileSync(path, 'utf8')) : undefined
  if (found === null || (found && !isPartOf(found, expected))) throw exportFailed.otherExport(folder)
  const empty: Manifest = { format: FORMAT, ...expected, state_after: '', ranges: [] }
  const manifest = found?.ranges.length ? found : empty
  const named = new Set(manifest.ranges.flatMap(({ files }) => Object.values(files).map((file) => file.path)))
  const unnamed = rangeFilesIn(folder).filter((file) => !named.has(file))
  if (found) for (const file of unnamed) rmSync(join(folder, file))
  else if (unnamed.length > 0) throw exportFailed.noManifest(folder, unnamed[0]!)
  else await saveManifest(folder, manifest)
  return manifest
}

/** Parses a manifest. Returns null for another file, which another program may have written. */
function parseManifest(text: string): Manifest | null {
  let found: Manifest | null
  try {
    found = JSON.parse(text)
  } catch {
    return null
  }
  const isManifest = found?.format === FORMAT && Array.isArray(found.tables) && Array.isArray(found.ranges)
  return isManifest && found!.ranges.every(isRange) ? found : null
}

function isRange(range: ExportedRange | null): boolean {
  if (!range?.files || typeof range.branch !== 'number') return false
  const hasVersions = [range.first, range.last].every((version) => /^\d+$/.test(version))
  return hasVersions && Object.values(range.files).every((file) => typeof file?.path === 'string')
}

/** Whether a manifest can become one of the expected kind. One without ranges can become any. */
function isPartOf(found: Manifest, expected: Pick<Manifest, 'chain_id' | 'tables' | 'is_slice'>): boolean {
  const isSameLedger = found.chain_id === expected.chain_id && found.is_slice === expected.is_slice
  return found.ranges.length === 0 || (isSameLedger && found.tables.join() === expected.tables.join())
}

/** Paths of the files of ranges in a folder, and of their drafts. */
function rangeFilesIn(folder: string): string[] {
  return TABLE_NAMES.filter((table) => isPresent(join(folder, table))).flatMap((table) => {
    const names = readdirSync(join(folder, table))
    return names.filter(isRangeFileName).map((name) => `${table}/${name}`)
  })
}

export async function saveManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeDurably(pathOf(folder), `${JSON.stringify(manifest, null, 1)}\n`)
}

/** The manifest without the ranges that a truncation of the ledger cut, whose files are removed after it is saved. */
export async function withoutCutRanges(folder: string, manifest: Manifest, ledger: LedgerSummary): Promise<Manifest> {
  const cuts = ledger.truncations ?? []
  const isCut = ({ last, branch }: ExportedRange): boolean =>
    branch < branchOf(ledger) && cuts.some((one) => one.number > branch && one.version < BigInt(last))
  const at = manifest.ranges.findIndex(isCut)
  if (at < 0) return manifest
  const kept = { ...manifest, ranges: manifest.ranges.slice(0, at) }
  if (kept.ranges.length === 0) throw exportFailed.baseIsCut(folder)
  await saveManifest(folder, kept)
  for (const { files } of manifest.ranges.slice(at)) {
    for (const { path } of Object.values(files)) rmSync(join(folder, path), { force: true })
  }
  return kept
}
