import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fetchSnapshot } from '@ledger-state/replication'
import { STORE_FILE } from '@ledger-state/state-engine'
import { stoppedBy } from '../errors.js'
import { formatBytes, formatCount, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import type { Stop } from '../terminal/stop-signal.js'

/** Fetches a snapshot of the source where the folder has no store. @throws `stopped`; `source_failed`, `store_corrupt` */
export async function beginReplica(url: string, dataDir: string, stop: Stop): Promise<void> {
  if (existsSync(join(dataDir, STORE_FILE))) return
  mkdirSync(dataDir, { recursive: true })
  const progress = createProgressLine(process.stderr)
  const began = performance.now()
  try {
    process.stderr.write(`${dataDir} has no store: asking ${url} for a snapshot\n`)
    await fetchSnapshot(url, dataDir, {
      signal: stop.signal,
      onNotice: (message) => process.stderr.write(`${message}\n`),
      onProgress: (bytes, total) =>
        progress.update(() => {
          const share = formatShare(bytes, total, (performance.now() - began) / 1_000)
          return `fetching the snapshot: ${formatBytes(bytes)} of ${formatBytes(total)}, ${share}`
        }),
      onCheck: (records) => progress.update(() => `checking the snapshot: ${formatCount(records)} records`),
    })
  } finally {
    progress.finish()
  }
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, 'the same command resumes the snapshot')
}
