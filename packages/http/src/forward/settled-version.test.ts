import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SettledVersion } from './settled-version.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('the settled version is the latest version if one process serves', () => {
  let latest: bigint | undefined
  const settled = new SettledVersion(() => latest, 0)
  expect(settled.has(0n)).toBe(false)
  latest = 5n
  expect([settled.has(5n), settled.has(6n)]).toEqual([true, false])
})

it('the settled version is one that was seen for as long as others may be behind', () => {
  let latest = 5n
  const settled = new SettledVersion(() => latest, 50)
  expect(settled.has(5n)).toBe(false)
  latest = 6n
  vi.advanceTimersByTime(49)
  expect(settled.has(5n)).toBe(false)
  vi.advanceTimersByTime(1)
  expect([settled.has(5n), settled.has(6n)]).toEqual([true, false])
  vi.advanceTimersByTime(49)
  expect(settled.has(6n)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(settled.has(6n)).toBe(true)
})
