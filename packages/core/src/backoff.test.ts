import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Backoff, pauseFor } from './backoff.js'

describe('a backoff', () => {
  it('doubles its pauses up to the longest, leaves out half of each at most, and starts over after a success', () => {
    const options = fc.record({
      firstMs: fc.integer({ min: 1, max: 1e6 }),
      longestMs: fc.integer({ min: 1, max: 1e6 }),
    })
    fc.assert(
      fc.property(options, fc.array(fc.boolean(), { minLength: 1, maxLength: 2_000 }), (pauses, failures) => {
        const backoff = new Backoff(pauses)
        let full = pauses.firstMs
        let inARow = 0
        for (const isFailure of failures) {
          if (isFailure) {
            const bound = Math.min(full, pauses.longestMs)
            const pause = backoff.next()
            expect(pause).toBeGreaterThanOrEqual(bound / 2)
            expect(pause).toBeLessThanOrEqual(bound)
            full *= 2
            inARow++
          } else {
            backoff.reset()
            full = pauses.firstMs
            inARow = 0
          }
          expect(backoff.failures).toBe(inARow)
        }
      }),
    )
  })

  it('lets callers that failed together come back one by one', () => {
    const pauses = Array.from({ length: 20 }, () => new Backoff({ firstMs: 1_000, longestMs: 1_000 }).next())
    expect(new Set(pauses).size).toBeGreaterThan(1)
  })

  it('waits for as long as the other side asks', () => {
    const backoff = new Backoff({ firstMs: 10, longestMs: 20 })
    expect(backoff.next(7_000)).toBe(7_000)
    expect(backoff.next(1)).toBeGreaterThanOrEqual(10)
  })

  it('never waits for anything but a number, however many failures there were', () => {
    const backoff = new Backoff({ firstMs: 1, longestMs: 50 })
    for (let failure = 0; failure < 3_000; failure++) backoff.next()
    expect(backoff.next()).toBeLessThanOrEqual(50)
  })
})

describe('pauseFor', () => {
  it('is over at once where its time is over already, without a warning of Node', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    await pauseFor(-14)
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  it('ends with its time, and leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    await pauseFor(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('ends with the signal, even where that was aborted before', async () => {
    const stop = new AbortController()
    const paused = pauseFor(1e9, stop.signal)
    stop.abort()
    await paused
    await pauseFor(1e9, stop.signal)
  })
})
