import { Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { SecondsHistogram } from './seconds-histogram.js'

const COMMON = { name: 'duration_seconds', help: 'How long it took.' }
const BUCKETS_SECONDS = [0.000_1, 0.005, 1, 5]
const OBSERVED = [0, 0.0001, 0.000_100_1, 0.0003, 0.3, 5, 5.1, 1e9]

async function expectSameReports(ours: Registry, theirs: Registry): Promise<void> {
  const lines = async (registry: Registry) => (await registry.metrics()).split('\n').sort()
  expect(await lines(ours)).toEqual(await lines(theirs))
  const json = async (registry: Registry) => (await registry.getMetricsAsJSON())[0]!
  expect({ ...(await json(ours)), values: [] }).toEqual({ ...(await json(theirs)), values: [] })
}

it('a SecondsHistogram reports the same lines as a histogram of prom-client', async () => {
  const ours = new Registry()
  const histogram = new SecondsHistogram({ ...COMMON, bucketsSeconds: BUCKETS_SECONDS }, ours)
  const theirs = new Registry()
  const oracle = new Histogram({
    ...COMMON,
    labelNames: ['route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [theirs],
  })
  for (const labels of [
    { route: '/v1', status: '200' },
    { route: '/v1', status: '503' },
    { route: 'other', status: '404' },
  ]) {
    const series = histogram.addSeries(labels)
    for (const seconds of OBSERVED) {
      series.observe(seconds)
      oracle.observe(labels, seconds)
    }
  }
  await expectSameReports(ours, theirs)
})

it('a SecondsHistogram reports the same lines as a histogram of prom-client without labels, even before the first observation', async () => {
  const ours = new Registry()
  const series = new SecondsHistogram({ ...COMMON, bucketsSeconds: BUCKETS_SECONDS }, ours).addSeries({})
  const theirs = new Registry()
  const oracle = new Histogram({ ...COMMON, buckets: BUCKETS_SECONDS, registers: [theirs] })
  await expectSameReports(ours, theirs)
  for (const seconds of OBSERVED) {
    series.observe(seconds)
    oracle.observe(seconds)
  }
  await expectSameReports(ours, theirs)
})
