import { parseAddress } from '@ledger-state/core'
import { assembleModule } from '@ledger-state/move-module'
import type { StepCounter } from '@ledger-state/testing/count-steps'
import { FREE_WORK_PER_BYTE } from '../src/budget/module-charge.js'
import { createVm, runComputeTask, type ViewBudget, type ViewProgress, type Vm } from '../src/index.js'
import type { HostileProgram } from './hostile-programs.js'
import { TestState } from './test-state.js'

const CALL = { address: parseAddress('0x42'), module: 'm', function: 'f', typeArguments: [] }

/**
 * Most steps, as `createStepCounter` counts them: of a run, some and those for each instruction and 64 bytes that are
 * charged; of a turn.
 */
const MOST_STEPS = { run: 600_000, instruction: 40, turn: 150_000 } as const

/** Most turns of a run with the whole budget, and the work of them all. */
const MOST_TURNS = 50_000
const WORK_OF_TURNS = 2e7

type Outcome = Exclude<ViewProgress, { kind: 'paused' | 'lacking' | 'computing' }>

/** The state of a program. */
export function stateOfProgram({ modules, values = [] }: HostileProgram): TestState {
  const state = new TestState(modules)
  for (const [key, value] of values) state.set(key, value)
  return state
}

interface RunOptions {
  readonly budget: Partial<ViewBudget>
  readonly turn: number
  /** Arguments of the view. */
  readonly args?: readonly Uint8Array[] | undefined
}

/** Runs the view of a program to its end; `advance` runs each turn. */
export function runToEnd(
  vm: Vm,
  state: TestState,
  { budget, turn, args = [] }: RunOptions,
  advance: (step: () => ViewProgress) => ViewProgress = (step) => step(),
): Outcome {
  const view = vm.startView(state, { ...CALL, arguments: args }, { budget })
  for (let turns = 0; turns < Math.max(MOST_TURNS, WORK_OF_TURNS / turn); turns++) {
    const progress = advance(() => view.advance(turn))
    if (progress.kind === 'results' || progress.kind === 'fault') return progress
    if (progress.kind === 'computing') view.provide(runComputeTask(progress.task))
  }
  throw new Error('a run that never ends')
}

/**
 * Faults of the runs of a program: in the work of the first, cold run, and in the answers of a warm run and of a run
 * with other turns.
 */
export function faultsOfProgram(
  program: HostileProgram,
  budget: Partial<ViewBudget>,
  counter: StepCounter,
): readonly string[] {
  const state = stateOfProgram(program)
  const { args } = program
  const vm = createVm()
  let steps = 0
  let longestTurn = 0
  counter.stepsSinceLast()
  const outcome = runToEnd(vm, state, { budget, turn: 1_024, args }, (step) => {
    const progress = step()
    const turn = counter.stepsSinceLast()
    steps += turn
    longestTurn = Math.max(longestTurn, turn)
    return progress
  })
  const { instructions, bytes } = outcome.usage
  const wrong: string[] = []
  const verifying = FREE_WORK_PER_BYTE * bytesOfModules(program)
  if (steps > MOST_STEPS.run + MOST_STEPS.instruction * (instructions + bytes / 64 + verifying)) {
    wrong.push(`${steps} steps for ${instructions} instructions and ${bytes} bytes`)
  }
  if (longestTurn > MOST_STEPS.turn) wrong.push(`a turn of ${longestTurn} steps`)
  if (vm.cache.size > vm.cache.capacity) wrong.push(`a cache of ${vm.cache.size} bytes`)
  const told = JSON.stringify(outcome, plain)
  const warm = JSON.stringify(runToEnd(vm, state, { budget, turn: 333, args }), plain)
  if (warm !== told) wrong.push(`cold ${told}, warm ${warm}`)
  const whole = JSON.stringify(runToEnd(createVm(), state, { budget, turn: 1e9, args }), plain)
  if (whole !== told) wrong.push(`in turns ${told}, in one piece ${whole}`)
  return wrong
}

function bytesOfModules({ modules }: HostileProgram): number {
  return modules.reduce((sum, module) => sum + assembleModule(module).length, 0)
}

export function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
