import { describe, expect, it } from 'vitest'
import type { Measure } from './measure.ts'
import { measuresToText, textTable } from './text-table.ts'

describe('textTable', () => {
  it('aligns the first column to the left and the others to the right', () => {
    expect(textTable(['', 'n'], [['a', '100']])).toBe('     n\na  100')
  })
})

describe('measuresToText', () => {
  it('has a row for each subject, a column for each metric, and the ratio to the floor', () => {
    const common = { suite: 'http', title: 'GET', unit: 'ms', better: 'lower', at: {} } as const
    const measures: Measure[] = [
      { ...common, subject: 'ours', role: 'ours', metric: 'p99', rounds: [2, 4, 3] },
      { ...common, subject: 'bare', role: 'floor', metric: 'p99', rounds: [1, 2, 1.5] },
      { ...common, subject: 'ours', role: 'ours', metric: 'p50', rounds: [1] },
      { ...common, subject: 'series', role: 'ours', metric: 'p99', rounds: [1], plotOnly: true },
    ]
    expect(measuresToText(measures)).toBe(
      [
        'http: GET',
        '      p99, ms     spread  × floor  p50, ms',
        'ours     3.00  2.00–4.00     0.50     1.00',
        'bare     1.50  1.00–2.00     1.00         ',
        '',
      ].join('\n'),
    )
  })
})
