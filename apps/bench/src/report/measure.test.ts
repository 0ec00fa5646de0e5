import { describe, expect, it } from 'vitest'
import { formatNumber, type Measure, ratioToFloor, toFigure } from './measure.ts'

const measure = (changes: Partial<Measure>): Measure => ({
  suite: 'suite',
  title: 'title',
  subject: 'ours',
  role: 'ours',
  metric: 'time',
  unit: 'ns',
  better: 'lower',
  rounds: [1],
  at: {},
  ...changes,
})

describe('toFigure', () => {
  it('has the median of the rounds, their least and their most', () => {
    expect(toFigure([5, 1, 9])).toEqual({ median: 5, least: 1, most: 9 })
  })
})

describe('formatNumber', () => {
  it('has three significant digits and the unit', () => {
    expect([0, 0.01234, 1.234, 12.34, 1234.5].map((value) => formatNumber(value, 'ms'))).toEqual([
      '0 ms',
      '0.012 ms',
      '1.23 ms',
      '12.3 ms',
      '1,235 ms',
    ])
  })
})

describe('ratioToFloor', () => {
  it('is the median of the ratios within rounds that took turns', () => {
    const floor = measure({ role: 'floor', rounds: [1, 10, 3] })
    expect(ratioToFloor(measure({ rounds: [2, 40, 3] }), [floor])).toBe(0.5)
    expect(ratioToFloor(measure({ rounds: [2, 40, 3], better: 'higher' }), [floor])).toBe(2)
  })

  it('is the ratio of the medians where the numbers of rounds differ', () => {
    expect(ratioToFloor(measure({ rounds: [4] }), [measure({ role: 'floor', rounds: [1, 2, 3] })])).toBe(0.5)
  })

  it('is undefined without a floor for the metric', () => {
    const floor = measure({ role: 'floor', metric: 'size' })
    expect(ratioToFloor(measure({}), [floor])).toBeUndefined()
    expect(ratioToFloor(measure({ metric: 'size', better: 'neither' }), [floor])).toBeUndefined()
  })
})
