import { isLedgerStateError } from '@ledger-state/core'
import { formatNumber } from './report/measure.ts'
import { measuresToText, textTable } from './report/text-table.ts'
import { BenchRun, type BenchRunOptions, Interrupted } from './run/bench-run.ts'
import { parseCommandLine, UsageError } from './run/command-line.ts'
import { comparisonToText } from './run/compare.ts'
import { writeReport } from './run/report-files.ts'
import { type BenchResult, readResult, startResult } from './run/result-file.ts'
import type { Scale } from './run/scale.ts'
import type { Suite } from './run/suite.ts'
import { SUITES } from './suites/all-suites.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_INTERRUPTED = 130

const CHARTS = Object.fromEntries(SUITES.map(({ name, charts = [] }) => [name, charts]))

async function main(words: readonly string[]): Promise<void> {
  const order = parseCommandLine(words, SUITES)
  switch (order.kind) {
    case 'help':
      process.stdout.write(order.text)
      return
    case 'report':
      await writeResult(order.out, readResult(order.resultFile))
      return
    case 'list':
      process.stdout.write(`${estimatesToText(order.suites, order.scale)}\n`)
      return
    case 'run': {
      const { suites, options, out, compareWith } = order
      const before = compareWith === undefined ? undefined : readResult(compareWith)
      process.stderr.write(`${estimatesToText(suites, options.scale)}\n\n`)
      const outcome = await runSuites(suites, options)
      // Exits at once, because the library that runs PostgreSQL would end the process with another status.
      if (!outcome) process.exit(EXIT_INTERRUPTED)
      const { result, failure } = outcome
      process.stdout.write(`\n${measuresToText(result.measures)}`)
      if (out !== undefined) await writeResult(out, result)
      if (failure !== undefined) throw failure
      if (before) process.stdout.write(`\n${comparisonToText(before, result)}`)
    }
  }
}

function estimatesToText(suites: readonly Suite[], scale: Scale): string {
  const rows = suites.map((suite) => {
    const { minutes, memoryBytes, diskBytes } = suite.estimate(scale)
    const size = (bytes: number) => (bytes === 0 ? '–' : `${formatNumber(bytes / 1e9)} GB`)
    return [suite.name, `${minutes} min`, size(memoryBytes), size(diskBytes)]
  })
  return textTable([`scale ${scale}: up to`, 'time', 'memory', 'disk'], rows)
}

interface RunOutcome {
  /** Measures of the run, up to the failure if there was one. */
  readonly result: BenchResult
  readonly failure?: unknown
}

/** Runs suites. Undefined if the run was interrupted. In any case everything that it made is removed. */
async function runSuites(suites: readonly Suite[], options: BenchRunOptions): Promise<RunOutcome | undefined> {
  const interrupt = new AbortController()
  // Listens once, so that the second signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort())
  const toResult = startResult(`pnpm bench ${process.argv.slice(2).join(' ')}`.trim())
  const run = new BenchRun(options, interrupt.signal)
  // Cleans up on exit, because the library that runs PostgreSQL ends the process itself when a signal comes.
  process.on('exit', () => run.cleanUp())
  const names = suites.map(({ name }) => name)
  try {
    for (const suite of suites) {
      run.begin(suite.name)
      run.step(`── ${suite.name}`)
      await suite.run(run)
    }
    return { result: toResult(run, names) }
  } catch (failure) {
    // Ctrl-C also ends the servers for which a suite waits, so their errors belong to the interruption.
    if (failure instanceof Interrupted || interrupt.signal.aborted) {
      process.stderr.write('interrupted\n')
      return undefined
    }
    run.note('failed: its measurements and those of later suites are missing')
    return { result: toResult(run, names), failure }
  }
}

async function writeResult(folder: string, result: BenchResult): Promise<void> {
  await writeReport(folder, result, CHARTS)
  process.stderr.write(`wrote result.json, report.html and each plot as SVG to ${folder}\n`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`bench: ${error.message}; see pnpm bench --help\n`)
    process.exitCode = EXIT_USAGE
  } else {
    const isExpected = isLedgerStateError(error)
    process.stderr.write(
      `bench: ${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
    )
    process.exitCode = EXIT_FAILED
  }
}
