import { expect, it } from 'vitest'
import { type Sample, seriesOf } from './series.ts'

const sample = (seconds: number, values: Record<string, number>): Sample => ({
  time: seconds * 1_000,
  values: Object.fromEntries(Object.entries(values).map(([name, value]) => [`ledger_state_${name}`, value])),
})

const texts = (samples: readonly Sample[], title: string): readonly string[] => {
  const { points, format } = seriesOf(samples).find((series) => series.title === title)!
  return points.map(({ y }) => format(y))
}

it('counters are drawn as their growth in a second, which is none after a restart', () => {
  const samples = [2_000, 2_500, 100].map((latest_version, at) => sample(10 * at, { latest_version }))
  expect(texts(samples, 'Versions a second')).toEqual(['50', '0.00'])
})

it('the window, the caches and the mean answer come from two measures each', () => {
  const name = 'http_request_duration_seconds'
  const samples = [
    sample(0, { latest_version: 2_999, oldest_version: 993, [`${name}_count`]: 10, [`${name}_sum`]: 1 }),
    sample(10, { cache_bytes: 9, cache_capacity_bytes: 36, [`${name}_count`]: 10, [`${name}_sum`]: 1 }),
    sample(20, { [`${name}_count`]: 14, [`${name}_sum`]: 1.01 }),
  ]
  expect(texts(samples, 'Versions kept')).toEqual(['2\u2009007'])
  expect(texts(samples, 'Caches in use')).toEqual(['25.0 %'])
  expect(texts(samples, 'Mean time of an answer')).toEqual(['2.5 ms'])
  expect(texts(samples, 'File')).toEqual([])
})
