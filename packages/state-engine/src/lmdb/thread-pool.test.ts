import { expect, it } from 'vitest'
import { spareThreads } from './thread-pool.js'

it.each([
  [undefined, 2],
  ['', 2],
  ['nonsense', 2],
  ['0', 0],
  ['1', 0],
  ['2', 1],
  ['5', 2],
  ['8', 4],
  ['16', 8],
  ['24', 16],
  ['1024', 1_016],
  ['5000', 1_016],
])('a pool with UV_THREADPOOL_SIZE=%s spares %i threads', (size, spare) => {
  expect(spareThreads(size)).toBe(spare)
})
