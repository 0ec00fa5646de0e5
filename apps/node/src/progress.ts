import type { SourceProgress } from '@ledger-state/feed'
import type { IngestCounters, ProgressReporter } from '@ledger-state/ingest'

const TERMINAL_INTERVAL_MS = 200
const LOG_INTERVAL_MS = 10_000

/** One line that is rewritten on a terminal, one line every ten seconds elsewhere. */
export function createProgressReporter(stream: NodeJS.WriteStream, doing = 'ingesting'): ProgressReporter {
  const began = performance.now()
  const interval = stream.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS
  let last = began
  let drawn = false
  return {
    update(counters, progress) {
      const now = performance.now()
      if (now - last < interval) return
      last = now
      const line = `${doing}: ${progressText(counters, progress, (now - began) / 1000)}`
      stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
      drawn = stream.isTTY
    },
    finish() {
      if (drawn) stream.write('\r\u001b[K')
    },
  }
}

function progressText(counters: IngestCounters, { done, total }: SourceProgress, seconds: number): string {
  const { entries, writes, bytes, latestVersion } = counters
  const share = total > 0 ? done / total : 0
  const left = share > 0.001 ? `, ${formatDuration((seconds * (1 - share)) / share)} left` : ''
  const place =
    latestVersion === undefined ? `${formatCount(entries)} entries of the state` : `version ${latestVersion}`
  const rate = `${formatCount(Math.round((entries + writes) / seconds))} writes/s`
  const amount = `${formatBytes(bytes)}, ${formatBytes(Math.round(bytes / seconds))}/s`
  return `${place}, ${(share * 100).toFixed(1)} %, ${rate}, ${amount}${left}`
}

export function formatCount(count: number | bigint): string {
  return count.toLocaleString('en-US')
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
