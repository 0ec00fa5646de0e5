// Runs views of generated hostile modules in a process of its own, whose memory is then theirs: first with a small
// budget, counting steps, then with the whole budget, looking at heap and memory. Prints a line of JSON for each find,
// and one with counts at the end. Arguments: minutes, seed; or `--program SEED` for one program; or `--memory SEED` for
// the memory that its run adds to a new process.
import { spawnSync } from 'node:child_process'
import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom } from '@ledger-state/testing/random'
import { createVm } from '../../packages/move-vm/src/index.js'
import { faultsOfProgram, runToEnd, stateOfProgram } from '../../packages/move-vm/testing/hostile-program-run.js'
import { type HostileProgram, randomHostileProgram } from '../../packages/move-vm/testing/hostile-programs.js'

const SMALL_BUDGET = { instructions: 40_000, bytes: 1 << 20 }
/** Share of the time in which steps are counted. */
const COUNTED_SHARE = 0.4
/**
 * Most that a run with the whole budget may take or add. Two seconds of CPU are the limit on a machine that does nothing
 * else.
 */
const MOST = { cpuMs: 6_000, addedBytes: 300e6 } as const
/** Most heap that a run holds: of its own for each byte that it is charged, and of anything else. */
const HELD = { perByte: 1.5, free: 24e6 } as const
const MOST_FINDS = 10

function heldBytes(): number {
  globalThis.gc!()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function faultsOfWholeRun(program: HostileProgram): string[] {
  const state = stateOfProgram(program)
  const vm = createVm()
  const before = heldBytes()
  const beganCpu = process.cpuUsage()
  const outcome = runToEnd(vm, state, { budget: {}, turn: 1_024, args: program.args })
  const { user, system } = process.cpuUsage(beganCpu)
  const held = heldBytes() - before
  const cpuMs = (user + system) / 1_000
  const wrong: string[] = []
  if (held > HELD.free + HELD.perByte * outcome.usage.bytes) wrong.push(`${held} bytes held of ${outcome.usage.bytes}`)
  if (cpuMs > MOST.cpuMs) wrong.push(`${cpuMs} ms of CPU`)
  return wrong
}

/** Memory that a run of a program adds to this process. The program itself takes up to 400 MB until it is assembled. */
function addedByRun(seed: number): number {
  const program = randomHostileProgram(createRandom(seed))
  const state = stateOfProgram(program)
  globalThis.gc!()
  const before = process.memoryUsage.rss()
  const earlierPeak = process.resourceUsage().maxRSS
  runToEnd(createVm(), state, { budget: {}, turn: 1_024, args: program.args })
  const peak = process.resourceUsage().maxRSS
  return (peak > earlierPeak ? peak * 1_024 : process.memoryUsage.rss()) - before
}

/** Memory that a run of a program adds to a new process: here, it may reuse the memory of earlier programs. */
function addedInNewProcess(seed: number): number {
  const words = [...process.execArgv, process.argv[1]!, '--memory', String(seed)]
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the separate run of program ${seed} ended with ${status ?? signal}: ${stderr}`)
  return Number(stdout)
}

function main(): void {
  const [first, second] = process.argv.slice(2)
  const finds: string[] = []
  const find = (seed: number, { kind }: HostileProgram, faults: readonly string[]) => {
    for (const why of faults) {
      finds.push(why)
      console.log(JSON.stringify({ program: seed, kind, why }))
    }
  }
  const random = createRandom(Number(second))
  const minutes = first === '--program' ? 0 : Number(first)
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / (minutes * 60_000)
  const seeds = function* (until: number): Generator<number> {
    if (first === '--program') yield Number(second)
    else while (elapsed() < until && finds.length < MOST_FINDS) yield random.below(2 ** 31)
  }
  let count = 0
  const counter = createStepCounter()
  for (const seed of seeds(COUNTED_SHARE)) {
    const program = randomHostileProgram(createRandom(seed))
    find(seed, program, faultsOfProgram(program, SMALL_BUDGET, counter))
    count++
  }
  counter.stop()
  for (const seed of seeds(1)) {
    const program = randomHostileProgram(createRandom(seed))
    find(seed, program, faultsOfWholeRun(program))
    count++
    if (process.memoryUsage.rss() <= MOST.addedBytes) continue
    const added = addedInNewProcess(seed)
    if (added > MOST.addedBytes) find(seed, program, [`${added} bytes of memory`])
  }
  console.log(JSON.stringify({ count, mostResident: process.resourceUsage().maxRSS * 1_024 }))
  if (finds.length > 0) process.exitCode = 1
}

if (process.argv[2] === '--memory') console.log(addedByRun(Number(process.argv[3])))
else main()
