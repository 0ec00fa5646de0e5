import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { isPresent } from '@ledger-state/core/files'
import { removeFetched } from '@ledger-state/replication'
import { STORE_FILE, withSystemErrorsAsync } from '@ledger-state/state-engine'
import type { SliceSettings } from '../config/slice-settings.js'
import { stoppedBy, usage } from '../errors.js'
import { hasPartOfState, heldLedger } from '../stores/held-ledger.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import type { StorePlace } from '../stores/store-place.js'
import { writeNotice } from '../terminal/notice.js'
import type { Stop } from '../terminal/stop-signal.js'
import { beginSlicedReplica } from './begin-sliced-replica.js'
import { fetchWithProgress } from './fetch-with-progress.js'

/**
 * Begins a replica of the source, unless the store has begun: with a snapshot, or with a slice of one.
 * @throws `stopped`; `usage` if the store has a part of a state, whose import was cut short; `source_failed`, `store_corrupt`,
 *   and for a slice as `beginSlicedReplica`
 */
export async function beginReplica(
  url: string,
  place: StorePlace,
  slice: SliceSettings | undefined,
  stop: Stop,
): Promise<void> {
  if (slice) await beginSlicedReplica(url, place, slice, stop)
  else if (place.kind === 'folder') await beginWholeReplica(url, place.dataDir, stop)
}

async function beginWholeReplica(url: string, dataDir: string, stop: Stop): Promise<void> {
  if (await withSystemErrorsAsync(dataDir, async () => isPresent(join(dataDir, STORE_FILE)))) {
    if (await isCutShort(dataDir)) throw usage.firstIngestCutShort(dataDir)
    // A call that was killed may have left them.
    removeFetched(dataDir)
    return
  }
  makeDataFolder(dataDir)
  writeNotice(`${dataDir} has no store: asking ${url} for a snapshot`)
  await fetchWithProgress(url, dataDir, { signal: stop.signal })
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, 'the same command resumes the snapshot')
}

/** Whether the store has only a part of a state. Faults of the store, which may pass, are left to the node's processes. */
async function isCutShort(dataDir: string): Promise<boolean> {
  try {
    return !(await heldLedger(dataDir)) && (await hasPartOfState(dataDir))
  } catch (error) {
    if (isLedgerStateError(error)) return false
    throw error
  }
}
