import { setTimeout as sleep } from 'node:timers/promises'
import { HOSTILE_ATTACK_NAMES, type HostileAttack } from '@ledger-state/testing/hostile-clients'
import { type HostileReport, startHostileProcess } from '@ledger-state/testing/hostile-process'
import { besideLastCore } from '../http/cores.ts'
import { hasProcessUsage, watchMemory } from '../http/process-usage.ts'
import { accountHex, writeServedStore } from '../http/served-store.ts'
import { type Server, startNode } from '../http/servers.ts'
import { type SteadyLatencies, sendSteadily } from '../http/steady-requests.ts'
import { toFigure } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { measureMinutes } from './hostile-minutes.ts'

const REQUESTS_PER_SECOND = 100
const TITLE = `GET balance, ${REQUESTS_PER_SECOND} requests a second, with one hostile client`
const SMALL_READ = `/v1/accounts/${accountHex(7)}/balance/0x1::aptos_coin::AptosCoin`
/**
 * Aim: no client may delay the small reads of another by more than this (p99), or make them wait this many times as
 * long.
 */
const AIM_MS = 50
const AIM_FACTOR = 3

/**
 * Phases by the load that runs with the steady client. `busy` only takes CPU and sends nothing: its delays are the
 * machine's.
 */
const PHASES = ['without', 'busy', 'with'] as const
type Phase = (typeof PHASES)[number]

export const hostileSuite: Suite = {
  name: 'hostile',
  summary: 'small reads of one client while others send expensive requests or hold connections; memory of the reader',
  estimate: (scale) => ({
    minutes: { tiny: 1, small: 9, medium: 45, large: 95 }[scale],
    memoryBytes: 5e9,
    diskBytes: 0.1e9,
  }),
  charts: [
    {
      title: 'Latency of small reads with hostile clients',
      metric: ['p99'],
      x: 'subject',
      logarithmic: true,
      caption:
        'GET balance at 100 requests a second, by a separate client; one reader, one hostile client at a time; median round.',
    },
  ],
  async run(run) {
    if (!hasProcessUsage) {
      run.note('left out: the memory of other processes can be read on Linux only')
      return
    }
    const folder = run.folder('hostile')
    await writeServedStore(folder)
    const { minutes } = run
    await besideLastCore(() =>
      minutes === undefined
        ? measureAttacks(run, folder)
        : measureMinutes(run, folder, minutes, { path: SMALL_READ, perSecond: REQUESTS_PER_SECOND }),
    )
  },
}

/** Measures one attack after another. */
async function measureAttacks(run: BenchRun, folder: string): Promise<void> {
  const undisturbed: SteadyLatencies[] = []
  for (const attack of attacksOf(run)) undisturbed.push(...(await measureAttack(run, folder, attack)))
  const common = { title: TITLE, subject: 'nobody else', role: 'floor', unit: 'ms' } as const
  run.record({ ...common, metric: 'p99', rounds: undisturbed.map(({ p99 }) => p99) })
  run.record({ ...common, metric: 'p50', rounds: undisturbed.map(({ p50 }) => p50) })
}

/**
 * The attacks of a run. At the tiny scale these are three that the seed chooses, since each takes a new node and
 * seconds of waiting.
 */
function attacksOf(run: BenchRun): readonly HostileAttack[] {
  const { length } = HOSTILE_ATTACK_NAMES
  const few = [0, 1, 2].map((at) => HOSTILE_ATTACK_NAMES[(run.seed + Math.floor((at * length) / 3)) % length]!)
  return run.byScale({
    tiny: few,
    small: HOSTILE_ATTACK_NAMES,
    medium: HOSTILE_ATTACK_NAMES,
    large: HOSTILE_ATTACK_NAMES,
  })
}

/**
 * Measures with a new node, so that its memory shows only this attack. Phases take turns within seconds, so that other
 * load on the machine affects all of them equally. Resolves with the rounds without the attack.
 */
async function measureAttack(run: BenchRun, folder: string, attack: HostileAttack): Promise<SteadyLatencies[]> {
  run.step(attack)
  const rounds = run.byScale({ tiny: 1, small: 3, medium: 7, large: 9 })
  const node = await startNode(folder)
  const memory = watchMemory(node.pid)
  const found: Record<Phase, SteadyLatencies[]> = { without: [], busy: [], with: [] }
  try {
    // Warms up, so that the code of a small read is compiled.
    await sendSteadily(steadyRequests(node, run.byScale({ tiny: 200, small: 2_000, medium: 2_000, large: 2_000 })))
    for (let round = 0; round < rounds; round++) {
      for (const phase of PHASES) found[phase].push(await measurePhase(run, node, phase, attack))
    }
    recordAttack(run, attack, found, memory.peakBytes)
    return found.without
  } finally {
    memory.stop()
    await node.stop()
  }
}

async function measurePhase(
  run: BenchRun,
  node: Server,
  phase: Phase,
  attack: HostileAttack,
): Promise<SteadyLatencies> {
  run.throwIfInterrupted()
  const beside = { without: undefined, busy: 'busy', with: attack } as const
  const task = { host: '127.0.0.1', port: node.port, seed: run.seed }
  const hostile = beside[phase] && (await startHostileProcess({ ...task, attack: beside[phase] }))
  try {
    // Waits until connections open, or until the connections of the earlier phase close.
    await sleep(run.byScale({ tiny: 200, small: 1_500, medium: 2_000, large: 2_000 }))
    return await sendSteadily(
      steadyRequests(node, run.byScale({ tiny: 150, small: 4_000, medium: 10_000, large: 20_000 })),
    )
  } finally {
    const report = await hostile?.stop()
    if (report && report.sent > 0) run.step(`${attack}: ${endsToText(report)}`)
  }
}

function steadyRequests({ port }: Server, milliseconds: number) {
  return { port, path: SMALL_READ, perSecond: REQUESTS_PER_SECOND, milliseconds }
}

function recordAttack(
  run: BenchRun,
  attack: HostileAttack,
  found: Record<Phase, SteadyLatencies[]>,
  peakBytes: number,
) {
  const common = { title: TITLE, subject: attack, unit: 'ms' }
  const p99s = (phase: Phase) => found[phase].map(({ p99 }) => p99)
  const ratios = (phase: Phase) => p99s('with').map((p99, round) => p99 / p99s(phase)[round]!)
  const delays = p99s('with').map((p99, round) => p99 - p99s('without')[round]!)
  const requests = found.with.reduce((sum, row) => sum + row.requests, 0)
  const failed = found.with.reduce((sum, row) => sum + row.failed, 0)
  run.record({ ...common, metric: 'p99', rounds: p99s('with') })
  run.record({ ...common, metric: 'p99 without', rounds: p99s('without') })
  run.record({ ...common, metric: 'p99 with a busy process', rounds: p99s('busy') })
  run.record({ ...common, metric: '× without', unit: '', rounds: ratios('without') })
  run.record({ ...common, metric: '× with a busy process', unit: '', rounds: ratios('busy') })
  run.record({ ...common, metric: 'p50', rounds: found.with.map(({ p50 }) => p50) })
  run.record({ ...common, metric: 'most', rounds: found.with.map(({ most }) => most) })
  run.record({ ...common, metric: 'not answered with 200', unit: '%', rounds: (failed * 100) / requests })
  run.record({ ...common, metric: 'peak memory of the reader', unit: 'MiB', rounds: peakBytes / 2 ** 20 })
  const [delay, factor] = [toFigure(delays).median, toFigure(ratios('without')).median]
  if (delay > AIM_MS) run.note(`${attack}: the p99 grows by ${Math.round(delay)} ms; the aim is ${AIM_MS} ms at most`)
  if (factor > AIM_FACTOR)
    run.note(`${attack}: the p99 is ${factor.toFixed(1)} times that without; the aim is ${AIM_FACTOR} times`)
}

function endsToText({ sent, ends }: HostileReport): string {
  const counts = Object.entries(ends).map(([end, count]) => `${count} × ${end}`)
  return `${sent} sent, ended by: ${counts.join(', ') || 'nothing'}`
}
