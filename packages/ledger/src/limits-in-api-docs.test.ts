import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MOST_BYTES, MOST_KEYS } from './tables/find-table-types.js'
import { MOST_SCANNED_KEYS } from './type-usage/list-type-uses.js'

const API = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')

it.each([
  `The search ends after ${MOST_KEYS.toLocaleString('en-US')} state keys or ${MOST_BYTES / 1_048_576} MiB.`,
  `A page looks at ${MOST_SCANNED_KEYS.toLocaleString('en-US')} state keys`,
])('docs/api.md has the limit that the code applies: %s', (sentence) => {
  expect(API).toContain(sentence)
})
