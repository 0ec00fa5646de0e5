import { parseArgs } from 'node:util'
import { runLookupSuite } from './lookup-suite.js'

const HELP = `Measures Ledger State on this machine, side by side in one run, as ratios.

Usage: pnpm bench [lookup] [--keys N] [--depth N]

Suites:
  lookup  one look-up of the engine, latest and at a random version, beside bare lmdb

Options:
  --keys N   keys in the store (default 20000)
  --depth N  versions of each key (default 10)
  --help     show this text
`

const { values, positionals } = parseArgs({
  options: { keys: { type: 'string' }, depth: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
})
const unknown = positionals.find((suite) => suite !== 'lookup')
if (values.help) {
  process.stdout.write(HELP)
} else if (unknown !== undefined) {
  process.stderr.write(`bench: unknown suite ${JSON.stringify(unknown)}; see pnpm bench --help\n`)
  process.exitCode = 2
} else {
  await runLookupSuite({ keys: Number(values.keys ?? 20_000), depth: Number(values.depth ?? 10) })
}
