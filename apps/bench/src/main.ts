import { parseArgs } from 'node:util'
import { runCodecSuite } from './codec-suite.js'
import { runHttpSuite } from './http-suite.js'
import { runLookupSuite } from './lookup-suite.js'

const HELP = `Measures Ledger State on this machine, side by side in one run, as ratios.

Usage: pnpm bench [SUITE…] [--keys N] [--depth N]

Suites (default: all):
  codec   values to JSON and back, and type tags, beside @mysten/bcs and @aptos-labs/ts-sdk
  http    requests beside fastify and node:http that answer a constant, and latencies under half the load
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
const SUITES: Readonly<Record<string, () => void | Promise<void>>> = {
  codec: runCodecSuite,
  http: runHttpSuite,
  lookup: () => runLookupSuite({ keys: Number(values.keys ?? 20_000), depth: Number(values.depth ?? 10) }),
}
const chosen = positionals.length > 0 ? positionals : Object.keys(SUITES)
const unknown = chosen.find((suite) => !Object.hasOwn(SUITES, suite))
if (values.help) {
  process.stdout.write(HELP)
} else if (unknown !== undefined) {
  process.stderr.write(`bench: unknown suite ${JSON.stringify(unknown)}; see pnpm bench --help\n`)
  process.exitCode = 2
} else {
  for (const suite of chosen) await SUITES[suite]!()
}
