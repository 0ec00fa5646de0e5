import { expect, it } from 'vitest'
import { codecOfLevel } from './codec-of-level.ts'

const MEMORY = 2 ** 30

it('files that come from the memtable are never compressed', () => {
  for (const compress of ['auto', 'always', 'never'] as const) {
    expect(codecOfLevel(0, 2 ** 50, compress, MEMORY)).toBe('none')
  }
})

it('later levels are compressed always, never, or above level 1 once the store exceeds half of the memory', () => {
  for (const level of [1, 2, 3, 255]) {
    expect(codecOfLevel(level, 0, 'always', MEMORY)).toBe('deflate')
    expect(codecOfLevel(level, 2 ** 50, 'never', MEMORY)).toBe('none')
    expect(codecOfLevel(level, 2 ** 29, 'auto', MEMORY)).toBe('none')
    expect(codecOfLevel(level, 2 ** 29 + 1, 'auto', MEMORY)).toBe(level === 1 ? 'none' : 'deflate')
  }
})
