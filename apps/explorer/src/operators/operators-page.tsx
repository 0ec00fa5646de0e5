import { useEffect, useState } from 'preact/hooks'
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

/** A node during the last hour, for its operator. */
export function OperatorsPage() {
  const [history, setHistory] = useState<NodeHistory | undefined>(undefined)
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    const load = async (): Promise<void> => {
      const answer = await fetch('/-/history')
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
        </section>
      )}
      {!history && !isLost && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
      {history && <NodeFacts history={history} />}
      <p class="hint">
        For programs: <a href="/metrics">/metrics</a>, <a href="/-/ready">/-/ready</a>, <a href="/-/live">/-/live</a>
      </p>
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
      <div class="charts">
        <Chart title="Versions a second" points={rateOf(samples, 'ledger_state_latest_version')} format={perSecond} />
        <Chart
          title="Lag"
          points={valuesOf(samples, 'ledger_state_lag_seconds')}
          format={(one) => formatAge(Math.round(one))}
        />
        <Chart title="File" points={valuesOf(samples, 'ledger_state_store_file_bytes')} format={formatBytes} />
        <Chart
          title="Superseded values kept"
          points={valuesOf(samples, 'ledger_state_store_history_entries')}
          format={whole}
        />
        <Chart
          title="Pruned a second"
          points={rateOf(samples, 'ledger_state_pruned_entries_total')}
          format={perSecond}
        />
        <Chart
          title="Requests a second"
          points={rateOf(samples, 'ledger_state_http_request_duration_seconds_count')}
          format={perSecond}
        />
        <Chart
          title="Memory of all processes"
          points={valuesOf(samples, 'ledger_state_process_resident_memory_bytes')}
          format={formatBytes}
        />
        <Chart
          title="Cores in use"
          points={rateOf(samples, 'ledger_state_process_cpu_seconds_total')}
          format={perSecond}
        />
      </div>
    </>
  )
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
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <strong>{text}</strong>
      </figcaption>
      {points.length > 1 && <Sparkline points={points} label={`${title}, now ${text}`} />}
    </figure>
  )
}

function valuesOf(samples: readonly Sample[], name: string): readonly Point[] {
  return samples.flatMap(({ time, values }) => (values[name] === undefined ? [] : [{ x: time, y: values[name] }]))
}

/** How fast a number grew, for each second between two samples. */
function rateOf(samples: readonly Sample[], name: string): readonly Point[] {
  const points = valuesOf(samples, name)
  return points.slice(1).map(({ x, y }, at) => {
    const before = points[at]!
    return { x, y: Math.max(0, y - before.y) / Math.max(1e-3, (x - before.x) / 1_000) }
  })
}

const whole = (value: number): string => groupDigits(String(Math.round(value)))
const perSecond = (value: number): string => (value < 10 ? value.toFixed(2) : whole(value))

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const at = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at]}`
}
