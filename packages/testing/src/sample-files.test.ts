import { afterEach, expect, it, vi } from 'vitest'
import { sampleFiles } from './sample-files.ts'

afterEach(() => vi.unstubAllEnvs())

it.each([
  { among: 2, firsts: ['ac', 'ad', 'bc', 'bd'] },
  { among: 3, firsts: ['a', 'b', 'c', 'ad', 'ae', 'bd', 'be', 'cd', 'ce'] },
])(
  'a sample of files has one of each $among neighbours, the same for the same seed, and over many seeds each as often',
  ({ among, firsts }) => {
    const files = ['e', 'b', 'a', 'd', 'c']
    const times = new Map<string, number>()
    for (let seed = 1; seed <= 1_000; seed++) {
      vi.stubEnv('TEST_SEED', String(seed))
      const sample = sampleFiles(files, among)
      expect(sampleFiles(files, among)).toEqual(sample)
      expect(firsts).toContain(sample.slice(0, 2).join(''))
      for (const file of sample) times.set(file, (times.get(file) ?? 0) + 1)
    }
    for (const file of files) expect(Math.abs(times.get(file)! - 1_000 / among)).toBeLessThan(80)
  },
)
