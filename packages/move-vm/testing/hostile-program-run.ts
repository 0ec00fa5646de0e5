import { parseAddress } from '@ledger-state/core'
import type { StepCounter } from '@ledger-state/testing/count-steps'
import { createVm, runComputeTask, type ViewBudget, type ViewProgress, type Vm } from '../src/index.js'
import type { HostileProgram } from './hostile-programs.js'
import { TestState } from './test-state.js'

const CALL = { address: parseAddress('0x42'), module: 'm', function: 'f', typeArguments: [], arguments: [] }

/**
 * Most steps, as `createStepCounter` counts them: of a run, some and those for each instruction and 64 bytes that are
 * charged; of a turn.
 */
const MOST_STEPS = { run: 600_000, instruction: 40, turn: 150_000 } as const

type Outcome = Exclude<ViewProgress, { kind: 'paused' | 'lacking' | 'computing' }>

/** Runs the view of a program to its end; `advance` runs each turn. */
export function runToEnd(
  vm: Vm,
  state: TestState,
  { budget, turn }: { readonly budget: Partial<ViewBudget>; readonly turn: number },
  advance: (step: () => ViewProgress) => ViewProgress = (step) => step(),
): Outcome {
  const view = vm.startView(state, CALL, { budget })
  for (;;) {
    const progress = advance(() => view.advance(turn))
    if (progress.kind === 'results' || progress.kind === 'fault') return progress
    if (progress.kind === 'computing') view.provide(runComputeTask(progress.task))
  }
}

/**
 * What is wrong with the runs of a program: with the work of the first, which is cold, and with the answers of a warm
 * one and of one with other turns.
 */
export function faultsOfProgram(
  { modules }: HostileProgram,
  budget: Partial<ViewBudget>,
  counter: StepCounter,
): readonly string[] {
  const state = new TestState(modules)
  const vm = createVm()
  let steps = 0
  let longestTurn = 0
  const outcome = runToEnd(vm, state, { budget, turn: 1_024 }, (step) => {
    let progress: ViewProgress | undefined
    const turn = counter.count(() => {
      progress = step()
    })
    steps += turn
    longestTurn = Math.max(longestTurn, turn)
    return progress!
  })
  const { instructions, bytes } = outcome.usage
  const wrong: string[] = []
  if (steps > MOST_STEPS.run + MOST_STEPS.instruction * (instructions + bytes / 64)) {
    wrong.push(`${steps} steps for ${instructions} instructions and ${bytes} bytes`)
  }
  if (longestTurn > MOST_STEPS.turn) wrong.push(`a turn of ${longestTurn} steps`)
  if (vm.cache.size > vm.cache.capacity) wrong.push(`a cache of ${vm.cache.size} bytes`)
  const told = JSON.stringify(outcome, plain)
  const warm = JSON.stringify(runToEnd(vm, state, { budget, turn: 333 }), plain)
  if (warm !== told) wrong.push(`cold ${told}, warm ${warm}`)
  const whole = JSON.stringify(runToEnd(createVm(), state, { budget, turn: 1e9 }), plain)
  if (whole !== told) wrong.push(`in turns ${told}, in one piece ${whole}`)
  return wrong
}

export function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
