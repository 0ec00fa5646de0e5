// Runs a real node for minutes under load: a ledger that grows, a window that changes, a client that knows every right
// answer, a client that opens a connection for each request, faults, and hostile clients. Prints a table and writes a
// page. Exit status 1 if an answer was wrong, late, or refused because of load; if a connection was refused or cut and
// no fault explains it; if a version was lost; if the supervisor keeps descriptors; or if a store in a database finally
// differs from its source at any version.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { eventually } from '@ledger-state/testing/eventually'
import { type HostileProcess, type HostileReport, startHostileProcess } from '@ledger-state/testing/hostile-process'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { NO_ANSWER, startFreshClient } from 'ledger-state/testing/fresh-client'
import { type ClientTally, startSteadyClient } from 'ledger-state/testing/steady-client'
import { BLOCK_VERSIONS } from 'ledger-state/testing/steady-ledger'
import { Breakages } from './soak/breakages.ts'
import { FaultDeck } from './soak/faults.ts'
import { type Sample, supervisorDescriptors, takeSample } from './soak/samples.ts'
import { SoakBed } from './soak/soak-bed.ts'
import { mebibytes, outcomeToRows, type SoakOutcome, writeSoakPage } from './soak/soak-report.ts'

const USAGE =
  'usage: pnpm soak [--store URL|embedded] [--minutes N] [--seed N] [--out DIR] [--no-faults] [--no-hostile]\n'

const GROWTH_INTERVAL_MS = 100
/** Versions a second, twice the rate of a busy network. Each version writes eight table items and a balance. */
const GROWTH_VERSIONS = 4 * BLOCK_VERSIONS
const FAULT_INTERVAL_MS = 1_500
const MOST_SAMPLE_INTERVAL_MS = 5_000
const SAMPLES = 40

interface SoakOptions {
  /** Database to use: its URL, or `embedded` for a separate server. */
  readonly store: string | undefined
  readonly minutes: number
  readonly seed: number
  readonly out: string
  readonly hasFaults: boolean
  readonly hasHostile: boolean
}

function parseOptions(): SoakOptions | undefined {
  const { values } = parseArgs({
    options: {
      store: { type: 'string' },
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(testSeed()) },
      out: { type: 'string', default: 'data/soak' },
      faults: { type: 'boolean', default: true },
      hostile: { type: 'boolean', default: true },
    },
    allowNegative: true,
  })
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
  if (!(minutes > 0) || !Number.isSafeInteger(seed)) return undefined
  const { store, out, faults: hasFaults, hostile: hasHostile } = values
  return { store, minutes, seed, out, hasFaults, hasHostile }
}

async function soak(bed: SoakBed, options: SoakOptions): Promise<SoakOutcome> {
  const { minutes, seed, hasFaults, hasHostile } = options
  const random = createRandom(seed)
  const faults = new Map<string, number>()
  const breakages = new Breakages()
  const deck = new FaultDeck(bed, random)
  const samples: Sample[] = []
  const sampleIntervalMs = Math.min(MOST_SAMPLE_INTERVAL_MS, (minutes * 60_000) / SAMPLES)
  const client = startSteadyClient({ address: () => bed.node.address, connections: 4, pauseMs: 3, seed })
  const { tally } = client
  const fresh = startFreshClient(() => bed.node.address, 2, 10)
  const growth = setInterval(() => {
    bed.source.latest += GROWTH_VERSIONS
  }, GROWTH_INTERVAL_MS)
  let crowd: HostileProcess | undefined
  let hostile: HostileReport | undefined
  let lostVersions = 0
  let idleDescriptors = 0
  const began = performance.now()
  const end = began + minutes * 60_000

  /** Checks that the node serves, after each fault, every version that the client has seen. */
  const expectKept = async (version: number): Promise<void> => {
    try {
      await bed.reaches(version)
    } catch (error) {
      lostVersions += version - (await bed.node.version().catch(() => -1))
      throw error
    }
  }
  const sample = async (now: number): Promise<void> => {
    const taken = await takeSample(bed.node, (now - began) / 60_000, bed.database === undefined)
    if (!taken) return
    samples.push(taken)
    process.stderr.write(`${(Math.max(0, end - now) / 60_000).toFixed(1)} min left: ${progressText(tally, taken)}\n`)
  }

  try {
    if (hasHostile) {
      const { hostname, port } = new URL(bed.node.address)
      crowd = await startHostileProcess({ attack: 'crowd', host: hostname, port: Number(port), seed })
    }
    let nextSample = began
    let nextFault = began + FAULT_INTERVAL_MS
    while (performance.now() < end && tally.wrong.length === 0) {
      const now = performance.now()
      if (now >= nextSample) {
        nextSample = now + sampleIntervalMs
        await sample(now)
      }
      if (hasFaults && now >= nextFault) {
        nextFault = now + FAULT_INTERVAL_MS
        const seen = tally.latest
        const fault = await deck.inflict(bed)
        if (fault) {
          faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1)
          await expectKept(seen)
          breakages.add(fault, now)
        }
      }
      await sleep(50)
    }
    clearInterval(growth)
    hostile = await crowd?.stop()
    await expectKept(bed.source.latest)
    await Promise.all([client.stop(), fresh.stop()])
    idleDescriptors = await keepsNoDescriptors(bed)
    await bed.stopNode()
    await bed.checkStore()
    if (bed.database) await bed.compareWithFreshStore()
  } finally {
    clearInterval(growth)
    if (hostile === undefined) await crowd?.stop()
    await Promise.all([client.stop(), fresh.stop()])
  }
  const unexplained = breakages.unexplained(fresh.failures)
  const outcomes = { tally, fresh: fresh.outcomes, unexplained, faults, hostile, lostVersions }
  return { minutes, seed, ...outcomes, samples, idleDescriptors }
}

function progressText({ latest, requests, wrong }: ClientTally, { memoryBytes, fileBytes }: Sample): string {
  const counts = `version ${latest}, ${requests} requests, ${wrong.length} wrong`
  return `${counts}, ${mebibytes(memoryBytes)} memory, ${mebibytes(fileBytes)} files`
}

/** Most descriptors of a supervisor without connections: files, listeners, and channels to its processes. */
const MOST_IDLE_DESCRIPTORS = 40

/** Waits until the supervisor has no connections, and resolves with its number of descriptors. */
async function keepsNoDescriptors({ node }: SoakBed): Promise<number> {
  await eventually(
    () => supervisorDescriptors(node)! <= MOST_IDLE_DESCRIPTORS,
    () => `the supervisor to close connections: it has ${supervisorDescriptors(node)} descriptors`,
  )
  return supervisorDescriptors(node)!
}

const options = parseOptions()
if (options) {
  process.stderr.write(`seed ${options.seed}\n`)
  const bed = await SoakBed.open(options.store)
  try {
    const outcome = await soak(bed, options)
    const rows = outcomeToRows(outcome)
    const width = Math.max(...rows.map(([name]) => name.length))
    for (const [name, text] of rows) process.stdout.write(`${name.padEnd(width)}  ${text}\n`)
    const { tally, fresh, lostVersions, unexplained } = outcome
    for (const answer of tally.wrong) process.stdout.write(`wrong: ${answer}\n`)
    process.stdout.write(`wrote ${await writeSoakPage(options.out, outcome)}\n`)
    // While its database is down, a node must answer 503.
    const notInTime = ['timeout', NO_ANSWER, ...(bed.database ? [] : ['503'])]
    const lateAnswers = notInTime.reduce((sum, kind) => sum + (tally.errors.get(kind) ?? 0) + (fresh.get(kind) ?? 0), 0)
    if (lateAnswers > 0) process.stdout.write(`${lateAnswers} answers did not come in time\n`)
    const faults = [tally.wrong.length, lateAnswers, lostVersions, unexplained.length]
    process.exitCode = faults.some((count) => count > 0) ? 1 : 0
  } finally {
    await bed.close()
  }
} else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}
