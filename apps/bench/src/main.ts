import { parseArgs } from 'node:util'
import { runCodecSuite } from './codec-suite.js'
import { runCommitSuite } from './commit-suite.js'
import { runHttpSuite } from './http-suite.js'
import { runIngestSuite } from './ingest-suite.js'
import { runLookupSuite } from './lookup-suite.js'
import { runPruneSuite } from './prune-suite.js'

const HELP = `Measures Ledger State on this machine, side by side in one run, as ratios.

Usage: pnpm bench [SUITE…] [--keys N] [--no-peers] [--windows N]

Suites (default: all):
  codec   values to JSON and back, and type tags, beside @mysten/bcs and @aptos-labs/ts-sdk
  lookup  one look-up of the engine beside bare lmdb, and beside the layouts of others on lmdb, LevelDB and SQLite
  commit  ingest and durable commits beside bare lmdb; size on disk
  prune   pruning beside ingest, the size of the file under both, and what readers feel of them
  ingest  a backup taken in, proven and not, beside reading its files and bare lmdb puts of what it writes
  http    requests beside fastify and node:http that answer a constant, and latencies under half the load

Options:
  --keys N      keys of lookup, commit and prune (default 100000; 10⁶ takes minutes and 3 GB of disk)
  --no-peers    lookup: only the engine and its floor
  --source DIR  ingest: what is taken in (default ../shared/data/backup); --hash-salt SALT as of ingest
  --windows N   prune: windows of writes that pass through (default 20)
  --help        show this text
`

const { values, positionals } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' },
    peers: { type: 'boolean', default: true },
    windows: { type: 'string', default: '20' },
    source: { type: 'string' },
    'hash-salt': { type: 'string' },
    help: { type: 'boolean' },
  },
  allowNegative: true,
  allowPositionals: true,
})
const keys = Number(values.keys)
const SUITES: Readonly<Record<string, () => void | Promise<void>>> = {
  codec: runCodecSuite,
  lookup: () => runLookupSuite({ keys, peers: values.peers }),
  commit: () => runCommitSuite({ keys }),
  prune: () => runPruneSuite({ keys, windows: Number(values.windows) }),
  ingest: () => runIngestSuite({ source: values.source, hashSalt: values['hash-salt'] }),
  http: runHttpSuite,
}
const chosen = positionals.length > 0 ? positionals : Object.keys(SUITES)
const unknown = chosen.find((suite) => !Object.hasOwn(SUITES, suite))
if (values.help) {
  process.stdout.write(HELP)
} else if (unknown !== undefined) {
  process.stderr.write(`bench: unknown suite ${JSON.stringify(unknown)}; see pnpm bench --help\n`)
  process.exitCode = 2
} else if (!Number.isInteger(keys) || keys < 1_000) {
  process.stderr.write(`bench: --keys ${values.keys}, a whole number from 1000 on is expected\n`)
  process.exitCode = 2
} else {
  for (const suite of chosen) await SUITES[suite]!()
}
