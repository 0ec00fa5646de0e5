// Connections on their way to a reader that stalls, ends or is replaced get their answers from another one.
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'

vi.setConfig({ testTimeout: 900_000 })

const ROTATIONS = process.env.CI ? 200 : 20
/** A reader that is killed again and again is restarted after 2 s. */
const KILLS = ROTATIONS / 10

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await bed.close()
})

/** One request on a connection of its own. Resolves with its status, or what went wrong. */
function ask(address: string): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setTimeout(30_000, () => socket.destroy(new Error('no answer in 30 s')))
    socket.on('connect', () => socket.write('GET /v1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'))
    socket.on('data', (piece) => {
      text += piece
    })
    socket.on('error', (error) => resolve(error.message))
    socket.on('close', () => resolve(/^HTTP\/1.1 (\d+) /.exec(text)?.[1] ?? `closed after ${text.length} bytes`))
  })
}

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

it('a single reader that stalls and resumes answers what waited for it', async () => {
  bed.source.latest = 100
  const node = await bed.start({ options: bed.following('--readers', '1') })
  await reaches(node, 100)
  const pid = await pidOf(node, 'reader-0')
  kill(pid, 'SIGSTOP')
  const asked = Array.from({ length: 20 }, () => ask(node.address))
  // Longer than an offer holds: all of them are withdrawn meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  kill(pid, 'SIGCONT')
  expect((await Promise.all(asked)).filter((status) => status !== '200')).toEqual([])
})

it.each([
  ['SIGTERM', ROTATIONS],
  ['SIGKILL', KILLS],
] as const)('%s to readers in turn, %i times under fresh connections, leaks no descriptor', async (signal, rounds) => {
  bed.source.latest = 100
  const node = await bed.start({ options: bed.following('--readers', '2') })
  await reaches(node, 100)
  for (const name of ['reader-0', 'reader-1']) await pidOf(node, name)
  const before = descriptors(node.child.pid!)
  const outcomes = new Map<string, number>()
  let isOver = false
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const status = await ask(node.address)
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1)
    }
  })
  for (let round = 0; round < rounds; round++) {
    const name = `reader-${round % 2}`
    const pid = await pidOf(node, name)
    kill(pid, signal)
    await pidOf(node, name, pid)
  }
  isOver = true
  await Promise.all(clients)
  const failed = [...outcomes].filter(([status]) => status !== '200')
  // A request that a killed reader was answering is lost with it; none may hang, and SIGTERM loses none.
  if (signal === 'SIGTERM') expect(failed).toEqual([])
  expect(failed.filter(([status]) => /no answer/.test(status))).toEqual([])
  await eventually(
    () => descriptors(node.child.pid!) <= before,
    () => `${descriptors(node.child.pid!)} descriptors, ${before} before`,
  )
})
