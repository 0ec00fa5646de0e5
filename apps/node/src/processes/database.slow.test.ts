// A node on a store in a database, under faults of the database and of its own processes, with a client that knows
// every right answer.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Write } from '@ledger-state/core'
import { openPostgresEngine } from '@ledger-state/postgres-engine'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { eventually } from '@ledger-state/testing/eventually'
import { tableItemKey } from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { runProgram } from '../../testing/program.ts'
import { testRandom } from '../../testing/test-random.ts'

const KILLS = 10

let server: PostgresServer
let store: string
let bed: NodeBed
beforeEach(async () => {
  server = await startPostgres()
  // The server accepts any password, and the password must show nowhere.
  store = (await server.createDatabase('ledger')).replace('postgres@', 'postgres:geheim@')
  bed = await NodeBed.open()
  bed.source.latest = 1_000
})
afterEach(async () => {
  await bed.close()
  await server.close()
})

/** Starts a node that follows the source, and waits until all of it is served. */
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

/** Number of items of one MiB each: more than one read may load. */
const LARGE_ITEMS = 300
const BALANCE = '/accounts/0x1/balance/0xa'

function expectSound(): void {
  expect(runProgram(['check', '--store', store])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^sound: /),
  })
}

async function eventuallyPid(node: NodeProcess): Promise<number | undefined> {
  let pid: number | undefined
  await eventually(
    async () => {
      pid = await node.pidOf('reader-0')
      return pid !== undefined
    },
    () => 'the reader to be up',
  )
  return pid
}

const SESSIONS = "SELECT FROM pg_stat_activity WHERE application_name = 'ledger-state'"

describe('a node on a database', () => {
  it('answers 503, even to health and readiness, while the database is down, and recovers by itself', async () => {
    const node = await startNode()
    const client = bed.startClient(() => node)
    await answersRightly(client)
    for (const [end, begin] of [
      [() => server.halt(), async () => server.proceed()],
      [() => server.kill(), () => server.start()],
    ] as const) {
      await end()
      for (const path of [BALANCE, '/-/healthy', '']) {
        const response = await fetch(`${node.address}/v1${path}`)
        expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '5'])
        expect(await response.text()).not.toContain('geheim')
      }
      await eventually(
        async () => (await node.readiness()).why === 'the database does not answer',
        () => `readiness to tell it: ${node.output.slice(-2_000)}`,
      )
      expect((await fetch(`${node.admin}/-/ready`)).status).toBe(503)
      await begin()
      await eventually(
        async () => (await statusOf(node, BALANCE)) === 200 && (await node.readiness()).ready,
        () => `an answer: ${node.output.slice(-2_000)}`,
      )
      bed.source.latest += 100
      await reaches(node, bed.source.latest)
      await answersRightly(client)
    }
    expect(node.output).toMatch(/does not answer/)
    expect(node.output).toMatch(/the database answers again/)
    expect(node.output).not.toContain('geheim')
    expectSound()
  })

  it(`loses and falsifies nothing when processes and the database server are killed ${KILLS} times`, async () => {
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

  it('refuses a batch of hundreds of items of one MiB each, and answers others meanwhile and afterwards', async () => {
    const engine = await openPostgresEngine({ url: store })
    const handle = Buffer.alloc(32, 0xbb)
    const key = (at: number): Buffer => Buffer.from([at & 0xff, at >> 8, 0, 0, 0, 0, 0, 0])
    for (let version = 0; version < LARGE_ITEMS / 100; version++) {
      const writes = Array.from({ length: 100 }, (_, at): Write => {
        return [tableItemKey(handle, key(100 * version + at)), Buffer.alloc(1 << 20, at)]
      })
      const block = { height: BigInt(version), epoch: 0n, timestampUsec: BigInt(version) }
      await engine.commit([{ version: BigInt(version), block, writes }], { chainId: 4 })
    }
    await engine.close()
    const node = await bed.start({ store, options: ['--readers', '1'] })
    const pid = await eventuallyPid(node)
    const item = (at: number) => ({
      path: `/v1/tables/0x${handle.toString('hex')}/raw_item`,
      body: { key: `0x${key(at).toString('hex')}` },
    })
    const send = (count: number) => {
      const body = JSON.stringify({ requests: Array.from({ length: count }, (_, at) => item(at)) })
      return fetch(`${node.address}/v1/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    }
    const hostile = [1, 2].map(async () => {
      const response = await send(LARGE_ITEMS)
      return [response.status, ((await response.json()) as { readonly error_code: string }).error_code]
    })
    await eventually(
      async () => (await statusOf(node, '')) === 200,
      () => 'an answer while they wait',
    )
    for (const outcome of await Promise.all(hostile)) expect(outcome).toEqual([400, 'invalid_input'])
    const few = await send(10)
    expect([few.status, (await few.arrayBuffer()).byteLength > 10 << 20]).toEqual([200, true])
    expect(await node.pidOf('reader-0')).toBe(pid)
  })

  it('reads from a streaming replica, answers correctly while it lags or is down, and then uses it again', async () => {
    const replica = await server.startReplica()
    try {
      const node = await startNode('--store-replicas', replica.url('ledger'))
      const client = bed.startClient(() => node)
      const readsFromIt = () =>
        eventually(
          async () => (await replica.sql(SESSIONS)).length > 0,
          () => 'sessions of the node on the replica',
        )
      await answersRightly(client)
      await readsFromIt()
      for (const [begin, end] of [
        [() => replica.sql('SELECT pg_wal_replay_pause()'), () => replica.sql('SELECT pg_wal_replay_resume()')],
        [async () => replica.halt(), async () => replica.proceed()],
        [() => replica.kill(), () => replica.start()],
      ] as const) {
        await begin()
        bed.source.latest += 100
        await reaches(node, bed.source.latest)
        await answersRightly(client)
        await end()
        await answersRightly(client)
        await readsFromIt()
      }
    } finally {
      await replica.close()
    }
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
