import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Chart, chartToSvg } from '../report/chart.ts'
import { formatNumber } from '../report/measure.ts'
import { pageToHtml } from '../report/page.ts'
import { PAPER } from '../report/palette.ts'
import type { BenchResult } from './result-file.ts'

/** Plots by suite. */
export type SuiteCharts = Readonly<Record<string, readonly Chart[]>>

const METHOD = `All figures of one table were measured in one run, in interleaved rounds A B C A B C … after one round that
warms up. A figure is the median of its rounds; the spread is their least and most. Ratios are to the floor, the least that the
question can cost on this machine: above 1 is better than the floor. All rows are listed, whether ours lead or not. CPU time
counts all threads of a process. The latency of a request counts from the moment when it was due, so that a server that stalls
cannot hide it by holding the load back. result.json has every round.`

/** Writes `result.json`, `report.html` and each plot as SVG. */
export async function writeReport(folder: string, result: BenchResult, charts: SuiteCharts): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'result.json'), `${JSON.stringify(result)}\n`)
  writeFileSync(join(folder, 'report.html'), await resultToHtml(result, charts))
  for (const suite of result.suites) {
    const measures = result.measures.filter((measure) => measure.suite === suite)
    for (const [at, chart] of (charts[suite] ?? []).entries()) {
      const svg = await chartToSvg(chart, measures, PAPER)
      if (svg) writeFileSync(join(folder, `${suite}-${at + 1}.svg`), svg)
    }
  }
}

function resultToHtml(result: BenchResult, charts: SuiteCharts): Promise<string> {
  return pageToHtml({
    title: `Ledger State, measured ${result.startedAt.slice(0, 10)}`,
    heading: 'Ledger State, measured',
    facts: factsOf(result),
    sections: result.suites.map((name) => ({
      name,
      measures: result.measures.filter(({ suite }) => suite === name),
      charts: charts[name] ?? [],
    })),
    notes: result.notes,
    method: METHOD,
  })
}

function factsOf({ machine, command, scale, startedAt }: BenchResult): [string, string][] {
  const { processor, cores, memoryBytes, system, loadBefore, loadAfter, commit, versions } = machine
  return [
    ['command', command],
    ['scale', scale],
    ['when', startedAt],
    ['machine', `${processor}, ${cores} cores, ${formatNumber(memoryBytes / 2 ** 30)} GiB, ${system}`],
    ['load', `${loadBefore.toFixed(2)} before, ${loadAfter.toFixed(2)} after`],
    ['commit', commit],
    [
      'versions',
      Object.entries(versions)
        .map((version) => version.join(' '))
        .join(', '),
    ],
  ]
}
