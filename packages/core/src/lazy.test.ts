import { describe, expect, it } from 'vitest'
import { Lazy } from './lazy.js'

describe('a lazy value', () => {
  it('is loaded once for all who ask', async () => {
    let loads = 0
    const lazy = new Lazy(async () => ++loads)
    expect(loads).toBe(0)
    expect(await Promise.all([lazy.get(), lazy.get()])).toEqual([1, 1])
    expect(await lazy.get()).toBe(1)
    lazy.clear()
    expect(await lazy.get()).toBe(2)
  })

  it('is loaded again after a failure, which all who asked before get', async () => {
    let loads = 0
    const lazy = new Lazy(async () => {
      loads++
      if (loads === 1) throw new Error('once')
      return loads
    })
    const results = await Promise.allSettled([lazy.get(), lazy.get()])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await lazy.get()).toBe(2)
  })

  it('keeps a newer value if an older load fails', async () => {
    let fail = (_: Error): void => {}
    const loads = [() => new Promise<string>((_, reject) => (fail = reject)), async () => 'newer']
    const lazy = new Lazy(() => loads.shift()!())
    const older = lazy.get()
    lazy.clear()
    expect(await lazy.get()).toBe('newer')
    fail(new Error('late'))
    await expect(older).rejects.toThrow('late')
    expect(await lazy.get()).toBe('newer')
  })
})
