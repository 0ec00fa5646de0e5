import type { Chart } from '../report/chart.ts'
import type { BenchRun } from './bench-run.ts'
import type { Scale } from './scale.ts'

/** The most that a suite needs, roughly, on a machine with two cores. */
export interface Estimate {
  readonly minutes: number
  readonly memoryBytes: number
  readonly diskBytes: number
}

export interface Suite {
  readonly name: string
  readonly summary: string
  estimate(scale: Scale): Estimate
  run(run: BenchRun): Promise<void>
  readonly charts?: readonly Chart[]
}
