import { readFileSync } from 'node:fs'
import { mebibytes, withCommas } from '@ledger-state/testing/number-words'
import { expect, it } from 'vitest'
import { MAX_ACCOUNT_PAGE } from './operations/parts/account-listing.js'
import { MAX_BATCH_ANSWER_BYTES, MAX_BATCH_READS } from './operations/parts/batch-operation.js'
import {
  DEFAULT_PAGE,
  LEAST_POINTS,
  MAX_PAGE,
  MOST_POINTS,
  MOST_SAMPLED_CHANGES,
} from './operations/parts/history-page.js'
import { MAX_PAGE_BYTES, U16_MAX } from './operations/parts/paging.js'
import { BUDGETS_OF_PAGE, MOST_RUNS } from './operations/parts/view-runs.js'
import { MOST_SAMPLES } from './operations/view-history.js'

function readDocument(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
}

const API = readDocument('api.md')

it.each([
  `\`limit\` is at most ${withCommas(MAX_ACCOUNT_PAGE)} for resources and modules, which is also the default.`,
  `For all other lists it is ${DEFAULT_PAGE} by default, and at most ${withCommas(MAX_PAGE)}.`,
  `above ${withCommas(U16_MAX)} it is 400`,
  `A page ends early, with a cursor, once it has ${mebibytes(MAX_PAGE_BYTES)}.`,
  `at most this number of changes (${LEAST_POINTS} to ${withCommas(MOST_POINTS)})`,
  `One answer reads ${withCommas(MOST_SAMPLED_CHANGES)} changes`,
  `evenly spaced by version over the range (2 to ${withCommas(MOST_SAMPLES)})`,
  `A page ends early, with a cursor, after ${withCommas(MOST_RUNS)} runs`,
  `up to ${withCommas(MAX_BATCH_READS)} reads of one state`,
  `up to ${withCommas(MAX_BATCH_READS)} of any operations`,
  `runs up to ${withCommas(MAX_BATCH_READS)} operations on one state`,
  `All results together have at most ${mebibytes(MAX_BATCH_ANSWER_BYTES)} (400).`,
])('docs/api.md has the limit that the code applies: %s', (sentence) => {
  expect(API).toContain(sentence)
})

it('docs/views.md has the limits of a page of a history that the code applies', () => {
  expect(BUDGETS_OF_PAGE).toBe(4)
  const sentence = `A page ends after ${withCommas(MOST_RUNS)} runs, or four times that budget.`
  expect(readDocument('views.md')).toContain(sentence)
})
