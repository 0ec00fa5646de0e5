import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostileReport } from '@ledger-state/testing/hostile-process'
import type { ClientTally } from 'ledger-state/testing/steady-client'
import type { Chart } from '../report/chart.ts'
import type { Measure } from '../report/measure.ts'
import { pageToHtml } from '../report/page.ts'
import type { Sample } from './samples.ts'

export interface SoakOutcome {
  readonly minutes: number
  readonly seed: number
  readonly tally: ClientTally
  /** Requests on separate connections, by status or failure. */
  readonly fresh: ReadonlyMap<string, number>
  /** Failures at times without a fault. */
  readonly unexplained: readonly string[]
  readonly faults: ReadonlyMap<string, number>
  readonly hostile: HostileReport | undefined
  readonly lostVersions: number
  readonly samples: readonly Sample[]
  /** Descriptors of the supervisor after all clients had left. */
  readonly idleDescriptors: number
}

const METHOD = `One real node with two readers follows a node that grows twice as fast as a busy network, with a window that
changes. A steady client knows every right answer, another one opens a connection for each request. Faults and hostile clients come at random, from the seed.`

const CHARTS: readonly Chart[] = [
  {
    title: 'Memory',
    metric: 'memory',
    x: 'minutes',
    caption: 'Resident memory of all processes of the node together.',
  },
  {
    title: 'Descriptors of the supervisor',
    metric: 'descriptors',
    x: 'minutes',
    caption: 'Its open files and connections. A connection is its own until a reader has taken it.',
  },
  {
    title: 'Size of the store',
    metric: 'file size',
    x: 'minutes',
    caption: 'Its files, and the free pages in the catalog.',
  },
]

export function outcomeToRows(outcome: SoakOutcome): [name: string, text: string][] {
  const { minutes, seed, tally, fresh, faults, hostile, lostVersions, samples, unexplained, idleDescriptors } = outcome
  const times = tally.milliseconds.toSorted((a, b) => a - b)
  const percentile = (share: number) => `${(times[Math.floor(times.length * share)] ?? 0).toFixed(2)} ms`
  return [
    ['minutes', String(minutes)],
    ['seed', String(seed)],
    ['versions', String(tally.latest)],
    ['faults', countsToText(faults)],
    ['hostile requests', hostile ? countsToText(new Map(Object.entries(hostile.ends))) : 'none'],
    ['requests', `${tally.requests}, of them ${tally.right} answered right`],
    ['wrong answers', String(tally.wrong.length)],
    ['refusals and errors', countsToText(tally.errors)],
    ['requests on fresh connections', countsToText(fresh)],
    ['failures of those that no fault explains', unexplained.join(', ') || 'none'],
    ['lost versions', String(lostVersions)],
    ['latency p50, p99', `${percentile(0.5)}, ${percentile(0.99)}`],
    ['memory, all processes', spanToText(samples.map(({ memoryBytes }) => memoryBytes))],
    [
      'descriptors of the supervisor',
      `${spanToText(
        samples.map(({ descriptors }) => descriptors),
        String,
      )}, ${idleDescriptors} when all clients had left`,
    ],
    ['files of the store', spanToText(samples.map(({ fileBytes }) => fileBytes))],
  ]
}

/** Writes `soak.html`, one page with everything. Resolves with its path. */
export async function writeSoakPage(folder: string, outcome: SoakOutcome): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'soak.html')
  const page = {
    title: 'Ledger State, soak',
    heading: 'A node under load, faults and hostile clients',
    facts: outcomeToRows(outcome),
    sections: [{ name: 'Over time', measures: outcome.samples.flatMap(sampleToMeasures), charts: CHARTS }],
    notes: outcome.tally.wrong.map((answer) => `wrong: ${answer}`),
    method: METHOD,
  }
  writeFileSync(path, await pageToHtml(page))
  return path
}

function sampleToMeasures({ minute, memoryBytes, fileBytes, freeBytes, descriptors }: Sample): Measure[] {
  const measure = (subject: string, metric: string, value: number, unit: string): Measure => ({
    suite: 'soak',
    title: metric,
    subject,
    role: 'ours',
    metric,
    unit,
    better: 'neither',
    rounds: [value],
    at: { minutes: minute },
    plotOnly: true,
  })
  return [
    measure('all processes', 'memory', memoryBytes / 2 ** 20, 'MiB'),
    measure('files of the store', 'file size', fileBytes / 2 ** 20, 'MiB'),
    measure('free pages in the catalog', 'file size', freeBytes / 2 ** 20, 'MiB'),
    measure('supervisor', 'descriptors', descriptors, ''),
  ]
}

function countsToText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([kind, count]) => `${count} × ${kind}`).join(', ') || 'none'
}

function spanToText(values: readonly number[], toText = mebibytes): string {
  if (values.length === 0) return 'not sampled'
  const most = (some: readonly number[]) => toText(Math.max(...some))
  const secondHalf = values.slice(values.length >> 1)
  return `${toText(values[0]!)} at first, ${most(values)} at most, ${most(secondHalf)} at most in the second half`
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}
