import { newest, oldestTimestampUsec } from './ledger.ts'

/** Last place of a curve, at which its last value still holds: the newest block in seconds, or the newest version. */
export function curveEnd(isTime: boolean): number | undefined {
  const head = newest.value
  if (!head) return undefined
  return isTime ? Number(head.timestampUsec) / 1e6 : Number(head.version)
}

/** First place of a curve: the oldest block in seconds, or the oldest version. */
export function curveBegin(isTime: boolean): number | undefined {
  const oldest = isTime ? oldestTimestampUsec.value : newest.value?.oldestVersion
  return oldest === undefined ? undefined : isTime ? Number(oldest) / 1e6 : Number(oldest)
}
