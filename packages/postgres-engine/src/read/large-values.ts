import type { Buffer } from 'node:buffer'
import type { LedgerInfo } from '@ledger-state/engine'
import type { QueryResultRow } from 'pg'
import { LARGE_VALUE } from './questions.js'
import type { ServerAnswer, Servers } from './servers.js'

/** Statements of large values that one engine has under way; reads of small values go between them. */
const AT_ONCE = 2

export interface LargeValue {
  readonly hash: Buffer
  /** That which wrote it. */
  readonly written: bigint
  /** That it is read at. */
  readonly version: bigint
  readonly ledger: LedgerInfo
}

/** Undefined where a prune or a truncation has dropped it since it was found. */
export type ReadLargeValue = (
  asked: LargeValue,
) => Promise<{ readonly value: Buffer | undefined; readonly answer: ServerAnswer<unknown> }>

/** Reads values one by one that look-ups found, but did not answer for their length. */
export function createLargeValues(servers: Servers): ReadLargeValue {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async ({ hash, written, version, ledger }) => {
    while (underWay === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
    underWay++
    try {
      const answer = await servers.ask<{ readonly value: Buffer } & QueryResultRow>({
        name: 'large value',
        text: LARGE_VALUE,
        values: [hash, String(written)],
        version,
        ledger,
      })
      return { value: answer.rows[0]?.value, answer }
    } finally {
      underWay--
      waiting.shift()?.()
    }
  }
}
