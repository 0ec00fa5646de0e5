import type { Buffer } from 'node:buffer'
import type { LedgerSummary } from '@ledger-state/engine'
import { limitFunction } from 'p-limit'
import type { QueryResultRow } from 'pg'
import { LARGE_VALUE } from './questions.js'
import type { ServerAnswer, Servers } from './servers.js'

/** Most statements for large values that one engine has under way. Reads of small values pass between them. */
const AT_ONCE = 2

export interface LargeValue {
  readonly hash: Buffer
  /** Version that wrote the value. */
  readonly written: bigint
  /** Version at which the value is read. */
  readonly version: bigint
  readonly ledger: LedgerSummary
}

/** Reads one value; undefined if a prune or a truncation has dropped it since it was found. */
export type ReadLargeValue = (
  asked: LargeValue,
) => Promise<{ readonly value: Buffer | undefined; readonly answer: ServerAnswer<unknown> }>

/**
 * Makes the function that reads large values. A look-up gives only their versions. Each
 * statement reads one value.
 */
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
