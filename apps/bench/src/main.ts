import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isLedgerStateError } from '@ledger-state/core'
import { BenchRun, type BenchRunOptions, Interrupted, SCALES, type Scale, type Suite } from './bench-run.js'
import { comparisonToText } from './compare.js'
import { formatNumber } from './measure.js'
import { chartToSvg, PAPER } from './report/chart.js'
import { resultToHtml } from './report/report-page.js'
import { type BenchResult, readResult, startResult } from './result-file.js'
import { isPeerName, PEER_NAMES } from './stores/peers.js'
import { SUITES } from './suites.js'
import { measuresToText, table } from './terminal.js'

const SUITE_LINES = SUITES.map(({ name, summary }) => `  ${name.padEnd(8)}${summary}`).join('\n')
const HELP = `Measures Ledger State on this machine, beside its peers, in one run.

Usage: pnpm bench [SUITE…] [--scale SCALE] [--out DIR] [--compare OLD.json]

Suites (default: all):
${SUITE_LINES}

Options:
  --scale SCALE    tiny (seconds, figures mean nothing), small (default), medium or large
  --out DIR        writes result.json, report.html and its plots there
  --report FILE    measures nothing: writes the report of a result.json anew to --out
  --compare FILE   says what changed since the run whose result.json this is
  --keys N         lookup: only stores of so many keys, instead of those of the scale
  --peers LIST     lookup: only these beside the engine and bare lmdb, of ${PEER_NAMES.join(',')}
                   (none where it is empty): at many keys the disk may not have room for all in one run
  --stores DIR     lookup: keeps the stores there, and uses those that a run before has filled with the same (as large as
                   --list says)
  --seed N         of what lookup writes and asks (default 1)
  --source DIR     ingest: the backup that is taken in (default ../shared/data/backup); --hash-salt SALT as of ingest
  --list           says what each suite takes at the scale, and ends
  --help           shows this text
`

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_INTERRUPTED = 130

async function main(): Promise<number> {
  const { values, positionals } = parseWords()
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (values.report !== undefined) {
    if (values.out === undefined) return usage('--report needs --out DIR')
    await writeResult(values.out, readResult(values.report))
    return 0
  }
  const scale = values.scale as Scale
  if (!SCALES.includes(scale))
    return usage(`unknown scale ${JSON.stringify(values.scale)}, one of ${SCALES.join(', ')} is expected`)
  const seed = Number(values.seed)
  if (!/^[1-9]\d{0,6}$/.test(values.seed)) return usage('--seed needs a whole number from 1 to 9,999,999')
  const keys = values.keys === undefined ? undefined : Number(values.keys)
  if (!/^[1-9]\d{3,8}$/.test(values.keys ?? '1000'))
    return usage('--keys needs a whole number from 1,000 to 999,999,999')
  const words = values.peers?.split(',').filter((name) => name !== '')
  const unknownPeer = words?.find((name) => !isPeerName(name))
  if (unknownPeer !== undefined)
    return usage(`unknown peer ${JSON.stringify(unknownPeer)}, some of ${PEER_NAMES.join(', ')} are expected`)
  const peers = words && PEER_NAMES.filter((name) => words.includes(name))
  const unknown = positionals.find((name) => !SUITES.some((suite) => suite.name === name))
  if (unknown !== undefined) return usage(`unknown suite ${JSON.stringify(unknown)}`)
  const suites = SUITES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  process.stderr.write(`${estimatesToText(suites, scale)}\n\n`)
  if (values.list) return 0
  const before = values.compare === undefined ? undefined : readResult(values.compare)
  const source = values.source === undefined ? undefined : { location: values.source, hashSalt: values['hash-salt'] }
  const result = await runSuites(suites, { scale, seed, keys, peers, storesFolder: values.stores, source })
  // At once: the library of PostgreSQL would end the process with a status of its own.
  if (!result) process.exit(EXIT_INTERRUPTED)
  process.stdout.write(`\n${measuresToText(result.measures)}`)
  if (values.out !== undefined) await writeResult(values.out, result)
  if (before) process.stdout.write(`\n${comparisonToText(before, result)}`)
  return 0
}

function parseWords() {
  return parseArgs({
    options: {
      scale: { type: 'string', default: 'small' },
      out: { type: 'string' },
      compare: { type: 'string' },
      report: { type: 'string' },
      keys: { type: 'string' },
      peers: { type: 'string' },
      stores: { type: 'string' },
      seed: { type: 'string', default: '1' },
      source: { type: 'string' },
      'hash-salt': { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
}

function usage(message: string): number {
  process.stderr.write(`bench: ${message}; see pnpm bench --help\n`)
  return EXIT_USAGE
}

function estimatesToText(suites: readonly Suite[], scale: Scale): string {
  const rows = suites.map((suite) => {
    const { minutes, memoryBytes, diskBytes } = suite.estimate(scale)
    const size = (bytes: number) => (bytes === 0 ? '–' : `${formatNumber(bytes / 1e9)} GB`)
    return [suite.name, `${minutes} min`, size(memoryBytes), size(diskBytes), suite.summary]
  })
  return table([`scale ${scale}: up to`, 'time', 'memory', 'disk', ''], rows)
}

/** Undefined when it was interrupted. Everything that was made is gone either way. */
async function runSuites(suites: readonly Suite[], options: BenchRunOptions): Promise<BenchResult | undefined> {
  const interrupt = new AbortController()
  // The second one ends the process at once, as if nobody listened.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort())
  const describe = startResult(`pnpm bench ${process.argv.slice(2).join(' ')}`.trim())
  const run = new BenchRun(options, interrupt.signal)
  // Also where a library ends the process on a signal, as that of PostgreSQL does.
  process.on('exit', () => run.cleanUp())
  try {
    for (const suite of suites) {
      run.begin(suite.name)
      run.step(`── ${suite.name}`)
      await suite.run(run)
    }
    return describe(
      run,
      suites.map(({ name }) => name),
    )
  } catch (error) {
    // What was under way may have failed of it: servers are told to end, too.
    if (!(error instanceof Interrupted) && !interrupt.signal.aborted) throw error
    process.stderr.write('interrupted\n')
    return undefined
  }
}

async function writeResult(folder: string, result: BenchResult): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'result.json'), `${JSON.stringify(result)}\n`)
  const charts = Object.fromEntries(SUITES.map(({ name, charts = [] }) => [name, charts]))
  writeFileSync(join(folder, 'report.html'), await resultToHtml(result, charts))
  for (const suite of result.suites) {
    const measures = result.measures.filter((measure) => measure.suite === suite)
    for (const [at, chart] of charts[suite]!.entries()) {
      const svg = await chartToSvg(chart, measures, PAPER)
      if (svg) writeFileSync(join(folder, `${suite}-${at + 1}.svg`), svg)
    }
  }
  process.stderr.write(`${folder} has result.json, report.html, and each plot as .svg\n`)
}

try {
  process.exitCode = await main()
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  const text =
    isUsage || isLedgerStateError(error)
      ? (error as Error).message
      : error instanceof Error
        ? error.stack
        : String(error)
  process.stderr.write(`bench: ${text}\n`)
  process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED
}
