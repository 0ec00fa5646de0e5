import { afterEach, expect, it, vi } from 'vitest'
import { fullRounds, scaledRounds, testScale } from './test-scale.ts'

afterEach(() => vi.unstubAllEnvs())

it.each([
  [undefined, 100, 1],
  ['', 100, 1],
  ['0.33', 33, 1],
  ['1', 100, 1],
  ['10', 1_000, 10],
])('with TEST_SCALE=%s a test of 100 rounds makes %i', (setting, ofHundred, ofOne) => {
  vi.stubEnv('TEST_SCALE', setting)
  expect(scaledRounds(100)).toBe(ofHundred)
  expect(scaledRounds(1)).toBe(ofOne)
  expect(fullRounds(100)).toBe(Math.max(100, ofHundred))
})

it.each(['0', '-1', 'most', '1001', 'NaN'])('refuses TEST_SCALE=%s', (setting) => {
  vi.stubEnv('TEST_SCALE', setting)
  expect(testScale).toThrow(`TEST_SCALE=${setting} is not a number above 0, up to 1000`)
})
