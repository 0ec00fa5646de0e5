import { readFileSync } from 'node:fs'
import { MAX_JSON_DEPTH } from '@ledger-state/bcs'
import { DEFAULT_BUDGET } from '@ledger-state/move-vm'
import { withCommas } from '@ledger-state/testing/number-words'
import { expect, it } from 'vitest'
import { CONCURRENT_DECOMPRESSIONS } from './admission/admission.js'
import { BODY_RATE, LONG_BODY_RATE, type PaceRate } from './admission/body-pacer.js'
import { MOST_SENT_AHEAD, MOST_SENT_AHEAD_IN_ALL } from './admission/pipelined-requests.js'
import { MOST_SMALL_CHUNKS, SMALL_CHUNK_BYTES } from './admission/read-body.js'
import { SMALL_REQUEST_BYTES, TURN_BUDGET_MS } from './admission/turn-queue.js'
import { LARGE_ANSWER_BYTES, STALLED_MS } from './admission/unread-answers.js'
import {
  LONGEST_DOCUMENT,
  MOST_CONDITIONS,
  MOST_FIELDS,
  MOST_LEVELS,
  MOST_ROWS,
  MOST_ROWS_READ,
  MOST_TOKENS,
  MOST_VALUES,
} from './graphql/limits.js'
import { MAX_BATCH_ANSWER_BYTES, MAX_BATCH_READS } from './operations/parts/batch-operation.js'
import { MAX_PAGE_BYTES } from './operations/parts/paging.js'
import { PLACES, SHARED_BYTES } from './operations/parts/view-places.js'
import { MAX_MESSAGE_LENGTH, MAX_MISSING_ITEM_MESSAGE_LENGTH } from './protocol/error-reply.js'
import { BATCH_LIMITS, READ_LIMITS } from './protocol/json-body.js'
import { MAX_HEADER_BYTES } from './server/create-http-server.js'

const SECURITY = readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8')

function kibibytes(bytes: number): string {
  return `${bytes / 1_024} KiB`
}

function mebibytes(bytes: number): string {
  return `${Math.round((100 * bytes) / 1_048_576) / 100} MiB`
}

function describeRate({ burstBytes, bytesPerMs }: PaceRate): string {
  return `${mebibytes(burstBytes)} at once, then ${mebibytes(1_000 * bytesPerMs)}/s`
}

it.each([
  ['reads in a batch, length of its answer', `${withCommas(MAX_BATCH_READS)}; ${mebibytes(MAX_BATCH_ANSWER_BYTES)}`],
  ['items of one page', mebibytes(MAX_PAGE_BYTES)],
  [
    'document of GraphQL',
    `${kibibytes(LONGEST_DOCUMENT)}, ${withCommas(MOST_TOKENS)} tokens, ${MOST_LEVELS} levels, ${MOST_FIELDS} fields`,
  ],
  [
    'rows and values that it asks for',
    `${withCommas(MOST_ROWS)} rows, ${withCommas(MOST_VALUES)} values, ${MOST_CONDITIONS} conditions`,
  ],
  ['rows that it reads', withCommas(MOST_ROWS_READ)],
  ['chunks of a body', `${withCommas(MOST_SMALL_CHUNKS)} of less than ${SMALL_CHUNK_BYTES} bytes on average`],
  ['input of large bodies, together', describeRate(BODY_RATE)],
  ['the same, bodies above 1 MiB, and after answers', describeRate(LONG_BODY_RATE)],
  ['bodies decompressed at one time, each reader', String(CONCURRENT_DECOMPRESSIONS)],
  ['requests sent ahead, each reader', `${withCommas(MOST_SENT_AHEAD)}; ${withCommas(MOST_SENT_AHEAD_IN_ALL)}`],
  ['views of more than a turn, each reader', String(PLACES)],
  ['bytes charged to these views together', mebibytes(SHARED_BYTES)],
  ['one turn of the event loop', `${TURN_BUDGET_MS} ms`],
  ['request line and headers', kibibytes(MAX_HEADER_BYTES)],
  ['quotes in error messages', kibibytes(MAX_MESSAGE_LENGTH)],
  ['JSON in the body of one read', `${READ_LIMITS.bytes / 1_024} KiB`],
  ['JSON in the body of a batch, bodies decompressed', `${BATCH_LIMITS.bytes / 1_048_576} MiB`],
  ['values in such JSON', `${withCommas(READ_LIMITS.values)}; ${withCommas(BATCH_LIMITS.values)}`],
  ['depth of JSON', String(MAX_JSON_DEPTH)],
  [
    'work of the views of one request',
    `${withCommas(DEFAULT_BUDGET.instructions)} instructions, ${withCommas(DEFAULT_BUDGET.reads)} values`,
  ],
])('the table of limits in SECURITY.md has the one that the code applies: %s', (limit, applied) => {
  const row = SECURITY.split('\n').find((line) => line.startsWith(`| ${limit} `))
  expect(row?.split('|')[2]?.trim()).toBe(applied)
})

it.each([
  ['answers built or not read, each reader', `unread answers count from ${kibibytes(LARGE_ANSWER_BYTES)}`],
  ['answers built or not read, each reader', `has read nothing for ${STALLED_MS === 1_000 ? 'a second' : STALLED_MS}`],
  ['one turn of the event loop', `bodies above ${kibibytes(SMALL_REQUEST_BYTES)} are worked on in separate turns`],
  ['quotes in error messages', `has up to ${withCommas(MAX_MISSING_ITEM_MESSAGE_LENGTH)} characters`],
])('the table of limits in SECURITY.md says of %s: %s', (limit, said) => {
  const row = SECURITY.split('\n').find((line) => line.startsWith(`| ${limit} `))
  expect(row).toContain(said)
})
