import { type FetchSnapshotOptions, fetchSnapshot } from '@ledger-state/replication'
import { formatBytes, formatCounted, formatShare } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { createProgressLine } from '../terminal/progress-line.js'

/**
 * Fetches a snapshot, and shows its progress on standard error.
 * @throws `source_failed`, `store_corrupt`, and the errors of `onBegin`
 */
export async function fetchWithProgress(
  url: string,
  folder: string,
  options: Pick<FetchSnapshotOptions, 'signal' | 'onBegin'>,
): Promise<void> {
  const progress = createProgressLine(process.stderr)
  const began = performance.now()
  try {
    await fetchSnapshot(url, folder, {
      ...options,
      onNotice: writeNotice,
      onProgress: (bytes, total) =>
        progress.update(() => {
          const share = formatShare(bytes, total, (performance.now() - began) / 1_000)
          return `fetching the snapshot: ${formatBytes(bytes)} of ${formatBytes(total)}, ${share}`
        }),
      onCheck: (records) => progress.update(() => `checking the snapshot: ${formatCounted(records, 'record')}`),
    })
  } finally {
    progress.finish()
  }
}
