import { afterEach, expect, it, vi } from 'vitest'
import { slowRounds, slowShareDivisor } from './slow-share.ts'

afterEach(() => vi.unstubAllEnvs())

it.each([
  [undefined, 1, 100],
  ['all', 1, 100],
  ['half', 2, 50],
  ['third', 3, 34],
])('with SLOW_FILES=%s one of %i slow files runs, and %i of 100 rounds', (setting, files, rounds) => {
  vi.stubEnv('SLOW_FILES', setting)
  expect(slowShareDivisor()).toBe(files)
  expect(slowRounds(100)).toBe(rounds)
  expect(slowRounds(1)).toBe(1)
})

it('another share of the slow files is refused with those that there are', () => {
  vi.stubEnv('SLOW_FILES', 'most')
  expect(slowShareDivisor).toThrow('SLOW_FILES=most, not one of all,half,third')
})
