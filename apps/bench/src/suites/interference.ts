import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { STORE_FILE } from '@ledger-state/state-engine'
import { type Connection, closeConnections, offerLoad, openConnections } from '../http/load.ts'
import { GET_BALANCE } from '../http/requests.ts'
import { writeServedStore } from '../http/served-store.ts'
import { startNode } from '../http/servers.ts'
import type { WriterLoad } from '../http/store-writer.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import type { LoopStops } from '../workload/committing-process.ts'

/** Load far below saturation, so that requests do not wait for each other. */
const REQUESTS_PER_SECOND = 1_000
const CONNECTIONS = 32

const WRITER = fileURLToPath(new URL('../http/store-writer.ts', import.meta.url))
const COMMITTER = fileURLToPath(new URL('../workload/committing-process.ts', import.meta.url))

export const interferenceSuite: Suite = {
  name: 'interference',
  summary:
    'latencies of requests at a steady rate while a writer ingests, and while it ingests and prunes; stops of the event loop that commits',
  estimate: (scale) => ({
    minutes: { tiny: 1, small: 2, medium: 6, large: 20 }[scale],
    memoryBytes: 0.5e9,
    diskBytes: 2e9,
  }),
  charts: [
    {
      title: 'Latency of requests while a writer commits',
      metric: ['p50', 'p99'],
      x: 'metric',
      caption:
        'GET balance at 1,000 requests a second, in alternating rounds; writer, server and load share the cores.',
    },
    {
      title: 'Size of the store',
      metric: 'size of the store',
      x: 'seconds',
      caption: 'While it is written and pruned.',
    },
  ],
  async run(run) {
    const folder = run.folder('interference')
    await writeServedStore(folder)
    const node = await startNode(folder)
    const writer = fork(WRITER, [folder])
    try {
      await once(writer, 'message')
      const connections = await openConnections(node.port, CONNECTIONS)
      await measure(run, folder, connections, writer)
      closeConnections(connections)
    } finally {
      const ended = once(writer, 'exit')
      writer.disconnect()
      await ended
      await node.stop()
    }
    await measureStops(run)
  },
}

/** Measures how long the event loop of a program is blocked while it commits 1,000 writes again and again. */
async function measureStops(run: BenchRun): Promise<void> {
  const rounds = run.byScale({ tiny: 1, small: 3, medium: 5, large: 9 })
  const milliseconds = run.byScale({ tiny: 500, small: 5_000, medium: 10_000, large: 20_000 })
  const loads = ['nobody commits', 'commits, merges under way', 'commits at half of that rate'] as const
  const measured = loads.map((): LoopStops[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, load] of loads.entries()) {
      run.step(`round ${round + 1} of ${rounds}: ${load}`)
      const folder = run.folder('loop-stops')
      const most = [0, Number.POSITIVE_INFINITY, (measured[1]!.at(-1)?.writesPerSecond ?? 0) / 2][at]
      const child = fork(COMMITTER, [join(folder, 'store'), String(milliseconds), String(most)])
      const ended = once(child, 'exit')
      const [stops] = (await once(child, 'message')) as [LoopStops]
      await ended
      rmSync(folder, { recursive: true })
      measured[at]!.push(stops)
    }
  }
  for (const [at, load] of loads.entries()) {
    const common = {
      title: 'between two ticks of a timer of 1 ms, during commits of 1,000 writes',
      subject: load,
      role: at === 0 ? ('floor' as const) : ('ours' as const),
      unit: 'ms',
    }
    const metrics = { p99: 'p99', 'p99.9': 'p999', longest: 'longest' } as const
    for (const [metric, name] of Object.entries(metrics)) {
      run.record({ ...common, metric, rounds: measured[at]!.map((one) => one[name]) })
      run.record({ ...common, metric: `${metric}, CPU time`, rounds: measured[at]!.map(({ cpu }) => cpu[name]) })
    }
    if (at > 0) recordCommits(run, load, measured[at]!)
  }
}

function recordCommits(run: BenchRun, load: string, measured: readonly LoopStops[]): void {
  const title = `durable commits of 1,000 writes, one after the other: ${load}`
  for (const metric of ['p50', 'p99'] as const) {
    const common = { title, metric, unit: 'ms' }
    run.record({ ...common, subject: 'engine', role: 'ours', rounds: measured.map(({ commit }) => commit[metric]) })
    const rounds = measured.map(({ bareSync }) => bareSync[metric])
    run.record({ ...common, subject: 'a bare write and sync', role: 'floor', rounds })
  }
  const rounds = measured.map(({ writesPerSecond }) => writesPerSecond)
  const common = { title, subject: 'engine', role: 'ours' as const }
  run.record({ ...common, metric: 'writes a second', unit: '/s', better: 'higher', rounds })
}

async function measure(
  run: BenchRun,
  folder: string,
  connections: readonly Connection[],
  writer: ChildProcess,
): Promise<void> {
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 9, large: 15 })
  const milliseconds = run.byScale({ tiny: 300, small: 5_000, medium: 10_000, large: 20_000 })
  const { makeRequest } = GET_BALANCE
  const loads: readonly WriterLoad[] = ['nobody writes', 'ingest', 'ingest and prune']
  const latencies = loads.map(() => ({ p50: [] as number[], p99: [] as number[] }))
  const began = performance.now()
  const recordSize = () => {
    const seconds = Math.round((performance.now() - began) / 1_000)
    run.record({
      title: 'size of the store',
      plotOnly: true,
      subject: 'the file',
      metric: 'size of the store',
      unit: 'B',
      better: 'neither',
      rounds: statSync(join(folder, STORE_FILE)).size,
      at: { seconds },
    })
  }
  for (let round = -1; round < rounds; round++) {
    for (const [at, load] of loads.entries()) {
      run.step(`${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}: ${load}`)
      writer.send(load)
      const { p50, p99 } = await offerLoad(connections, makeRequest, REQUESTS_PER_SECOND, milliseconds)
      writer.send('nobody writes')
      recordSize()
      if (round < 0) continue
      latencies[at]!.p50.push(p50)
      latencies[at]!.p99.push(p99)
    }
  }
  for (const [at, load] of loads.entries()) {
    const common = {
      title: `GET balance, ${REQUESTS_PER_SECOND} requests a second`,
      subject: load,
      role: at === 0 ? ('floor' as const) : ('ours' as const),
      unit: 'ms',
    }
    run.record({ ...common, metric: 'p99', rounds: latencies[at]!.p99 })
    run.record({ ...common, metric: 'p50', rounds: latencies[at]!.p50 })
  }
}
