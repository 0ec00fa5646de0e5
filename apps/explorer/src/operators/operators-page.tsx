import { useEffect, useState } from 'preact/hooks'
import { CopyLine } from '../components/for-programs.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { formatAge, groupDigits } from '../state/amount.ts'

interface Sample {
  /** Milliseconds since 1970. */
  readonly time: number
  readonly values: Readonly<Record<string, number>>
}

interface NodeHistory {
  readonly ready: boolean
  readonly processes: readonly {
    readonly name: string
    readonly state: string
    readonly pid?: number
    readonly restarts: number
  }[]
  readonly ledger_version?: string
  readonly oldest_ledger_version?: string
  readonly samples: readonly Sample[]
}

const REFRESH_MS = 5_000
const LONGEST_WAIT_MS = 10_000

/** A node during the last hour, for its operator. */
export function OperatorsPage() {
  const [history, setHistory] = useState<NodeHistory | undefined>(undefined)
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    const load = async (): Promise<void> => {
      const answer = await fetch('/-/history', { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
      setHistory((await answer.json()) as NodeHistory)
      setLost(false)
    }
    const tick = (): void => void load().catch(() => setLost(true))
    tick()
    const timer = setInterval(tick, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <main>
      <h1>Node</h1>
      {isLost && (
        <section class="notice" role="alert">
          <h2>The node does not answer; asking again</h2>
          {history && <p>Below is what it said last.</p>}
        </section>
      )}
      {!history && !isLost && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
      {history && <NodeFacts history={history} />}
      <details class="for-programs">
        <summary>For programs</summary>
        <h2>metrics for Prometheus, and probes</h2>
        {['/metrics', '/-/ready', '/-/live'].map((path) => (
          <CopyLine key={path} text={`curl ${window.location.origin}${path}`} />
        ))}
      </details>
    </main>
  )
}

function NodeFacts({ history }: { readonly history: NodeHistory }) {
  const { ready, processes, samples } = history
  return (
    <>
      <p class="subtitle">
        {ready ? 'Ready' : 'Not ready'}; versions {groupDigits(history.oldest_ledger_version ?? '0')} to{' '}
        {groupDigits(history.ledger_version ?? '0')}
      </p>
      <table class="amounts">
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Restarts
            </th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ name, state, pid, restarts }) => (
            <tr key={name}>
              <th scope="row">
                {name} <small>{pid !== undefined && `pid ${pid}`}</small>
              </th>
              <td>{state}</td>
              <td class="number">{restarts}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>The last hour</h2>
      {samples.length < 2 && (
        <p class="hint">The node measures itself every ten seconds; curves come with the second.</p>
      )}
      <div class="charts">
        {charts(samples).map((chart) => (
          <Chart key={chart.title} {...chart} />
        ))}
      </div>
    </>
  )
}

function charts(samples: readonly Sample[]): readonly ChartProps[] {
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
    { title: 'Free in the file', points: value('store_free_bytes'), format: formatBytes },
    { title: 'Keys and values kept', points: value('store_payload_bytes'), format: formatBytes },
    { title: 'Superseded values kept', points: value('store_history_entries'), format: whole },
    { title: 'Pruned a second', points: rate('pruned_entries_total'), format: perSecond },
    { title: 'Caches in use', points: pointsOf(samples, cacheUse), format: percent },
    { title: 'Cache misses a second', points: rate('cache_misses_total'), format: perSecond },
    { title: 'Requests a second', points: rate('http_request_duration_seconds_count'), format: perSecond },
    { title: 'Mean time of an answer', points: meanAnswerSeconds(samples), format: formatSeconds },
    { title: 'Memory of all processes', points: value('process_resident_memory_bytes'), format: formatBytes },
    { title: 'Cores in use', points: rate('process_cpu_seconds_total'), format: perSecond },
  ]
}

interface Point {
  readonly x: number
  readonly y: number
}

interface ChartProps {
  readonly title: string
  readonly points: readonly Point[]
  readonly format: (value: number) => string
}

function Chart({ title, points, format }: ChartProps) {
  const newest = points.at(-1)
  const text = newest === undefined ? 'not measured' : format(newest.y)
  const heights = points.map(({ y }) => y)
  const range = points.length > 1 && `${format(Math.min(...heights))} to ${format(Math.max(...heights))}`
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <strong>{text}</strong>
      </figcaption>
      {points.length > 1 && <Sparkline points={points} label={`${title}: ${range}, now ${text}`} />}
      {points.length > 1 && (
        <small>
          <span>{formatAge(Math.round((points.at(-1)!.x - points[0]!.x) / 1_000))}</span>
          <span>{range}</span>
        </small>
      )}
    </figure>
  )
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

/** How fast a number grew, for each second between two samples. */
function rateOf(points: readonly Point[]): readonly Point[] {
  return points.slice(1).map(({ x, y }, at) => {
    const before = points[at]!
    return { x, y: Math.max(0, y - before.y) / Math.max(1e-3, (x - before.x) / 1_000) }
  })
}

/** Part of what the caches of all readers take at most. */
function cacheUse(values: Sample['values']): number | undefined {
  const { ledger_state_cache_bytes: bytes, ledger_state_cache_capacity_bytes: capacity } = values
  return bytes === undefined || !capacity ? undefined : bytes / capacity
}

/** Between two samples; none where nothing was answered. */
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
