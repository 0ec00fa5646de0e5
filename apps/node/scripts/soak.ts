// A node for minutes under everything at once: a ledger that grows, a window that moves, a client that knows every right
// answer, and faults. Ends with one table; memory and file size over time are drawn into --out. Exit 1 where an answer
// was wrong or a version lost.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { eventually } from '@ledger-state/testing/eventually'
import type { Measure } from '../../bench/src/measure.ts'
import { chartToSvg, PAPER } from '../../bench/src/report/chart.ts'
import { kill, NodeProcess, PROGRAM } from '../testing/node-process.ts'
import { startSteadyClient } from '../testing/steady-client.ts'
import { BLOCK_VERSIONS, startSteadyNode } from '../testing/steady-ledger.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    out: { type: 'string', default: 'data/soak' },
    faults: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) {
  process.stderr.write('usage: pnpm soak [--minutes N] [--out DIR] [--no-faults]\n')
  process.exit(2)
}

interface Sample {
  readonly minute: number
  readonly memoryBytes: number
  readonly fileBytes: number
  readonly freeBytes: number
}

const GROWTH_INTERVAL_MS = 100
/** Twice the rate of a busy network, in versions: each is eight table items and a balance. */
const GROWTH_VERSIONS = 4 * BLOCK_VERSIONS
const WINDOWS = [5_000, 20_000, 10_000]
const SAMPLE_INTERVAL_MS = Math.min(5_000, (minutes * 60_000) / 40)
const FAULT_INTERVAL_MS = 1_500

const folder = mkdtempSync(join(tmpdir(), 'soak-'))
const dataDir = join(folder, 'store')
const configuration = join(folder, 'node.json')
const source = await startSteadyNode()
source.latest = 5_000
let window = 0
const writeConfiguration = (): void => {
  const retain = WINDOWS[window++ % WINDOWS.length]
  writeFileSync(configuration, JSON.stringify({ retain, follow: source.url, verify: false, readers: 2 }))
}
writeConfiguration()

const startNode = (listen?: string): Promise<NodeProcess> =>
  new NodeProcess({ dataDir, options: ['--config', configuration], ...(listen && { listen }) }).listening()

let node = await startNode()
await reaches(source.latest)
const client = startSteadyClient({ address: () => node.address, connections: 4, pauseMs: 3 })
const { tally } = client
const faults = new Map<string, number>()
const samples: Sample[] = []
let lostVersions = 0
let lastSample = 0
let lastFault = 0
const began = performance.now()
const end = began + minutes * 60_000
const growth = setInterval(() => {
  source.latest += GROWTH_VERSIONS
}, GROWTH_INTERVAL_MS)

try {
  while (performance.now() < end) {
    const now = performance.now()
    if (now - lastSample > SAMPLE_INTERVAL_MS) {
      lastSample = now
      await takeSample(now).catch(() => {})
    }
    if (values.faults && now - lastFault > FAULT_INTERVAL_MS) {
      lastFault = now
      await inflictFault()
    }
    if (tally.wrong.length > 0) break
    await sleep(50)
  }
  clearInterval(growth)
  await expectKept(source.latest)
  await client.stop()
  if ((await node.stop()) !== 0) throw new Error(`the node did not end well: ${node.output.slice(-2_000)}`)
  if ((await run('check', '--data-dir', dataDir)) !== 0) throw new Error('the store is damaged')
  await report()
} finally {
  clearInterval(growth)
  await client.stop()
  await node.killAll()
  await source.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = tally.wrong.length > 0 || lostVersions > 0 ? 1 : 0

async function inflictFault(): Promise<void> {
  const durable = tally.latest
  const choice = Math.random()
  let name: string
  if (choice < 0.5) {
    name = choice < 0.25 ? 'writer' : Math.random() < 0.5 ? 'reader-0' : 'reader-1'
    const pid = await node.pidOf(name).catch(() => undefined)
    if (pid === undefined || !kill(pid)) return
    name = `kill -9 of ${name === 'writer' ? 'the writer' : 'a reader'}`
  } else if (choice < 0.6) {
    name = 'kill -9 of all'
    const listen = node.address.slice('http://'.length)
    await node.killAll()
    node = await startNode(listen)
  } else if (choice < 0.65) {
    name = 'restart'
    const listen = node.address.slice('http://'.length)
    await node.stop()
    node = await startNode(listen)
  } else if (choice < 0.8) {
    name = 'change of the window'
    writeConfiguration()
    node.child.kill('SIGHUP')
  } else if (choice < 0.9) {
    name = 'stall of the source'
    source.isStalled = true
    await sleep(500)
    source.isStalled = false
  } else {
    name = 'snapshot, and check of the copy'
    const copy = join(folder, 'copy')
    const status = (await run('snapshot', copy, '--data-dir', dataDir)) || (await run('check', '--data-dir', copy))
    if (status !== 0) throw new Error('a snapshot failed, or is damaged')
    rmSync(copy, { recursive: true })
  }
  faults.set(name, (faults.get(name) ?? 0) + 1)
  await expectKept(durable)
}

/** What a client has seen is durable: it is there again after whatever happened. */
async function expectKept(version: number): Promise<void> {
  await reaches(version).catch(async (error: Error) => {
    lostVersions += version - (await node.version().catch(() => -1))
    throw error
  })
}

async function reaches(version: number): Promise<void> {
  await eventually(
    async () => (await node.version()) >= version,
    () => `version ${version}: ${node.output.slice(-2_000)}`,
  )
}

function run(...words: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.on('exit', resolve))
}

async function takeSample(now: number): Promise<void> {
  const text = await node.metrics()
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^ledger_state_${name}(?:{[^}]*})? (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    )
  const sample = {
    minute: Math.round((now - began) / 600) / 100,
    memoryBytes: sum('process_resident_memory_bytes'),
    fileBytes: sum('store_file_bytes'),
    freeBytes: sum('store_free_bytes'),
  }
  if (sample.fileBytes > 0) samples.push(sample)
  const left = Math.max(0, (end - now) / 60_000).toFixed(1)
  process.stderr.write(
    `${left} min left: version ${tally.latest}, ${tally.requests} requests, ${tally.wrong.length} wrong, ${mebibytes(sample.memoryBytes)} memory, ${mebibytes(sample.fileBytes)} file\n`,
  )
}

async function report(): Promise<void> {
  tally.milliseconds.sort((a, b) => a - b)
  const percentile = (share: number): string =>
    `${(tally.milliseconds[Math.floor(tally.milliseconds.length * share)] ?? 0).toFixed(2)} ms`
  const listed = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([kind, count]) => `${count} × ${kind}`).join(', ') || 'none'
  const span = (pick: (sample: Sample) => number): string => {
    const taken = samples.map(pick)
    const half = taken.slice(taken.length >> 1)
    return `${mebibytes(taken[0] ?? 0)} at first, ${mebibytes(Math.max(...taken))} at most, ${mebibytes(Math.max(...half))} at most in the second half`
  }
  const rows = [
    ['minutes', String(minutes)],
    ['versions', `${tally.latest}`],
    ['faults', listed(faults)],
    ['requests', `${tally.requests}, of them ${tally.right} answered rightly`],
    ['wrong answers', String(tally.wrong.length)],
    ['refusals and errors', listed(tally.errors)],
    ['lost versions', String(lostVersions)],
    ['latency p50, p99', `${percentile(0.5)}, ${percentile(0.99)}`],
    ['memory, all processes', span(({ memoryBytes }) => memoryBytes)],
    ['data file', span(({ fileBytes }) => fileBytes)],
  ]
  const width = Math.max(...rows.map(([name]) => name!.length))
  process.stdout.write(`${rows.map(([name, text]) => `${name!.padEnd(width)}  ${text}`).join('\n')}\n`)
  for (const answer of tally.wrong) process.stdout.write(`wrong: ${answer}\n`)
  mkdirSync(values.out, { recursive: true })
  await draw('memory', [['all processes', ({ memoryBytes }) => memoryBytes]])
  await draw('file-size', [
    ['data file', ({ fileBytes }) => fileBytes],
    ['free pages in it', ({ freeBytes }) => freeBytes],
  ])
  writeFileSync(join(values.out, 'samples.json'), JSON.stringify(samples))
  process.stdout.write(`${values.out} has memory.svg, file-size.svg and samples.json\n`)
}

async function draw(name: string, lines: readonly (readonly [string, (sample: Sample) => number])[]): Promise<void> {
  const measures = lines.flatMap(([subject, pick]) =>
    samples.map((sample) => measure(subject, sample.minute, pick(sample))),
  )
  const picture = await chartToSvg({ title: name, metric: 'size', x: 'minutes', caption: '' }, measures, PAPER)
  if (picture) writeFileSync(join(values.out, `${name}.svg`), picture)
}

function measure(subject: string, minutesGone: number, bytes: number): Measure {
  return {
    suite: 'soak',
    title: 'size',
    subject,
    role: 'ours',
    metric: 'size',
    unit: 'MiB',
    better: 'neither',
    rounds: [bytes / 2 ** 20],
    at: { minutes: minutesGone },
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}
