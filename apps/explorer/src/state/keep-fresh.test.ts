import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Failure } from '../api/failure.ts'
import { type Fresh, keepFresh } from './keep-fresh.ts'
import { newest } from './ledger.ts'

const BUSY: Failure = { kind: 'overloaded', message: 'busy', retryAfterMs: 3_000 }
const ABSENT: Failure = { kind: 'absent', message: 'not there' }
const head = (version: number) => ({
  version: String(version),
  chainId: '4',
  oldestVersion: '0',
  timestampUsec: '0',
  height: '0',
  oldestHeight: '0',
  epoch: '0',
})

let fresh: Fresh
/** Outcomes of the next loads, in turn. Each load takes 100 ms. */
let ends: (Failure | undefined)[]
let loads: number
let isLive: boolean

const start = (): void => {
  fresh = keepFresh({
    async load() {
      loads++
      await new Promise((resolve) => setTimeout(resolve, 100))
      return ends.shift()
    },
    isLive: () => isLive,
  })
}

beforeEach(() => {
  vi.useFakeTimers()
  newest.value = head(1)
  loads = 0
  ends = []
  isLive = true
})
afterEach(() => {
  fresh.stop()
  vi.useRealTimers()
})

it('keepFresh loads once while the ledger does not grow', async () => {
  start()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(loads).toBe(1)
})

it('keepFresh loads again after the ledger grew, with a rest of ten times the last load, and never twice at a time', async () => {
  start()
  await vi.advanceTimersByTimeAsync(50)
  for (let version = 2; version < 10; version++) newest.value = head(version)
  await vi.advanceTimersByTimeAsync(1_040)
  expect(loads).toBe(1)
  await vi.advanceTimersByTimeAsync(20)
  expect(loads).toBe(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(loads).toBe(2)
})

it('keepFresh loads a state that does not change once', async () => {
  isLive = false
  start()
  newest.value = head(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(loads).toBe(1)
})

it('keepFresh asks again after a failure that may pass, and after no other', async () => {
  ends = [BUSY, BUSY, ABSENT]
  start()
  await vi.advanceTimersByTimeAsync(3_150)
  expect(loads).toBe(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(loads).toBe(3)
})

it('keepFresh loads again when it is asked to, once the load under way has ended', async () => {
  start()
  fresh.again()
  expect(loads).toBe(1)
  await vi.advanceTimersByTimeAsync(110)
  expect(loads).toBe(2)
})

it('keepFresh stops when it is asked to', async () => {
  ends = [BUSY]
  start()
  await vi.advanceTimersByTimeAsync(150)
  fresh.stop()
  newest.value = head(5)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(loads).toBe(1)
})
