// Connections on their way to a reader that stalls, ends or is replaced get their answers from another reader.
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ledger-state/testing/eventually'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { askFresh as ask, NO_ANSWER, startFreshClient } from '../../testing/fresh-client.ts'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'

vi.setConfig({ testTimeout: 3_600_000 })

/**
 * Number of all rotations of readers; TEST_SCALE=40 takes half an hour. A reader that is killed again and again is
 * restarted after 2 s.
 */
const ROTATIONS = fullRounds(25)
const KILLS = Math.ceil(ROTATIONS / 10)
const CLIENTS = 4
/** Time that a reader is stopped before it is killed, longer than an offer holds. */
const STALL_MS = 1_000

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await bed.close()
})

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

async function pidOf(node: NodeProcess, name: string, notPid?: number): Promise<number> {
  let pid: number | undefined
  await eventually(
    async () => {
      pid = await node.pidOf(name)
      return pid !== undefined && pid !== notPid
    },
    () => `${name}: ${node.output.slice(-1_000)}`,
  )
  return pid!
}

it('a reader that stalls and is killed loses no connection, and the supervisor keeps no descriptor', async () => {
  bed.source.latest = 100
  const node = await bed.start({ options: bed.following('--readers', '2') })
  await reaches(node, 100)
  const pid = await pidOf(node, 'reader-0')
  await pidOf(node, 'reader-1')
  expect(await ask(node.address)).toBe('200')
  const before = descriptors(node.child.pid!)
  kill(pid, 'SIGSTOP')
  const stalled = await Promise.all(Array.from({ length: 50 }, () => ask(node.address)))
  expect(stalled.filter((status) => status !== '200')).toEqual([])
  const asked = Array.from({ length: 50 }, () => ask(node.address))
  kill(pid)
  expect((await Promise.all(asked)).filter((status) => status !== '200')).toEqual([])
  await pidOf(node, 'reader-0', pid)
  await eventually(
    () => descriptors(node.child.pid!) <= before,
    () => `${descriptors(node.child.pid!)} descriptors, ${before} before`,
  )
})

it('a single reader that stalls and resumes answers the requests that waited for it', async () => {
  bed.source.latest = 100
  const node = await bed.start({ options: bed.following('--readers', '1') })
  await reaches(node, 100)
  const pid = await pidOf(node, 'reader-0')
  kill(pid, 'SIGSTOP')
  const asked = Array.from({ length: 20 }, () => ask(node.address))
  // Waits longer than an offer holds, so that all offers are withdrawn meanwhile.
  await sleep(2_000)
  kill(pid, 'SIGCONT')
  expect((await Promise.all(asked)).filter((status) => status !== '200')).toEqual([])
})

it.each([
  ['SIGTERM', ROTATIONS - 2 * KILLS],
  ['SIGKILL', KILLS],
  ['SIGSTOP and SIGKILL', KILLS],
] as const)(
  'sending %s to readers in turn, %i times under fresh connections, leaks no descriptor',
  async (signals, rounds) => {
    bed.source.latest = 100
    const node = await bed.start({ options: bed.following('--readers', '2') })
    await reaches(node, 100)
    for (const name of ['reader-0', 'reader-1']) await pidOf(node, name)
    const before = descriptors(node.child.pid!)
    const client = startFreshClient(() => node.address, CLIENTS, 5)
    for (let round = 0; round < rounds; round++) {
      const name = `reader-${round % 2}`
      const pid = await pidOf(node, name)
      if (signals === 'SIGSTOP and SIGKILL') {
        kill(pid, 'SIGSTOP')
        await sleep(STALL_MS)
      }
      kill(pid, signals === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
      await pidOf(node, name, pid)
    }
    await client.stop()
    console.log(`${rounds} × ${signals}: ${JSON.stringify([...client.outcomes])}`)
    const failed = [...client.outcomes].filter(([status]) => status !== '200')
    expect(failed.filter(([status]) => status === NO_ANSWER)).toEqual([])
    // SIGTERM loses no request. A killed reader loses the requests that it was answering, at most one of each client.
    const lost = failed.reduce((sum, [, count]) => sum + count, 0)
    expect(lost, JSON.stringify(failed)).toBeLessThanOrEqual(signals === 'SIGTERM' ? 0 : rounds * CLIENTS)
    await eventually(
      () => descriptors(node.child.pid!) <= before,
      () => `${descriptors(node.child.pid!)} descriptors, ${before} before`,
    )
  },
)
