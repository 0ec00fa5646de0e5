import { formatAge, groupDigits } from '../state/amount.ts'

export interface Sample {
  /** Time in milliseconds since 1970. */
  readonly time: number
  readonly values: Readonly<Record<string, number>>
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** A measured value, and the way to write it. */
export interface Series {
  readonly title: string
  readonly points: readonly Point[]
  readonly format: (value: number) => string
}

/** The measures of a node. A counter becomes its growth in a second. */
export function seriesOf(samples: readonly Sample[]): readonly Series[] {
  const value = (name: string) => pointsOf(samples, (values) => values[`ledger_state_${name}`])
  const rate = (name: string) => rateOf(value(name))
  return [
    { title: 'Versions a second', points: rate('latest_version'), format: perSecond },
    { title: 'Lag', points: value('lag_seconds'), format: (one) => formatAge(Math.round(one)) },
    {
      title: 'Versions kept',
      points: pointsOf(samples, ({ ledger_state_latest_version: latest, ledger_state_oldest_version: oldest }) =>
        latest === undefined || oldest === undefined ? undefined : latest - oldest + 1,
      ),
      format: whole,
    },
    { title: 'File', points: value('store_file_bytes'), format: formatBytes },
    { title: 'Reclaimable', points: value('store_reclaimable_bytes'), format: formatBytes },
    { title: 'Keys and values kept', points: value('store_payload_bytes'), format: formatBytes },
    { title: 'History entries', points: value('store_history_entries'), format: whole },
    { title: 'Pruned a second', points: rate('pruned_entries_total'), format: perSecond },
    { title: 'Caches in use', points: pointsOf(samples, cacheUse), format: percent },
    { title: 'Cache misses a second', points: rate('cache_misses_total'), format: perSecond },
    { title: 'Requests a second', points: rate('http_request_duration_seconds_count'), format: perSecond },
    { title: 'Mean time of an answer', points: meanAnswerSeconds(samples), format: formatSeconds },
    { title: 'Memory of all processes', points: value('process_resident_memory_bytes'), format: formatBytes },
    { title: 'Cores in use', points: rate('process_cpu_seconds_total'), format: perSecond },
  ]
}

function pointsOf(
  samples: readonly Sample[],
  read: (values: Sample['values']) => number | undefined,
): readonly Point[] {
  return samples.flatMap(({ time, values }) => {
    const y = read(values)
    return y === undefined ? [] : [{ x: time, y }]
  })
}

/** Growth of a number in a second, between each two samples. */
function rateOf(points: readonly Point[]): readonly Point[] {
  return points.slice(1).map(({ x, y }, at) => {
    const before = points[at]!
    return { x, y: Math.max(0, y - before.y) / Math.max(1e-3, (x - before.x) / 1_000) }
  })
}

/** Heap of the caches of all readers, as a part of their capacity. */
function cacheUse(values: Sample['values']): number | undefined {
  const { ledger_state_cache_bytes: bytes, ledger_state_cache_capacity_bytes: capacity } = values
  return bytes === undefined || !capacity ? undefined : bytes / capacity
}

/** Mean time of an answer between each two samples; no value if nothing was answered. */
function meanAnswerSeconds(samples: readonly Sample[]): readonly Point[] {
  const name = 'ledger_state_http_request_duration_seconds'
  return samples.slice(1).flatMap(({ time, values }, at) => {
    const before = samples[at]!.values
    const count = (values[`${name}_count`] ?? 0) - (before[`${name}_count`] ?? 0)
    const sum = (values[`${name}_sum`] ?? 0) - (before[`${name}_sum`] ?? 0)
    return count > 0 && sum >= 0 ? [{ x: time, y: sum / count }] : []
  })
}

const whole = (value: number): string => groupDigits(String(Math.round(value)))
const perSecond = (value: number): string => (value < 10 ? value.toFixed(2) : whole(value))

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const at = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at]}`
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`

function formatSeconds(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`
  return seconds < 1 ? `${(seconds * 1e3).toFixed(1)} ms` : `${seconds.toFixed(2)} s`
}
