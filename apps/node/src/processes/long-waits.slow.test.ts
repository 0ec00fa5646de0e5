// Tests that wait for a minute and more, all at the same time; the real program throughout.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ledger-state/testing/eventually'
import { describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { openConnections } from '../../testing/open-connections.ts'

/** Pause of a client that sends requests for a minute and more. */
const SELDOM_MS = 50

async function withBed(test: (bed: NodeBed) => Promise<void>): Promise<void> {
  const bed = await NodeBed.open()
  try {
    await test(bed)
  } finally {
    await bed.close()
  }
}

/**
 * Resolves once `count` connections are open at the same time. On a busy machine readers take some too late, and these
 * are closed; others replace them.
 */
async function holdConnections(address: string, count: number): Promise<readonly Socket[]> {
  let open: Socket[] = []
  await eventually(
    async () => {
      open = [...open, ...(await openConnections(address, count - open.length))].filter(({ destroyed }) => !destroyed)
      return open.length === count
    },
    () => `${count} connections; ${open.length} were open`,
  )
  return open
}

describe.concurrent('a node', () => {
  it('kills no process and fails no request when its supervisor is paused beyond the silence limit', () =>
    withBed(async (bed) => {
      bed.source.latest = 500
      const node = await bed.start({ options: bed.following('--readers', '2') })
      await reaches(node, 500)
      const pids = async () => (await node.readiness()).processes.map(({ pid }) => pid)
      await eventually(
        async () => (await node.readiness()).processes.every(({ state }) => state === 'up'),
        () => node.output,
      )
      const before = await pids()
      bed.grow(5)
      const client = bed.startClient(() => node, SELDOM_MS)
      await answersRightly(client)
      node.child.kill('SIGSTOP')
      await sleep(66_000)
      node.child.kill('SIGCONT')
      // Waits long enough for a check of the silence.
      await sleep(6_000)
      expect(await pids()).toEqual(before)
      expect(node.output).not.toMatch(/has not reported/)
      bed.stopGrowth()
      await reaches(node, bed.source.latest)
      await answersRightly(client)
      expect([...client.tally.errors.keys()].filter((kind) => !['404', '410'].includes(kind))).toEqual([])
      expect(await node.stop()).toBe(0)
    }))

  it('answers active clients while 10,000 connections are idle', () =>
    withBed(async (bed) => {
      bed.source.latest = 200
      const startNode = (idleSeconds: string) =>
        bed.start({ options: bed.following('--readers', '2', '--idle-timeout', idleSeconds) })
      // However long a busy machine takes to open the connections, none is closed before the last is open.
      const patient = await startNode('3600')
      await reaches(patient, 200)
      const idle = await holdConnections(patient.address, 10_000)
      const asking = bed.startClient(() => patient, SELDOM_MS)
      await answersRightly(asking)
      await asking.stop()
      for (const socket of idle) socket.destroy()
      expect(await patient.stop()).toBe(0)

      const node = await startNode('5')
      await reaches(node, 200)
      const closed = await openConnections(node.address, 10_000)
      const client = bed.startClient(() => node, SELDOM_MS)
      await eventually(
        () => closed.every((socket) => socket.destroyed),
        () => 'the end of idle connections',
      )
      await answersRightly(client)
    }))
})
