import { Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { RequestHistogram } from './request-histogram.js'

it('reports what a histogram of prom-client does', async () => {
  const ours = new Registry()
  const histogram = new RequestHistogram()
  histogram.register(ours)
  const theirs = new Registry()
  const oracle = new Histogram({
    name: 'ledger_state_http_request_duration_seconds',
    help: 'From the end of the headers of a request until its answer is handed to the socket.',
    labelNames: ['route', 'status'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [theirs],
  })
  for (const [route, status] of [
    ['/v1', 200],
    ['/v1', 503],
    ['other', 404],
  ] as const) {
    for (const seconds of [0, 0.0001, 0.000_100_1, 0.0003, 0.3, 5, 5.1, 1e9]) {
      histogram.observe(route, status, seconds)
      oracle.observe({ route, status: String(status) }, seconds)
    }
  }
  const lines = async (registry: Registry) => (await registry.metrics()).split('\n').sort()
  expect(await lines(ours)).toEqual(await lines(theirs))
  const json = async (registry: Registry) => (await registry.getMetricsAsJSON())[0]!
  expect({ ...(await json(ours)), values: [] }).toEqual({ ...(await json(theirs)), values: [] })
})
