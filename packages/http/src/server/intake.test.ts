import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ledger-state/testing/eventually'
import { expect, it } from 'vitest'
import { Intake } from './intake.js'
import { TurnQueue } from './turn-queue.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const CHUNK = 65_536

it('lets a few megabytes in with one chunk in each turn, and slows down what follows', async () => {
  const intake = new Intake(new TurnQueue())
  let chunks = 0
  const bringIn = (): void => {
    chunks++
    intake.pace(CHUNK, false, bringIn)
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
  // 4 MiB more at 32 KiB in a millisecond, however slow the machine is.
  expect(performance.now() - began).toBeGreaterThan(120)
})

it('serves those that wait in their order, also after a pause', async () => {
  const intake = new Intake(new TurnQueue())
  const served: number[] = []
  for (let at = 0; at < 5; at++) intake.pace(CHUNK, false, () => served.push(at))
  await eventually(
    () => served.length === 5,
    () => 'five',
  )
  await sleep(1)
  intake.pace(CHUNK, false, () => served.push(5))
  await nextTurn()
  expect(served).toEqual([0, 1, 2, 3, 4, 5])
})

it('serves long bodies when no other one waits', async () => {
  const intake = new Intake(new TurnQueue())
  const served: string[] = []
  intake.pace(CHUNK, true, () => served.push('long'))
  intake.pace(CHUNK, false, () => {
    served.push('short')
    intake.pace(CHUNK, false, () => served.push('short again'))
  })
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  expect(served).toEqual(['short', 'short again', 'long'])
})
