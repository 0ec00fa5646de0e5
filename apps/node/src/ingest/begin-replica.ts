import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { STORE_FILE } from '@ledger-state/state-engine'
import { stoppedBy } from '../errors.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { writeNotice } from '../terminal/notice.js'
import type { Stop } from '../terminal/stop-signal.js'
import { fetchWithProgress } from './fetch-with-progress.js'

/**
 * Fetches a snapshot of the source if the folder has no store.
 * @throws `stopped`; `source_failed`, `store_corrupt`
 */
export async function beginReplica(url: string, dataDir: string, stop: Stop): Promise<void> {
  if (existsSync(join(dataDir, STORE_FILE))) return
  makeDataFolder(dataDir)
  writeNotice(`${dataDir} has no store: asking ${url} for a snapshot`)
  await fetchWithProgress(url, dataDir, { signal: stop.signal })
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, 'the same command resumes the snapshot')
}
