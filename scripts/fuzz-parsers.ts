// Feeds generated and mutated input to the parsers of untrusted input, and generated modules to the virtual machine. Each must return a result that can be written
// and read back, or throw its own error, and its work must not grow faster than its input. Every find is added to
// fuzz-finds.json, which each run replays first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { bytesToHex, hexToBytes } from '@ledger-state/core'
import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { bcsTarget } from './fuzz/bcs-target.ts'
import { jsonTarget } from './fuzz/json-target.ts'
import { moduleTarget } from './fuzz/module-target.ts'
import { stateKeyTarget } from './fuzz/state-key-target.ts'
import { mutate, type Target } from './fuzz/target.ts'
import { typeTagTarget } from './fuzz/type-tag-target.ts'

const HELP = `Usage: pnpm fuzz [--minutes N] [--seed N]
       pnpm fuzz --program SEED
       pnpm fuzz-engine --help

Fuzzes the parsers of type tags, JSON, BCS values, state keys and Move modules for N minutes (default 2), and runs views
of generated hostile modules at the same time. With --program it runs one such module again.
`
const FINDS = new URL('./fuzz-finds.json', import.meta.url)
/**
 * Time after which a thread counts as hung, so that input on which a parser never ends is found. A thread reports after
 * each thousand inputs, which take far less than a second.
 */
const HANG_MS = 120_000

/** Share of the time in which the steps of long inputs are counted. */
const COUNTED_SHARE = 0.2
const LONG_INPUT_BYTES = 20_000
/**
 * Most steps for each byte of an input, and most steps of any input, as `createStepCounter` counts them. The most that
 * was seen is 166 for a byte.
 */
const MAX_STEPS_PER_BYTE = 400
const MAX_STEPS_AT_ALL = 200_000

const MOST_FINDS = 10
const TARGETS: readonly Target[] = [typeTagTarget, jsonTarget, bcsTarget, stateKeyTarget, moduleTarget]

interface Find {
  readonly target: string
  readonly input: string
  readonly why: string
}

interface Job {
  readonly seed: number
  readonly minutes: number
}

/** Counts of a thread. */
interface Progress {
  readonly count: number
  readonly finds: readonly Find[]
  /** Most steps for each byte that a long input took. */
  readonly mostStepsPerByte: number
  readonly isDone: boolean
}

/** Reason why the result of an input is wrong; undefined if it is right. */
function faultOf(target: Target, input: Uint8Array): string | undefined {
  try {
    target.check(input)
    return undefined
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
}

function fuzz({ seed, minutes }: Job, report: (progress: Progress) => void): void {
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / (minutes * 60_000)
  const random = createRandom(seed)
  const finds: Find[] = []
  let count = 0
  let mostStepsPerByte = 0
  const found = (target: Target, input: Uint8Array, why: string | undefined) => {
    count++
    if (why !== undefined) finds.push({ target: target.name, input: bytesToHex(input), why })
  }
  const tell = (isDone: boolean) => report({ count, finds, mostStepsPerByte, isDone })

  const counter = createStepCounter()
  while (elapsed() < COUNTED_SHARE && finds.length < MOST_FINDS) {
    for (const target of TARGETS) {
      const long = target.generateLong(random, LONG_INPUT_BYTES)
      const input = random.below(2) === 0 ? mutate(random, long) : long
      let why: string | undefined
      const steps = counter.count(() => {
        why = faultOf(target, input)
      })
      mostStepsPerByte = Math.max(mostStepsPerByte, Math.round(steps / Math.max(input.length, 1_000)))
      if (steps > MAX_STEPS_AT_ALL + MAX_STEPS_PER_BYTE * input.length) why ??= `took ${steps} steps`
      found(target, input, why)
    }
    tell(false)
  }
  counter.stop()

  while (elapsed() < 1 && finds.length < MOST_FINDS) {
    for (const target of TARGETS) {
      for (let batch = 0; batch < 1_000; batch++) {
        const input = target.generate(random)
        found(target, input, faultOf(target, input))
      }
      tell(false)
    }
  }
  tell(true)
}

/** Runs a job in a separate thread, and ends it if it hangs. */
function runInThread(job: Job): Promise<Progress> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job })
    let latest: Progress = { count: 0, finds: [], mostStepsPerByte: 0, isDone: false }
    const guard = setTimeout(() => {
      void worker.terminate()
      reject(new Error(`seed ${job.seed} hangs after ${latest.count} inputs`))
    }, HANG_MS)
    worker.on('error', reject)
    worker.on('message', (progress: Progress) => {
      latest = progress
      guard.refresh()
      if (!progress.isDone) return
      clearTimeout(guard)
      resolve(progress)
    })
  })
}

/** Runs views of hostile modules in a process of its own. Returns whether all kept to their limits. */
async function runHostileViews(args: readonly string[]): Promise<boolean> {
  const file = fileURLToPath(new URL('./fuzz/hostile-views.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, '--expose-gc', file, ...args], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      program: { type: 'string' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  if (values.help) {
    process.stdout.write(HELP)
    return
  }
  if (values.program !== undefined) {
    if (!(await runHostileViews(['--program', values.program]))) process.exitCode = 1
    return
  }
  const former = JSON.parse(readFileSync(FINDS, 'utf8')) as Find[]
  const failing = former.filter(
    ({ target, input }) => faultOf(TARGETS.find(({ name }) => name === target)!, hexToBytes(input)) !== undefined,
  )
  console.log(`${former.length} former finds replayed, ${failing.length} of them fail`)

  const seed = Number(values.seed ?? testSeed())
  const jobs = Array.from(
    { length: availableParallelism() },
    (_, at): Job => ({ seed: seed + at * 1_000_003, minutes: Number(values.minutes ?? 2) }),
  )
  console.log(`seed ${seed}, ${jobs.length} threads`)
  const [areBounded, ...results] = await Promise.all([
    runHostileViews([String(values.minutes ?? 2), String(seed)]),
    ...jobs.map(runInThread),
  ])
  const fresh = results.flatMap(({ finds }) => finds)
  for (const find of fresh) console.log(`find: ${JSON.stringify(find)}`)
  const count = results.reduce((sum, result) => sum + result.count, 0)
  const mostSteps = Math.max(...results.map(({ mostStepsPerByte }) => mostStepsPerByte))
  console.log(`${count.toLocaleString('en-US')} inputs, ${fresh.length} finds; at most ${mostSteps} steps for a byte`)
  if (fresh.length > 0) writeFileSync(FINDS, `${JSON.stringify([...former, ...fresh], null, 2)}\n`)
  if (fresh.length + failing.length > 0 || !areBounded) process.exitCode = 1
}

if (isMainThread) await main()
else fuzz(workerData as Job, (progress) => parentPort!.postMessage(progress))
