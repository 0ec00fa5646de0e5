import { createHash } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { isPresent, moveDurably } from '@ledger-state/core/files'
import type { StateEngineReader } from '@ledger-state/engine'
import { ingestSliceOfStore } from '@ledger-state/ingest'
import { openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { type SliceSettings, sliceSpecOf } from '../config/slice-settings.js'
import { diskTooSmall, stoppedBy, usage } from '../errors.js'
import { freeBytesAt } from '../stores/disk-space.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { openReader } from '../stores/open-reader.js'
import { openWriter } from '../stores/open-writer.js'
import { nameOfPlace, type StorePlace } from '../stores/store-place.js'
import { formatBytes } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import type { Stop } from '../terminal/stop-signal.js'
import { fetchWithProgress } from './fetch-with-progress.js'
import { createIngestProgress } from './ingest-progress.js'

/**
 * Folder within the slice's folder for the snapshot of the whole store, until the slice has taken its part. No other
 * program uses this name, so the folder is removed.
 */
const WHOLE = 'snapshot-of-whole'

/**
 * Begins a store with a slice of a snapshot of the source, unless the store holds versions already. Resumes a run that
 * was cut short.
 * @throws `stopped`; `source_failed`, `store_corrupt`, `slice_mismatch`, `slice_unbounded`, `disk_too_small`
 */
export async function beginSlicedReplica(
  url: string,
  place: StorePlace,
  slice: SliceSettings,
  stop: Stop,
): Promise<void> {
  const folder = folderOfWhole(url, place)
  const used = `${folder}.used`
  rmSync(used, { recursive: true, force: true })
  if (!isPresent(folder) && (await holdsVersions(place))) return
  makeFolder(folder, place)
  if (!isPresent(join(folder, STORE_FILE))) await fetchWhole(url, folder, stop)
  if (!stop.signal.aborted) await takePart(url, place, folder, slice, stop)
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, 'the same command resumes the slice')
  // A removal that is cut short must not leave a part of a snapshot, which the next run would begin with.
  await moveDurably(folder, used)
  rmSync(used, { recursive: true })
}

/**
 * Refuses a folder with an interrupted slice of a snapshot, for an ingest that does not define the slice. It would make
 * a store of everything, or a slice without a hash of everything.
 * @throws `usage`
 */
export function expectNoBegunSlice(place: StorePlace): void {
  if (place.kind !== 'folder') return
  const folder = join(place.dataDir, WHOLE)
  if (isPresent(folder)) throw usage.sliceOfSnapshotCutShort(place.dataDir, folder)
}

function folderOfWhole(url: string, place: StorePlace): string {
  if (place.kind === 'folder') return join(place.dataDir, WHOLE)
  const digest = createHash('sha256')
    .update(`${nameOfPlace(place)} ${url}`)
    .digest('hex')
  return join(tmpdir(), `ledger-state-${digest.slice(0, 16)}`)
}

/**
 * Makes the temporary folder.
 * @throws `usage` if someone else has made it, as its content would be trusted
 */
function makeFolder(folder: string, place: StorePlace): void {
  makeDataFolder(folder, 0o700)
  const user = process.getuid?.()
  if (place.kind === 'database' && user !== undefined && statSync(folder).uid !== user)
    throw usage.folderOfOthers(folder)
}

async function holdsVersions(place: StorePlace): Promise<boolean> {
  try {
    const reader = await openReader(place)
    const { ledger } = reader
    await reader.close()
    return ledger !== undefined
  } catch (error) {
    if (isLedgerStateError(error, 'store_missing')) return false
    throw error
  }
}

async function fetchWhole(url: string, folder: string, { signal }: Stop): Promise<void> {
  notice(`a slice of the node at ${url}: its whole snapshot is kept in ${folder} temporarily`)
  await fetchWithProgress(url, folder, {
    signal,
    async onBegin({ bytes, missing, isSlice }) {
      const free = await freeBytesAt(folder)
      notice(`the snapshot has ${formatBytes(bytes)}; the disk has ${formatBytes(free)} free`)
      if (isSlice || (missing > free && missing === bytes)) rmSync(folder, { recursive: true })
      if (isSlice) throw usage.replicaOfSlice(url)
      if (missing > free) throw diskTooSmall.noRoomForSnapshot(folder, missing, free)
    },
  })
}

async function takePart(
  url: string,
  place: StorePlace,
  folder: string,
  slice: SliceSettings,
  { signal }: Stop,
): Promise<void> {
  const whole: StateEngineReader = openStateEngineReader({ path: folder })
  try {
    const engine = await openWriter(place)
    try {
      await ingestSliceOfStore(engine, whole, {
        only: { spec: sliceSpecOf(slice), folder },
        description: `snapshot of ${url}`,
        keepTransactions: 'summary',
        signal,
        onNotice: notice,
        progress: createIngestProgress(process.stderr, 'slicing', undefined),
      })
    } finally {
      await engine.close()
    }
  } finally {
    await whole.close()
  }
}

function notice(message: string): void {
  writeNotice(message)
}
