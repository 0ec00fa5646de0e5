import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OperationName } from './operations.ts'

/** Counts of the commit that last changed them. They depend on the version of Node.js, which the workspace pins. */
export interface RecordedCounts {
  readonly node: string
  readonly counts: Readonly<Partial<Record<OperationName, number>>>
}

const FILE = fileURLToPath(new URL('../../instructions.json', import.meta.url))
/**
 * Difference that counts as none. Two runs of the same code differ by less than 1 %, or by 2 % for look-ups in the
 * table.
 */
const TOLERANCE = 0.04

export function readRecordedCounts(): RecordedCounts {
  return JSON.parse(readFileSync(FILE, 'utf8')) as RecordedCounts
}

export function writeRecordedCounts(recorded: RecordedCounts): void {
  writeFileSync(FILE, `${JSON.stringify(recorded, undefined, 2)}\n`)
}

/** Text about the difference between a count of an operation and the recorded one; undefined if there is none. */
export function differenceOf(count: number, recorded: number | undefined): string | undefined {
  if (recorded === undefined) return `${format(count)} instructions, without a recorded count`
  const ratio = count / recorded
  if (Math.abs(ratio - 1) <= TOLERANCE) return undefined
  return `${format(count)} instructions, ${ratio.toFixed(3)} times the recorded ${format(recorded)}`
}

function format(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}
