import { setTimeout as sleep } from 'node:timers/promises'
import { type HostileTask, startHostileProcess } from '@ledger-state/testing/hostile-process'
import { watchMemory } from '../http/process-usage.ts'
import { startNode } from '../http/servers.ts'
import { type SteadyLatencies, type SteadyRequests, sendSteadily } from '../http/steady-requests.ts'
import type { BenchRun } from '../run/bench-run.ts'

const TITLE = 'GET balance, with all kinds of hostile clients at the same time'
const MINUTE_MS = 60_000
/** Time for each of the rows with which the others are compared. */
const COMPARISON_MS = 30_000
const BEGINNING_MS = 3_000
/** Aims: bytes that a reader may hold, and factor by which hostile clients may increase the p99 of others. */
const AIM_BYTES = 512e6
const AIM_FACTOR = 3

interface Row extends SteadyLatencies {
  readonly bytes: number
}

/** Measures one node through all minutes: for each, the most that it holds and how long others wait. */
export async function measureMinutes(
  run: BenchRun,
  folder: string,
  minutes: number,
  requests: Pick<SteadyRequests, 'path' | 'perSecond'>,
): Promise<void> {
  const node = await startNode(folder)
  const memory = watchMemory(node.pid)
  const measure = async (subject: string, milliseconds: number): Promise<Row> => {
    run.throwIfInterrupted()
    memory.takeMostBytes()
    const latencies = await sendSteadily({ ...requests, port: node.port, milliseconds })
    const row = { ...latencies, bytes: memory.takeMostBytes() }
    run.step(`${subject}: ${rowToText(row)}`)
    record(run, subject, subject === 'no hostile client', row)
    return row
  }
  const beside = async <T>(attack: HostileTask['attack'], measureIt: () => Promise<T>): Promise<T> => {
    const hostile = await startHostileProcess({ attack, host: '127.0.0.1', port: node.port, seed: run.seed })
    try {
      await sleep(BEGINNING_MS)
      return await measureIt()
    } finally {
      const { sent, ends } = await hostile.stop()
      if (sent > 0) run.note(`sent: ${JSON.stringify(ends)}`)
    }
  }
  try {
    await sendSteadily({ ...requests, port: node.port, milliseconds: BEGINNING_MS })
    const idle = await measure('no hostile client', COMPARISON_MS)
    const busy = await beside('busy', () => measure('a busy process that sends nothing', COMPARISON_MS))
    const rows: Row[] = []
    await beside('mixture', async () => {
      while (rows.length < minutes) rows.push(await measure(`minute ${rows.length + 1}`, MINUTE_MS))
    })
    conclude(run, idle, busy, rows)
  } finally {
    memory.stop()
    await node.stop()
  }
}

function conclude(run: BenchRun, idle: Row, busy: Row, rows: readonly Row[]): void {
  const most = (choose: (row: Row) => number): number => Math.max(...rows.map(choose))
  const worst: Row = {
    p50: most(({ p50 }) => p50),
    p99: most(({ p99 }) => p99),
    most: most((row) => row.most),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    bytes: most(({ bytes }) => bytes),
  }
  record(run, `the most of ${rows.length} minutes`, false, worst)
  const p99s = rows.map(({ p99 }) => p99).sort((a, b) => a - b)
  const median = p99s[Math.floor(p99s.length / 2)]!
  const factors = [idle, busy].map(({ p99 }) => (median / p99).toFixed(1))
  run.note(
    `p99 of the median minute: ${factors[0]} times that without hostile clients, ${factors[1]} times that with a busy process`,
  )
  if (median > AIM_FACTOR * idle.p99) run.note(`the aim is ${AIM_FACTOR} times at most`)
  if (worst.bytes > AIM_BYTES) run.note(`the reader held ${rowToText(worst)}; the aim is ${AIM_BYTES / 1e6} MB at most`)
}

function rowToText({ p50, p99, most, failed, requests, bytes }: Row): string {
  const [median, late, latest] = [p50, p99, most].map((value) => value.toFixed(1))
  return `${(bytes / 2 ** 20).toFixed(0)} MiB, p50 ${median} ms, p99 ${late}, most ${latest}, ${failed} of ${requests} failed`
}

function record(run: BenchRun, subject: string, isIdle: boolean, row: Row): void {
  const common = { title: TITLE, subject, role: isIdle ? ('floor' as const) : ('ours' as const) }
  run.record({ ...common, metric: 'p99', unit: 'ms', rounds: row.p99 })
  run.record({ ...common, metric: 'p50', unit: 'ms', rounds: row.p50 })
  run.record({ ...common, metric: 'most', unit: 'ms', rounds: row.most })
  run.record({ ...common, metric: 'not answered with 200', unit: '%', rounds: (row.failed * 100) / row.requests })
  run.record({ ...common, metric: 'memory of the reader', unit: 'MiB', rounds: row.bytes / 2 ** 20 })
}
