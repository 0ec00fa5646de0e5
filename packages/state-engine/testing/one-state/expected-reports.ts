import { createMemoryEngine } from '@ledger-state/engine'
import { PROGRAM, takeOp } from './program.ts'
import { reportOf } from './report.ts'

/** Indexes of the operations of the program that are prunes. */
const PRUNES = PROGRAM.flatMap((op, at) => (op.kind === 'prune' ? [at] : []))
const REPORTS = new Map<string, string>()

/**
 * Report of the engine in memory after the first `ops` operations of the program, with only the prunes before
 * `prunesBefore`.
 */
async function reportAfter(ops: number, prunesBefore: number): Promise<string> {
  const prunes = PRUNES.filter((at) => at < prunesBefore)
  const name = `${ops} ${prunes}`
  if (!REPORTS.has(name)) {
    const engine = createMemoryEngine()
    for (const [at, op] of PROGRAM.slice(0, ops).entries()) {
      if (op.kind !== 'prune' || prunes.includes(at)) await takeOp(engine, op)
    }
    REPORTS.set(name, reportOf(engine))
  }
  return REPORTS.get(name)!
}

/** Computes the expected reports. */
export async function computeReports(): Promise<void> {
  for (let ops = 0; ops <= PROGRAM.length; ops++) {
    for (const prunesBefore of [0, ...PRUNES.map((at) => at + 1)]) {
      if (prunesBefore <= ops) await reportAfter(ops, prunesBefore)
    }
  }
}

/**
 * Whether a report is of one state, after some operation from `first` to `last`. Its window may begin where it began
 * after `first`: then nothing was read that a prune removed during the read.
 */
export function isOfOneState(report: string, first: number, last: number): boolean {
  for (let ops = first; ops <= last; ops++) {
    for (let prunesBefore = first; prunesBefore <= ops; prunesBefore++) {
      const prunes = PRUNES.filter((at) => at < prunesBefore)
      if (REPORTS.get(`${ops} ${prunes}`) === report) return true
    }
  }
  return false
}
