// A node on a store in a database, under faults of the database and of its own processes, beside a client that knows every
// right answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { runProgram } from '../../testing/program.ts'
import { testRandom } from '../../testing/test-random.ts'

const KILLS = process.env.CI ? 30 : 6

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 })

let server: PostgresServer
let store: string
let bed: NodeBed
beforeEach(async () => {
  server = await startPostgres()
  store = await server.createDatabase('ledger')
  bed = await NodeBed.open()
  bed.source.latest = 1_000
})
afterEach(async () => {
  await bed.close()
  await server.close()
})

/** A node that follows the source, with all of it served. */
async function startNode(...options: string[]): Promise<NodeProcess> {
  const node = await bed.start({ store, options: bed.following('--readers', '2', ...options) })
  await reaches(node, bed.source.latest)
  return node
}

async function statusOf(node: NodeProcess, path: string): Promise<number> {
  const response = await fetch(`${node.address}/v1${path}`)
  await response.arrayBuffer()
  return response.status
}

const BALANCE = '/accounts/0x1/balance/0xa'

function expectSound(): void {
  expect(runProgram(['check', '--store', store])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^sound: /),
  })
}

describe('a node on a database', () => {
  it('is 503, health included, while the server is stopped or gone, and is there again by itself', async () => {
    const node = await startNode()
    const client = bed.startClient(() => node)
    await answersRightly(client)
    for (const [end, begin] of [
      [() => server.halt(), async () => server.proceed()],
      [() => server.kill(), () => server.start()],
    ] as const) {
      await end()
      for (const path of [BALANCE, '/-/healthy', '']) expect(await statusOf(node, path)).toBe(503)
      await begin()
      await eventually(
        async () => (await statusOf(node, BALANCE)) === 200,
        () => `an answer: ${node.output.slice(-2_000)}`,
      )
      bed.source.latest += 100
      await reaches(node, bed.source.latest)
      await answersRightly(client)
    }
    expectSound()
  })

  it(`loses and falsifies nothing where processes and the server are killed, ${KILLS} times`, async () => {
    const random = testRandom()
    const node = await startNode('--retain', '800')
    const client = bed.startClient(() => node)
    bed.grow(5)
    for (let round = 0; round < KILLS; round++) {
      await sleep(random.below(300))
      const durable = client.tally.latest
      const victim = random.pick(['writer', 'reader-0', 'server'])
      if (victim === 'server') {
        await server.kill()
        await server.start()
      } else {
        const pid = await node.pidOf(victim)
        if (pid !== undefined) kill(pid)
      }
      await reaches(node, durable)
      expect(client.tally.wrong).toEqual([])
    }
    bed.stopGrowth()
    await reaches(node, bed.source.latest)
    await answersRightly(client)
    expectSound()
  })

  it('has one writer: a second node stands by and takes over', async () => {
    const first = await startNode()
    const second = await startNode()
    const client = bed.startClient(() => second)
    await answersRightly(client)
    await first.killAll()
    bed.source.latest += 500
    await reaches(second, bed.source.latest)
    await answersRightly(client)
    expectSound()
  })
})
