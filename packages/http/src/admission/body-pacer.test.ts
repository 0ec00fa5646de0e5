import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ledger-state/testing/eventually'
import { expect, it } from 'vitest'
import { BODY_RATE, BodyPacer, LONG_BODY_RATE } from './body-pacer.js'
import { TurnQueue } from './turn-queue.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const CHUNK = 65_536

it('a BodyPacer lets a few megabytes in with one chunk in each turn, and slows down the rest', async () => {
  const bodyPacer = new BodyPacer(new TurnQueue(), BODY_RATE)
  let chunks = 0
  const bringIn = (): void => {
    chunks++
    void bodyPacer.pace(CHUNK).then(bringIn)
  }
  const began = performance.now()
  bringIn()
  for (let turn = 1; turn < 64; turn++) {
    await nextTurn()
    expect(chunks).toBe(turn + 1)
  }
  await eventually(
    () => chunks >= 128,
    () => `128 chunks, have ${chunks}`,
  )
  // 4 MiB more at 32 KiB a millisecond take at least this long, however fast the machine is.
  expect(performance.now() - began).toBeGreaterThan(120)
})

it('a BodyPacer serves those that wait in their order, even after a pause', async () => {
  const bodyPacer = new BodyPacer(new TurnQueue(), BODY_RATE)
  const served: number[] = []
  for (let at = 0; at < 5; at++) void bodyPacer.pace(CHUNK).then(() => served.push(at))
  await eventually(
    () => served.length === 5,
    () => 'five',
  )
  await sleep(1)
  void bodyPacer.pace(CHUNK).then(() => served.push(5))
  await nextTurn()
  expect(served).toEqual([0, 1, 2, 3, 4, 5])
})

it('a BodyPacer slows down each kind of body by itself', async () => {
  const turns = new TurnQueue()
  const [bodyPacer, longBodyPacer] = [new BodyPacer(turns, BODY_RATE), new BodyPacer(turns, LONG_BODY_RATE)]
  const served: string[] = []
  // Uses up thirty seconds of the rate of long bodies.
  void longBodyPacer.pace(30_000 * LONG_BODY_RATE.bytesPerMs).then(() => served.push('long'))
  void bodyPacer.pace(CHUNK).then(() => {
    served.push('short')
    void bodyPacer.pace(CHUNK).then(() => served.push('short again'))
  })
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  expect(served).toEqual(['short', 'short again'])
})
