import { setTimeout as sleep } from 'node:timers/promises'
import { HOSTILE_ATTACK_NAMES, type HostileAttack } from '@ledger-state/testing/hostile-clients'
import { type HostileReport, startHostileProcess } from '@ledger-state/testing/hostile-process'
import { hasProcessUsage, watchMemory } from '../http/process-usage.ts'
import { accountHex, writeServedStore } from '../http/served-store.ts'
import { type Server, startNode } from '../http/servers.ts'
import { type SteadyLatencies, sendSteadily } from '../http/steady-requests.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { measureMinutes } from './hostile-minutes.ts'

const REQUESTS_PER_SECOND = 100
const SMALL_READ = `/v1/accounts/${accountHex(7)}/balance/0x1::aptos_coin::AptosCoin`
/** No client may delay the small reads of another by more than this (p99). */
const AIM_MS = 50

export const hostileSuite: Suite = {
  name: 'hostile',
  summary:
    'small reads of one client beside clients that send expensive requests or hold connections; memory of the reader',
  estimate: (scale) => ({
    minutes: { tiny: 1, small: 3, medium: 5, large: 10 }[scale],
    memoryBytes: 5e9,
    diskBytes: 0.1e9,
  }),
  charts: [
    {
      title: 'Latency of small reads beside hostile clients',
      metric: ['p99'],
      x: 'subject',
      logarithmic: true,
      caption:
        'GET balance at 100 requests a second, by a client of its own; one reader, one hostile client at a time.',
    },
  ],
  async run(run) {
    if (!hasProcessUsage) {
      run.note('left out: the memory of other processes can be read on Linux only')
      return
    }
    const folder = run.folder('hostile')
    await writeServedStore(folder)
    if (run.minutes !== undefined) {
      await measureMinutes(run, folder, run.minutes, { path: SMALL_READ, perSecond: REQUESTS_PER_SECOND })
      return
    }
    const idle = await measureBeside(run, folder, undefined)
    await measureBeside(run, folder, 'busy')
    for (const attack of HOSTILE_ATTACK_NAMES) {
      const delayMs = (await measureBeside(run, folder, attack)).p99 - idle.p99
      if (delayMs > AIM_MS)
        run.note(`${attack}: the p99 grows by ${Math.round(delayMs)} ms; the aim is ${AIM_MS} ms at most`)
    }
  },
}

/** With a new node, so that its memory shows this attack alone. */
async function measureBeside(
  run: BenchRun,
  folder: string,
  attack: HostileAttack | 'busy' | undefined,
): Promise<SteadyLatencies> {
  const subject = attack === 'busy' ? 'a busy process that sends nothing' : (attack ?? 'no hostile client')
  run.step(subject)
  const node = await startNode(folder)
  const memory = watchMemory(node.pid)
  try {
    // Warms up: afterwards the code of a small read is compiled.
    await sendSteadily(steadyRequests(node, run.byScale({ tiny: 200, small: 2_000, medium: 2_000, large: 2_000 })))
    const hostile =
      attack && (await startHostileProcess({ attack, host: '127.0.0.1', port: node.port, seed: run.seed }))
    await sleep(hostile ? run.byScale({ tiny: 200, small: 2_000, medium: 2_000, large: 2_000 }) : 0)
    const milliseconds = run.byScale({ tiny: 500, small: 5_000, medium: 20_000, large: 60_000 })
    const latencies = await sendSteadily(steadyRequests(node, milliseconds))
    const report = await hostile?.stop()
    if (report && report.sent > 0) run.note(`${subject}: ${endsToText(report)}`)
    record(run, subject, attack === undefined, latencies, memory.peakBytes)
    return latencies
  } finally {
    memory.stop()
    await node.stop()
  }
}

function steadyRequests({ port }: Server, milliseconds: number) {
  return { port, path: SMALL_READ, perSecond: REQUESTS_PER_SECOND, milliseconds }
}

function record(run: BenchRun, subject: string, isIdle: boolean, latencies: SteadyLatencies, peakBytes: number): void {
  const title = `GET balance, ${REQUESTS_PER_SECOND} requests a second, beside one hostile client`
  const common = { title, subject, role: isIdle ? ('floor' as const) : ('ours' as const) }
  run.record({ ...common, metric: 'p99', unit: 'ms', rounds: latencies.p99 })
  run.record({ ...common, metric: 'p50', unit: 'ms', rounds: latencies.p50 })
  run.record({ ...common, metric: 'most', unit: 'ms', rounds: latencies.most })
  run.record({
    ...common,
    metric: 'not answered with 200',
    unit: '%',
    rounds: (latencies.failed * 100) / latencies.requests,
  })
  run.record({ ...common, metric: 'peak memory of the reader', unit: 'MiB', rounds: peakBytes / 2 ** 20 })
}

function endsToText({ sent, ends }: HostileReport): string {
  const counts = Object.entries(ends).map(([end, count]) => `${count} × ${end}`)
  return `${sent} sent, ended by: ${counts.join(', ') || 'nothing'}`
}
