// Runs the black-box conformance kit of ../shared/conformance against the real program: ingests each feed, serves it,
// sends every request, and repeats that with the switches that some requests need. An argument limits it to the runs
// with titles that begin with it. Two runs are made at a time: a kit and the program mostly wait for one another.
// With `--store URL` it is one at a time: all use that database, whose schema `ledger_state` is dropped before each.
// Last line `N passed, M failed`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runToEnd } from '@ledger-state/testing/run-to-end'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { pMapIterable } from 'p-map'
import { Client } from 'pg'

interface Run {
  readonly title: string
  /** Source of the run; absent for an empty store. */
  readonly feed?: string
  /** Source that is ingested after `feed`. */
  readonly next?: string
  /** Requests of `run.py`; of the kit of holdings, the feed that it replays. */
  readonly requests: string
  readonly ingestOptions?: readonly string[]
  readonly serveOptions?: readonly string[]
  readonly kitOptions?: readonly string[]
  /** The kit: `run.py` with requests, or the kit that replays the feed and asks for holdings. */
  readonly kit?: 'holdings'
}

const TESTNET = {
  feed: sharedPath('data/testnet-0-3.feed.ndjson.gz'),
  requests: sharedPath('conformance/testnet-requests.json'),
}
const FIXTURE = {
  feed: sharedPath('conformance/fixture.ndjson.gz'),
  requests: sharedPath('conformance/requests.json'),
  ingestOptions: ['--retain', '901'],
}
/** Sources for the areas of the account requests. */
const ACCOUNT_SOURCES = {
  accounts: { feed: sharedPath('conformance/account-fixture.ndjson.gz'), ingestOptions: ['--retain', '301'] },
  fixture: { feed: FIXTURE.feed, ingestOptions: FIXTURE.ingestOptions },
  testnet: { feed: TESTNET.feed },
  mainnet: { feed: sharedPath('data/genesis/mainnet.genesis.blob') },
  devnet: { feed: sharedPath('data/genesis/devnet.genesis.blob') },
}
const ACCOUNT_REQUESTS = sharedPath('conformance/account-requests.json')
const ACCOUNTS = { ...ACCOUNT_SOURCES.accounts, requests: ACCOUNT_REQUESTS }
const JSON_OFF = { serveOptions: ['--no-json'], kitOptions: ['--switch', 'json_output_enabled=false'] }
const BCS_OFF = { serveOptions: ['--no-bcs'], kitOptions: ['--switch', 'bcs_output_enabled=false'] }
const EMPTY_STORE = { serveOptions: ['--create'], kitOptions: ['--switch', 'empty_store'] }
const AS_APTOS = { serveOptions: ['--header-word', 'aptos'], kitOptions: ['--header-prefix', 'x-aptos'] }
/** Ledgers that start at version 0, with types that the kit of holdings knows. */
const HOLDINGS = ['holdings-fixture', 'views-states-devnet', 'account-fixture'].map((name): Run => {
  const feed = sharedPath(`conformance/${name}.ndjson.gz`)
  return { title: `holdings of ${name}`, feed, requests: feed, kit: 'holdings' }
})
/** Runs of the kits of views. The files list the feeds and settings that the requests are about. */
function viewRuns(): Run[] {
  return ['views-errors', 'views-ops', 'views-programs', 'views-framework'].flatMap((name) => {
    const requests = sharedPath(`conformance/${name}.json`)
    const { sources } = JSON.parse(readFileSync(requests, 'utf8')) as {
      readonly sources: readonly { readonly area: string; readonly serve: string; readonly window: number | 'all' }[]
    }
    return sources.map(({ area, serve, window }) => ({
      title: `${name}, ${area}`,
      feed: sharedPath(serve.replace(/^shared\//, '')),
      requests,
      ...(window !== 'all' && { ingestOptions: ['--retain', String(window)] }),
      kitOptions: ['--only', area],
    }))
  })
}

/** Runs of the kits of transactions, over stores that keep them whole. */
function transactionRuns(): Run[] {
  const genesis = (network: string) => sharedPath(`data/genesis/${network}.genesis.blob`)
  const kit = (name: string) => sharedPath(`conformance/transactions/${name}`)
  const sources = [
    { name: 'gallery', requests: 'transactions', feed: genesis('devnet'), next: kit('gallery') },
    { name: 'made', requests: 'made-transactions', feed: genesis('devnet'), next: kit('made') },
    { name: 'testnet', requests: 'testnet-transactions', feed: genesis('testnet'), next: kit('testnet') },
  ]
  const whole = ['--keep-transactions', 'whole', '--unsigned']
  const zerol: Run = {
    title: 'transactions of 0L',
    feed: sharedPath('data/backup/transaction_1-.90bf'),
    requests: kit('zerol-transactions-requests.json'),
    ingestOptions: [...whole, '--assume-empty-base', '--hash-salt', 'DIEM::'],
  }
  return [
    ...sources.map(({ name, requests, ...more }) => {
      return {
        title: `transactions of ${name}`,
        ...more,
        requests: kit(`${requests}-requests.json`),
        ingestOptions: whole,
      }
    }),
    zerol,
  ]
}

const RUNS: readonly Run[] = [
  { title: 'testnet', ...TESTNET },
  { title: 'testnet, header word aptos', ...TESTNET, ...AS_APTOS },
  { title: 'fixture, window 901', ...FIXTURE },
  { title: 'fixture, header word aptos', ...FIXTURE, ...AS_APTOS },
  { title: 'JSON off', ...FIXTURE, ...JSON_OFF },
  { title: 'BCS off', ...FIXTURE, ...BCS_OFF },
  { title: 'empty store', requests: FIXTURE.requests, ...EMPTY_STORE },
  ...Object.entries(ACCOUNT_SOURCES).map(([area, source]) => ({
    title: `account reads of ${area}`,
    ...source,
    requests: ACCOUNT_REQUESTS,
    kitOptions: ['--only', area],
  })),
  { title: 'account reads, JSON off', ...ACCOUNTS, ...JSON_OFF },
  { title: 'account reads, BCS off', ...ACCOUNTS, ...BCS_OFF },
  { title: 'account reads, empty store', requests: ACCOUNT_REQUESTS, ...EMPTY_STORE },
  ...HOLDINGS,
  ...(hasSharedData ? viewRuns() : []),
  ...transactionRuns(),
]

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Starts the server on a free port and resolves with its address once it listens. */
async function serve(
  store: readonly string[],
  options: readonly string[],
): Promise<{ server: ChildProcess; address: string }> {
  const server = spawn(
    process.execPath,
    [program, 'serve', ...store, '--listen', '127.0.0.1:0', '--admin-listen', 'off', ...options],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const address = await new Promise<string>((resolve, reject) => {
    let output = ''
    server.stdout!.on('data', (chunk) => {
      output += chunk
      const listening = /on (http:\/\/\S+)\/v1/.exec(output)
      if (listening) resolve(listening[1]!)
    })
    server.on('exit', (code) => reject(new Error(`the server ended with status ${code}: ${output}`)))
  })
  return { server, address }
}

async function emptyDatabase(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query('DROP SCHEMA IF EXISTS ledger_state CASCADE')
  await client.end()
}

interface Outcome {
  readonly passed: number
  readonly failed: number
  /** Title, duration and output of the kit. */
  readonly report: string
}

async function conform(run: Run, url: string | undefined): Promise<Outcome> {
  const began = performance.now()
  const dataDir = mkdtempSync(join(tmpdir(), 'conformance-'))
  const store = url === undefined ? ['--data-dir', dataDir] : ['--store', url]
  try {
    if (url !== undefined) await emptyDatabase(url)
    for (const source of [run.feed, run.next]) {
      if (source === undefined) continue
      const words = [program, 'ingest', source, ...store, ...(run.ingestOptions ?? [])]
      const { status, stderr } = await runToEnd(process.execPath, words)
      if (status !== 0) throw new Error(`${run.title}: ingest ended with status ${status}: ${stderr}`)
    }
    const { server, address } = await serve(store, run.serveOptions ?? [])
    const ended = once(server, 'exit') as Promise<[status: number | null]>
    const script = run.kit === 'holdings' ? 'holdings.py' : 'run.py'
    const asked = run.kit === 'holdings' ? [run.requests, address] : [address, run.requests]
    const words = [sharedPath(`conformance/${script}`), ...asked, ...(run.kitOptions ?? [])]
    const kit = await runToEnd('python3', words).finally(() => server.kill('SIGTERM'))
    const [status] = await ended
    const counts = /^(\d+) passed, (\d+) failed$/m.exec(kit.stdout.trim().split('\n').at(-1)!)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const report = `── ${run.title} (${seconds} s)\n${kit.stdout}${kit.stderr}`
    if (!counts || status !== 0)
      throw new Error(`${report}\nthe kit gave no result, or the server ended with status ${status}`)
    return { passed: Number(counts[1]), failed: Number(counts[2]), report }
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

if (!hasSharedData) {
  console.log('0 passed, 0 failed, 1 skipped')
  process.exit(0)
}
let passed = 0
let failed = 0
const { values, positionals } = parseArgs({ options: { store: { type: 'string' } }, allowPositionals: true })
const [only] = positionals
const chosen = RUNS.filter(({ title }) => only === undefined || title.startsWith(only))
const concurrency = values.store === undefined ? 2 : 1
/** A run that breaks off counts as a failure, and the others go on, so that none leaves its server behind. */
const conformOrFail = (run: Run): Promise<Outcome> =>
  conform(run, values.store).catch((error: Error) => ({
    passed: 0,
    failed: 1,
    report: `── ${run.title}\n${error.stack}`,
  }))
for await (const outcome of pMapIterable(chosen, conformOrFail, { concurrency })) {
  console.log(outcome.report)
  passed += outcome.passed
  failed += outcome.failed
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
