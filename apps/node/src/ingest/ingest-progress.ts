import type { SourceProgress } from '@ledger-state/feed'
import type { IngestCounters, ProgressReporter } from '@ledger-state/ingest'
import { formatBytes, formatCount, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'

/** `doing`: the first word of the line. */
export function createIngestProgress(stream: NodeJS.WriteStream, doing: string): ProgressReporter {
  const line = createProgressLine(stream)
  return {
    update: (counters, progress) => line.update((seconds) => `${doing}: ${progressText(counters, progress, seconds)}`),
    finish: () => line.finish(),
  }
}

function progressText(
  counters: IngestCounters,
  { done, total, fetchedBytes }: SourceProgress,
  seconds: number,
): string {
  const { entries, writes, bytes, latestVersion } = counters
  const place =
    latestVersion === undefined ? `${formatCount(entries)} entries of the state` : `version ${latestVersion}`
  const rate = `${formatCount(Math.round((entries + writes) / seconds))} writes/s`
  const amount = `${formatBytes(bytes)}, ${formatBytes(Math.round(bytes / seconds))}/s`
  const fetched =
    fetchedBytes === undefined
      ? ''
      : `, fetched ${formatBytes(fetchedBytes)} at ${formatBytes(Math.round(fetchedBytes / seconds))}/s`
  return `${place}, ${rate}, ${amount}${fetched}, ${formatShare(done, total, seconds)}`
}
