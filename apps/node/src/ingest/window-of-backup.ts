import { join } from 'node:path'
import { isPresent } from '@ledger-state/core/files'
import type { LedgerSource } from '@ledger-state/feed'
import { openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import type { StorePlace } from '../stores/store-place.js'
import { expectSpace, planIngest, planText } from './fetch-plan.js'

/** Folder next to a store in which sources keep metadata, and temporary copies of chunks. */
export const SOURCES_FOLDER = 'sources'

/**
 * Folder in which sources keep data that they need not fetch again; undefined for a store in a database.
 * @param isReadOnly whether no folder may be made
 */
export function sourceFolderOf(place: StorePlace | undefined, isReadOnly = false): string | undefined {
  if (place?.kind !== 'folder') return undefined
  const folder = join(place.dataDir, SOURCES_FOLDER)
  return isReadOnly && !isPresent(folder) ? undefined : folder
}

/** Questions about a window before any of it is fetched. */
interface BeforeWindow {
  readonly place: StorePlace | undefined
  readonly retain: bigint | undefined
  readonly checkDisk: boolean
}

/**
 * Prints the costs of a window of a backup, and refuses it if the disk is too small; then it closes the source. Prints
 * nothing for a source without a chosen window.
 * @throws `disk_too_small`
 */
export async function announceWindow(
  source: LedgerSource,
  { place, retain, checkDisk }: BeforeWindow,
  notice: (message: string) => void,
): Promise<void> {
  const dataDir = folderOf(place)
  try {
    const planned = await planIngest(source, { dataDir, held: await heldVersion(dataDir), retain }, false)
    if (!planned) return
    notice(planText(source, planned))
    if (checkDisk && dataDir !== undefined) expectSpace(planned, dataDir)
  } catch (error) {
    await source.close()
    throw error
  }
}

/**
 * Prints the costs of a window of a backup, and closes the source.
 * @throws `disk_too_small` after that, if the ingest would be refused
 */
export async function describeWindow(
  source: LedgerSource,
  { place, retain, checkDisk }: BeforeWindow,
  print: (text: string) => void,
): Promise<void> {
  const dataDir = folderOf(place)
  try {
    const planned = await planIngest(source, { dataDir, held: await heldVersion(dataDir), retain }, true)
    print(planned ? planText(source, planned) : source.description)
    if (planned && checkDisk && dataDir !== undefined) expectSpace(planned, dataDir)
  } finally {
    await source.close()
  }
}

function folderOf(place: StorePlace | undefined): string | undefined {
  return place?.kind === 'folder' ? place.dataDir : undefined
}

async function heldVersion(dataDir: string | undefined): Promise<bigint | undefined> {
  if (dataDir === undefined || !isPresent(join(dataDir, STORE_FILE))) return undefined
  const engine = openStateEngineReader({ path: dataDir })
  const { ledger } = engine
  await engine.close()
  return ledger?.latestVersion
}
