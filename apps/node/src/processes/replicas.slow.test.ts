// A node with replicas: they begin with a snapshot of its store, follow its feed, and outlive its absence.

import { existsSync } from 'node:fs'
import { STORE_FILE } from '@ledger-state/state-engine'
import { type Damage, flipBit, startDamagingProxy } from '@ledger-state/testing/damaging-proxy'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { answersRightly, NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(async () => {
  await bed.close()
})

/** Starts a node that follows the source and serves replicas, on the address of an earlier one if that is given. */
async function startSource(feed = '127.0.0.1:0'): Promise<{ node: NodeProcess; feed: string }> {
  const node = await bed.start({ options: bed.following('--readers', '1', '--serve-feed', feed) })
  const output = await node.outputMatching(/serving replicas on (http:[^"\s]+)/)
  return { node, feed: /serving replicas on (http:[^"\s]+)/.exec(output)![1]! }
}

const startReplica = async (feed: string, name: string) =>
  await bed.start({ dataDir: bed.at(name), options: ['--replica-of', feed, '--readers', '1'] })

it('replicas begin with a snapshot, follow their source, and answer correctly while it is killed and restarted', async () => {
  bed.source.latest = 500
  const address = `127.0.0.1:${await freePort()}`
  const { node, feed } = await startSource(address)
  await reaches(node, 500)
  const [first, second] = [await startReplica(feed, 'first'), await startReplica(feed, 'second')]
  expect(await first.version()).toBeGreaterThanOrEqual(500)
  const client = bed.startClient(() => first)
  bed.grow(20)
  for (const replica of [first, second]) await reaches(replica, 1_000)
  await answersRightly(client)
  await node.killAll()
  await answersRightly(client)
  await startSource(address)
  const { latest } = bed.source
  for (const replica of [first, second]) await reaches(replica, latest)
  await answersRightly(client)
})

it('a replica resumes after it is killed, even in the middle of its snapshot', async () => {
  bed.source.latest = 3_000
  const { node, feed } = await startSource()
  await reaches(node, 3_000)
  const begun = bed.launch({ dataDir: bed.at('replica'), options: ['--replica-of', feed, '--readers', '1'] })
  await eventually(
    () => existsSync(bed.at('replica/snapshot.unfinished')) || begun.output.includes('serving'),
    () => begun.output,
  )
  await begun.killAll()
  const replica = await startReplica(feed, 'replica')
  bed.grow(20)
  await reaches(replica, 3_200)
  const pid = await replica.pidOnceUp('writer')
  kill(pid)
  await eventually(
    async () => ((await replica.pidOf('writer')) ?? pid) !== pid,
    () => replica.output,
  )
  await reaches(replica, (await node.version()) + 100)
  await answersRightly(bed.startClient(() => replica))
})

it('a replica fetches its snapshot and feed again when they arrive damaged', async () => {
  bed.source.latest = 3_000
  const { node, feed } = await startSource()
  await reaches(node, 3_000)
  const proxy = await startDamagingProxy(() => feed)
  const html: Damage = (_, response) => response.end('<html>maintenance</html>')
  const left: [RegExp, Damage][] = [
    [/^GET \/$/, html],
    [/^POST \/snapshots$/, (body, response) => response.end(body.subarray(0, 50))],
    [/\/state\.mdb$/, flipBit(0.3)],
    [/\/state\.mdb$/, flipBit(0.9)],
    [/^GET \/$/, html],
  ]
  proxy.damageOf = (method, path) => (left[0]?.[0].test(`${method} ${path}`) ? left.shift()![1] : undefined)
  try {
    const replica = await startReplica(proxy.url, 'replica')
    expect(replica.output).toMatch(/state\.mdb arrived damaged: the piece at byte 0 /)
    bed.grow(20)
    await reaches(replica, 3_500)
    expect(left).toEqual([])
    await answersRightly(bed.startClient(() => replica))
  } finally {
    await proxy.close()
  }
})

it('a replica says when its source serves no feed, and then creates no store', async () => {
  bed.source.latest = 10
  const replica = bed.launch({ dataDir: bed.at('replica'), options: ['--replica-of', bed.source.url] })
  expect(await replica.outputMatching(/does not serve a feed to replicas/)).toMatch(/--serve-feed/)
  expect(existsSync(bed.at(`replica/${STORE_FILE}`))).toBe(false)
})
