import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderNow, writeDurably } from '@ledger-state/core/files'
import { branchOf, type LedgerSummary } from '@ledger-state/engine'
import { exportFailed } from '../errors.js'
import type { TableName } from './tables.js'
import { type TableFile, UNFINISHED } from './write-table-file.js'

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
 * Reads the manifest of a folder, or makes an empty one. Files that no range names, of a run that was killed, are removed.
 * @throws `export_failed` if the folder has an export of another kind
 */
export function openManifest(folder: string, expected: Pick<Manifest, 'chain_id' | 'tables' | 'is_slice'>): Manifest {
  makeFolderNow(folder)
  const path = pathOf(folder)
  const manifest: Manifest = existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'))
    : { format: FORMAT, ...expected, state_after: '', ranges: [] }
  const isSame = manifest.format === FORMAT && manifest.chain_id === expected.chain_id
  if (!isSame || manifest.tables.join() !== expected.tables.join() || manifest.is_slice !== expected.is_slice) {
    throw exportFailed.otherExport(folder)
  }
  const named = new Set(manifest.ranges.flatMap(({ files }) => Object.values(files).map((file) => file.path)))
  for (const file of globSync(`*/*.parquet{,${UNFINISHED}}`, { cwd: folder })) {
    if (!named.has(file)) rmSync(join(folder, file))
  }
  return manifest
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
