// Runs the runs that are recorded, one after the other, each in a separate folder. Prints the number of each that
// begins, each step that the engine reaches, and each acknowledgement.
import type { Failpoint } from '../../src/failpoints/failpoints.ts'
import { runSteps } from '../truncated-ledger.ts'
import { runTimeFast } from './fast-clock.ts'
import { runCommits } from './recorded-commits.ts'
import { runImport } from './recorded-import.ts'
import { type RecordedRun, RUN_BEGINS, STEP } from './recorded-run.ts'

const STEPS_BETWEEN_OPENINGS = 13

const runs = JSON.parse(process.argv[2]!) as { readonly folder: string; readonly run: RecordedRun }[]
for (const [number, { folder, run }] of runs.entries()) {
  process.stdout.write(`${RUN_BEGINS}${number}\n`)
  const endFastTime = run.kind === 'truncations' && !run.inSlices ? undefined : runTimeFast()
  await doRun(folder, run)
  endFastTime?.()
}

async function doRun(path: string, run: RecordedRun): Promise<void> {
  if (run.kind === 'commits') await runCommits(path, run, printStep)
  else if (run.kind === 'truncations') {
    await runSteps({ path, ...run.options }, run.steps, printStep, STEPS_BETWEEN_OPENINGS)
  } else await runImport(path, run, printStep)
}

function printStep(point: Failpoint): void {
  process.stdout.write(`${STEP}${point}\n`)
}
