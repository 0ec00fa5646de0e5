import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { LedgerStateError } from '@ledger-state/core'
import type { Measure } from '../report/measure.ts'
import type { BenchRun } from './bench-run.ts'
import { describeMachine, type Machine } from './machine.ts'
import type { Scale } from './scale.ts'

const FORMAT = 'ledger-state-bench'

/** Results of a whole run, as in `result.json`. */
export interface BenchResult {
  readonly format: typeof FORMAT
  readonly startedAt: string
  readonly command: string
  readonly scale: Scale
  readonly machine: Machine & { readonly loadAfter: number }
  readonly suites: readonly string[]
  readonly notes: readonly string[]
  readonly measures: readonly Measure[]
}

type Outcome = Pick<BenchRun, 'scale' | 'notes' | 'measures'>

/** Notes time and machine when a run begins. Returns a function that makes the result when the run is over. */
export function startResult(command: string): (run: Outcome, suites: readonly string[]) => BenchResult {
  const startedAt = new Date().toISOString()
  const machine = describeMachine()
  return ({ scale, notes, measures }, suites) => ({
    format: FORMAT,
    startedAt,
    command,
    scale,
    machine: { ...machine, loadAfter: loadavg()[0]! },
    suites,
    notes,
    measures,
  })
}

/**
 * Reads a result.
 * @throws `invalid_argument`
 */
export function readResult(path: string): BenchResult {
  let result: unknown
  try {
    result = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new LedgerStateError('invalid_argument', `cannot read ${path}: ${(cause as Error).message}`, {}, { cause })
  }
  if (typeof result === 'object' && result !== null && (result as BenchResult).format === FORMAT)
    return result as BenchResult
  throw new LedgerStateError('invalid_argument', `${path} is not the result.json of a bench run`)
}
