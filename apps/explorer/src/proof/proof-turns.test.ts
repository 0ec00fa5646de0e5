import { expect, it } from 'vitest'
import { ProofTurns } from './proof-turns.ts'

it('proof turns run one task after the other, even after one that failed, and do not begin an aborted one', async () => {
  const turns = new ProofTurns()
  const seen: string[] = []
  const never = new AbortController().signal
  const stop = new AbortController()
  let isRunning = false
  const run = (name: string) => async () => {
    expect(isRunning).toBe(false)
    isRunning = true
    await Promise.resolve()
    isRunning = false
    seen.push(name)
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const taken = [turns.take(run('a'), never), turns.take(run('b'), never), turns.take(run('c'), stop.signal)]
  taken.push(turns.take(run('d'), never))
  stop.abort(new Error('left'))
  const ends = await Promise.allSettled(taken)
  expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))).toEqual([
    'a',
    'Error: b failed',
    'Error: left',
    'd',
  ])
  expect(seen).toEqual(['a', 'b', 'd'])
})
