import { describe, expect, it } from 'vitest'
import type { Measure } from '../report/measure.ts'
import { comparisonToText } from './compare.ts'
import { type BenchResult, startResult } from './result-file.ts'

const measure = (subject: string, rounds: readonly number[], better: Measure['better'] = 'lower'): Measure => ({
  suite: 'codec',
  title: 'CoinStore',
  subject,
  role: 'ours',
  metric: 'time',
  unit: 'ns',
  better,
  rounds,
  at: {},
})

function resultOf(scale: BenchResult['scale'], measures: Measure[]): BenchResult {
  const run = { scale, notes: [], measures }
  return startResult('pnpm bench codec')(run, ['codec'])
}

describe('comparisonToText', () => {
  it('gives a verdict if the spreads do not overlap', () => {
    const before = resultOf('tiny', [
      measure('slow', [100, 110]),
      measure('same', [100, 110]),
      measure('rate', [5], 'higher'),
    ])
    const after = resultOf('tiny', [
      measure('slow', [50, 60]),
      measure('same', [105, 120]),
      measure('rate', [1], 'higher'),
    ])
    const text = comparisonToText(before, after)
    expect(text).toMatch(/codec: CoinStore, slow, time .* 1\.83 +better\n/)
    expect(text).toMatch(/codec: CoinStore, same, time .* 0\.92 *\n/)
    expect(text).toMatch(/codec: CoinStore, rate, time .* 0\.20 +worse\n/)
    expect(text).not.toContain('cannot be compared')
  })

  it('warns if the scales differ', () => {
    expect(comparisonToText(resultOf('tiny', []), resultOf('small', []))).toContain('cannot be compared')
  })
})
