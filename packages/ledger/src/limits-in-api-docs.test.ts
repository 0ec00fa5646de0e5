import { readFileSync } from 'node:fs'
import { mebibytes, withCommas } from '@ledger-state/testing/number-words'
import { expect, it } from 'vitest'
import { MOST_BYTES, MOST_KEYS } from './tables/find-table-types.js'
import { MOST_SCANNED_KEYS } from './type-usage/list-type-uses.js'

const API = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')

it.each([
  `The search ends after ${withCommas(MOST_KEYS)} state keys or ${mebibytes(MOST_BYTES)}.`,
  `A page examines ${withCommas(MOST_SCANNED_KEYS)} state keys`,
])('docs/api.md has the limit that the code applies: %s', (sentence) => {
  expect(API).toContain(sentence)
})
