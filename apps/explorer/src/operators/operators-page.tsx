import { useEffect, useState } from 'preact/hooks'
import { CopyLine } from '../components/for-programs.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { formatAge, groupDigits } from '../state/amount.ts'
import { type Sample, type Series, seriesOf } from './series.ts'

interface NodeHistory {
  readonly ready: boolean
  /** Why the node is not ready. */
  readonly why?: string
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

/** Page for the operator of a node: the node during the last hour. */
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
          {history && <p>Below is its last answer.</p>}
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
  const { ready, why, processes, samples } = history
  return (
    <>
      {!ready && (
        <section class="notice" role="alert">
          <h2>Not ready</h2>
          <p>
            <bdi>{why ?? 'The node does not say why.'}</bdi> A load balancer that asks /-/ready sends no requests here.
          </p>
        </section>
      )}
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
        {seriesOf(samples).map((series) => (
          <Chart key={series.title} series={series} />
        ))}
      </div>
    </>
  )
}

function Chart({ series: { title, points, format } }: { readonly series: Series }) {
  const newest = points.at(-1)
  const text = newest === undefined ? 'not measured' : format(newest.y)
  const heights = points.map(({ y }) => y)
  const [least, most] = [format(Math.min(...heights)), format(Math.max(...heights))]
  const range = least === most ? least : `${least} to ${most}`
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
          {least !== most && <span>{range}</span>}
        </small>
      )}
    </figure>
  )
}
