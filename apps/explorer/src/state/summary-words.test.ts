import { expect, it } from 'vitest'
import type { Trust } from '../api/answers.ts'
import { summaryWords } from './summary-words.ts'

it('says who signed the ledger: validators, a waypoint itself, or nobody', () => {
  const head = { oldestVersion: '0', version: '9' }
  const trust = { waypoint: '0:aa', signed_version: '7', signed_power: '5', total_power: '6' } as Trust
  expect(summaryWords(head, trust, undefined, undefined)).toContain('Validators signed it up to version 7.')
  const itself = summaryWords(head, { ...trust, signed_power: null, total_power: null }, undefined, undefined)
  expect(itself).toContain('The trusted waypoint itself vouches for it up to version 7.')
  expect(summaryWords(head, { ...trust, waypoint: null }, undefined, undefined)).toContain('Nobody has signed it')
})

it('does not claim a whole state if the store began with an assumed empty one', () => {
  const head = { oldestVersion: '120', version: '190' }
  const words = (base: 'state' | 'assumed_empty') =>
    summaryWords(head, undefined, undefined, { base, base_version: '100' })
  expect(words('state')).toBe('This node has every state from version 120 to 190.')
  expect(words('assumed_empty')).toBe(
    'This node has a part of every state from version 120 to 190, without values that were written before 100.',
  )
})
