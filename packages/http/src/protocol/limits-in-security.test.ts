import { readFileSync } from 'node:fs'
import { MAX_JSON_DEPTH } from '@ledger-state/bcs'
import { DEFAULT_BUDGET } from '@ledger-state/move-vm'
import { expect, it } from 'vitest'
import { BATCH_LIMITS, READ_LIMITS } from './json-body.js'

const SECURITY = readFileSync(new URL('../../../../SECURITY.md', import.meta.url), 'utf8')

/** `16,384`. */
function withCommas(count: number): string {
  return count.toLocaleString('en-US')
}

it.each([
  ['JSON in the body of one read', `${READ_LIMITS.bytes / 1_024} KiB`],
  ['JSON in the body of a batch, bodies decompressed', `${BATCH_LIMITS.bytes / 1_048_576} MiB`],
  ['values in such JSON', `${withCommas(READ_LIMITS.values)}; ${withCommas(BATCH_LIMITS.values)}`],
  ['depth of JSON', String(MAX_JSON_DEPTH)],
  [
    'what the views of one request use',
    `${withCommas(DEFAULT_BUDGET.instructions)} instructions, ${withCommas(DEFAULT_BUDGET.reads)} values`,
  ],
])('the table of limits in SECURITY.md has the one that the code applies: %s', (limit, applied) => {
  const row = SECURITY.split('\n').find((line) => line.startsWith(`| ${limit} `))
  expect(row?.split('|')[2]?.trim()).toBe(applied)
})
