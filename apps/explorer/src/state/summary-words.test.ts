import { expect, it } from 'vitest'
import type { Trust } from '../api/answers.ts'
import { summaryWords } from './summary-words.ts'

it('says who signed the ledger: validators, a waypoint itself, or nobody', () => {
  const head = { oldestVersion: '0', version: '9' }
  const trust = { waypoint: '0:aa', signed_version: '7', signed_power: '5', total_power: '6' } as Trust
  expect(summaryWords(head, trust, undefined)).toContain('Validators signed it up to version 7.')
  const itself = summaryWords(head, { ...trust, signed_power: null, total_power: null }, undefined)
  expect(itself).toContain('The trusted waypoint itself vouches for it up to version 7.')
  expect(summaryWords(head, { ...trust, waypoint: null }, undefined)).toContain('Nobody has signed it')
})
