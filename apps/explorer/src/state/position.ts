import type { StateHead } from '../api/state-head.ts'
import { oldestTimestampUsec } from './ledger.ts'

/** Position of a state in the window, from 0 to 1; approximate for a time. */
export function positionOf(at: string, head: StateHead): number {
  const part = (value: number, from: number, to: number) =>
    to === from ? 1 : Math.min(1, Math.max(0, (value - from) / (to - from)))
  if (/^\d+$/.test(at)) return part(Number(at), Number(head.oldestVersion), Number(head.version))
  const oldest = Number(oldestTimestampUsec.value ?? head.timestampUsec)
  return part(Date.parse(at) * 1_000, oldest, Number(head.timestampUsec))
}
