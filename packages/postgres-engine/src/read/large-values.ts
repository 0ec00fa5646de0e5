import type { Buffer } from 'node:buffer'
import type { LedgerInfo } from '@ledger-state/engine'
import { limitFunction } from 'p-limit'
import type { QueryResultRow } from 'pg'
import { LARGE_VALUE } from './questions.js'
import type { ServerAnswer, Servers } from './servers.js'

/** Statements of large values that one engine has under way; reads of small values go between them. */
const AT_ONCE = 2

export interface LargeValue {
  readonly hash: Buffer
  /** The version that wrote it. */
  readonly written: bigint
  /** The version at which it is read. */
  readonly version: bigint
  readonly ledger: LedgerInfo
}

/** Reads one value; undefined if a prune or a truncation has dropped it since it was found. */
export type ReadLargeValue = (
  asked: LargeValue,
) => Promise<{ readonly value: Buffer | undefined; readonly answer: ServerAnswer<unknown> }>

/** Reads values one by one that look-ups found, but did not answer because they are long. */
export function createLargeValues(servers: Servers): ReadLargeValue {
  return limitFunction(
    async ({ hash, written, version, ledger }: LargeValue) => {
      const answer = await servers.ask<{ readonly value: Buffer } & QueryResultRow>({
        name: 'large value',
        text: LARGE_VALUE,
        values: [hash, String(written)],
        version,
        ledger,
      })
      return { value: answer.rows[0]?.value, answer }
    },
    { concurrency: AT_ONCE },
  )
}
