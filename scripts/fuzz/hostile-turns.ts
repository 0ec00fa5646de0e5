// Prints for each kind of generated hostile program its longest turn, and the CPU time of its run. A turn is as long as in a
// node. Each program runs a few times, and a turn counts with the least of its times: Linux updates the CPU time of a thread
// at the ticks of its clock only, every few milliseconds, but a turn is short, and seldom waits for a core in all runs.
// Each kind runs in a process of its own. Arguments: number of random programs, seed, and perhaps one kind.
import { spawnSync } from 'node:child_process'
import { createRandom } from '@ledger-state/testing/random'
import { createVm, type ViewProgress } from '../../packages/move-vm/src/index.js'
import { runToEnd, stateOfProgram } from '../../packages/move-vm/testing/hostile-program-run.js'
import {
  type HostileProgram,
  holdingPrograms,
  largeValuePrograms,
  randomHostileProgram,
  uncalledPrograms,
} from '../../packages/move-vm/testing/hostile-programs.js'

/** As in `started-view.ts` of the ledger. */
const INSTRUCTIONS_AT_ONCE = 1_024
const RUNS = 5

interface Times {
  turnMs: number
  runMs: number
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function timesOf(program: HostileProgram): Times {
  const state = stateOfProgram(program)
  const turns: number[] = []
  let runMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < RUNS; round++) {
    const vm = createVm()
    const began = cpuMs()
    let at = 0
    runToEnd(vm, state, { budget: {}, turn: INSTRUCTIONS_AT_ONCE, args: program.args }, (step): ViewProgress => {
      const start = performance.now()
      const progress = step()
      const took = performance.now() - start
      turns[at] = Math.min(turns[at] ?? took, took)
      at++
      return progress
    })
    runMs = Math.min(runMs, cpuMs() - began)
  }
  let turnMs = 0
  for (const turn of turns) turnMs = Math.max(turnMs, turn)
  return { turnMs, runMs }
}

function* programs(count: number, seed: number): Generator<HostileProgram> {
  const random = createRandom(seed)
  yield* uncalledPrograms(random)
  yield* largeValuePrograms(20_000, 8)
  yield* holdingPrograms()
  for (let left = count; left > 0; left--) yield randomHostileProgram(random)
}

const [count = 200, seed = 1, kind] = process.argv.slice(2)
if (kind === undefined) {
  const kinds = new Set<string>()
  for (const program of programs(Number(count), Number(seed))) kinds.add(program.kind)
  console.log('turn ms\trun ms\tkind')
  for (const one of kinds) {
    const words = [...process.execArgv, process.argv[1]!, String(count), String(seed), one]
    process.stdout.write(spawnSync(process.execPath, words, { encoding: 'utf8' }).stdout)
  }
} else {
  const most: Times = { turnMs: 0, runMs: 0 }
  for (const program of programs(Number(count), Number(seed))) {
    if (program.kind !== kind) continue
    const { turnMs, runMs } = timesOf(program)
    most.turnMs = Math.max(most.turnMs, turnMs)
    most.runMs = Math.max(most.runMs, runMs)
  }
  console.log(`${most.turnMs.toFixed(1)}\t${Math.round(most.runMs)}\t${kind}`)
}
