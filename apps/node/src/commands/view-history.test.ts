import { LedgerStateError } from '@ledger-state/core'
import type { ViewAnswer } from '@ledger-state/ledger'
import { expect, it } from 'vitest'
import type { PrintedChange } from './history-pages.js'
import { withinColumns } from './view-history.js'

/** A page with one answer of so many results at each version, or with the error of a run. */
async function* pages(...results: (number | 'error')[]): AsyncGenerator<readonly PrintedChange<ViewAnswer>[]> {
  for (const [at, count] of results.entries()) {
    const moment = { version: BigInt(at), timestampUsec: 0n, transaction: undefined }
    if (count === 'error') yield [{ ...moment, error: new LedgerStateError('view_failed', 'aborted') }]
    else yield [{ ...moment, value: { results: [], json: Array.from({ length: count }, () => '1') } }]
  }
}

it('an answer with more results than the columns of the table ends it, and names its version', async () => {
  const read: bigint[] = []
  const reading = async (): Promise<void> => {
    for await (const page of withinColumns(pages(2, 'error', 1, 3, 2), 2)) read.push(page[0]!.version)
  }
  await expect(reading()).rejects.toMatchObject({
    code: 'export_failed',
    message: expect.stringMatching(/more results at version 3 than .* when the command began: run it again/),
  })
  expect(read).toEqual([0n, 1n, 2n])
})
