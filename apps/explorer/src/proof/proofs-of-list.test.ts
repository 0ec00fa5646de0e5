import { expect, it } from 'vitest'
import { ProofsOfList } from './proofs-of-list.ts'

it('a list verifies the first twenty entries that come into sight, and others that the visitor asks for', () => {
  const proofs = new ProofsOfList()
  const admitted = Array.from({ length: 25 }, (_, at) => proofs.admits(String(at)))
  expect(admitted).toEqual(Array.from({ length: 25 }, (_, at) => at < 20))
  expect(proofs.admits('3')).toBe(true)
  proofs.ask('23')
  expect([proofs.admits('23'), proofs.admits('24')]).toEqual([true, false])
})

it('a list keeps the outcome of an entry', () => {
  const proofs = new ProofsOfList()
  expect(proofs.outcomeOf('a')).toBe(undefined)
  proofs.keep('a', { refused: 'no' })
  expect(proofs.outcomeOf('a')).toEqual({ refused: 'no' })
})
