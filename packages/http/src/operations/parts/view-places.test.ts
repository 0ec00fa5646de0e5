import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { PLACES, SHARED_BYTES, TURNS_IN_A_ROW, type ViewPlace, ViewPlaces } from './view-places.js'

/** Takes a place and a number of turns in it, and notes its name at each turn. */
async function runView(places: ViewPlaces, name: string, turns: number, ran: string[]): Promise<void> {
  const place = await places.take()
  for (let turn = 0; turn < turns; turn++) {
    await place.run(0)
    ran.push(name)
    await nextTurn()
  }
  place.leave()
}

const repeat = (name: string, times: number): string[] => Array.from({ length: times }, () => name)

describe('ViewPlaces', () => {
  it('lets a single view run for as long as it takes', async () => {
    const ran: string[] = []
    await runView(new ViewPlaces(), 'a', 3 * TURNS_IN_A_ROW, ran)
    expect(ran).toHaveLength(3 * TURNS_IN_A_ROW)
  })

  it('lets views run one at a time, several turns in a row each', async () => {
    const places = new ViewPlaces()
    const ran: string[] = []
    await Promise.all([
      runView(places, 'a', TURNS_IN_A_ROW + 1, ran),
      runView(places, 'b', 2, ran),
      runView(places, 'c', TURNS_IN_A_ROW + 2, ran),
    ])
    expect(ran).toEqual([
      ...repeat('a', TURNS_IN_A_ROW),
      ...repeat('b', 2),
      ...repeat('c', TURNS_IN_A_ROW),
      'a',
      ...repeat('c', 2),
    ])
  })

  it('gives a place that is left to the view that has waited for the longest time', async () => {
    const places = new ViewPlaces()
    const ran: string[] = []
    const names = Array.from({ length: PLACES + 3 }, (_, at) => `view ${at}`)
    await Promise.all(names.map((name) => runView(places, name, 1, ran)))
    expect(ran).toEqual(names)
  })

  it('lets another view run while one rests', async () => {
    const places = new ViewPlaces()
    const [first, second] = [await places.take(), await places.take()]
    await first.run(0)
    let isRunning = false
    const runs = second.run(0).then(() => {
      isRunning = true
    })
    await nextTurn()
    expect(isRunning).toBe(false)
    first.rest()
    await runs
    second.leave()
    await first.run(0)
    first.leave()
  })

  it('lets the next view run when one leaves before its end', async () => {
    const places = new ViewPlaces()
    const taken: ViewPlace[] = []
    for (let at = 0; at < PLACES; at++) taken.push(await places.take())
    const runs = taken.map((place) => place.run(0))
    for (const [at, place] of taken.entries()) {
      await runs[at]
      place.leave()
    }
    const again = await places.take()
    await again.run(0)
    again.leave()
  })

  it('lets only the oldest view continue once all together hold too much', async () => {
    const places = new ViewPlaces()
    const ran: string[] = []
    const grow = async (name: string) => {
      const place = await places.take()
      for (let turn = 1; turn <= 8; turn++) {
        await place.run((turn * SHARED_BYTES) / 8)
        ran.push(name)
        if (turn === 4) place.rest()
        await nextTurn()
      }
      place.leave()
    }
    await Promise.all(['a', 'b', 'c'].map(grow))
    expect(ran.toSorted()).toEqual(['a', 'b', 'c'].flatMap((name) => repeat(name, 8)))
    // Two views with half of the bytes each leave nothing for the younger ones until the oldest has ended.
    expect(ran.lastIndexOf('a')).toBeLessThan(ran.lastIndexOf('b'))
    expect(ran.lastIndexOf('b')).toBeLessThan(ran.lastIndexOf('c'))
  })

  it('never lets views hold more together than the shared bytes and the charges of one more turn', async () => {
    const places = new ViewPlaces()
    const step = SHARED_BYTES / 16
    const held = new Map<string, number>()
    let most = 0
    const grow = async (name: string) => {
      const place = await places.take()
      for (let bytes = 0; bytes <= SHARED_BYTES / 2; bytes += step) {
        await place.run(bytes)
        held.set(name, bytes + step)
        most = Math.max(
          most,
          [...held.values()].reduce((sum, one) => sum + one, 0),
        )
        if (bytes % (2 * step) === 0) place.rest()
        await nextTurn()
      }
      held.delete(name)
      place.leave()
    }
    await Promise.all(Array.from({ length: 3 * PLACES }, (_, at) => grow(`view ${at}`)))
    expect(most).toBeLessThanOrEqual(SHARED_BYTES + SHARED_BYTES / 2 + step)
  })
})
