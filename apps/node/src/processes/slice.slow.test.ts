// A node that follows another and keeps a slice of its ledger: the real program throughout.
import { existsSync } from 'node:fs'
import type { AsyncSnapshot } from '@ledger-state/engine'
import { openPostgresEngineReader } from '@ledger-state/postgres-engine'
import { startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { decodeCommitMark } from '@ledger-state/records'
import { openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill, type NodeProcess } from '../../testing/node-process.ts'
import { STEADY_HANDLE } from '../../testing/steady-ledger.ts'

const ARCHIVE = 'https://archive.example/v1'

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(() => bed.close())

it('a node with a slice keeps its members while it follows, and continues after a restart without the option', async () => {
  bed.source.latest = 100
  const first = await bed.start({ options: bed.following('--only-table', STEADY_HANDLE) })
  await reaches(first, 100)
  await first.killAll()
  bed.source.latest = 200
  const node = await bed.start({ options: bed.following('--archival-endpoint', ARCHIVE) })
  await reaches(node, 200)
  const get = async (path: string) => {
    const response = await fetch(`${node.address}/v1${path}`)
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  expect(await get('/-/slice')).toMatchObject({
    status: 200,
    json: { asked: { accounts: 0, tables: 1, types: [] }, members: [{ kind: 'table', known_whole: true }] },
  })
  const { json } = await get(`/tables/${STEADY_HANDLE}/items?limit=3`)
  expect(json.items).toHaveLength(3)
  expect(await get('/accounts/0xabc/resources')).toMatchObject({
    status: 410,
    json: {
      error_code: 'version_pruned',
      message: expect.stringContaining('ingest with --only-account 0xabc to keep it'),
      archival_endpoint: ARCHIVE,
    },
  })
})

describe('a replica of a whole node that keeps a slice', () => {
  const ONLY = ['--only-table', STEADY_HANDLE, '--readers', '1']

  async function startSource(): Promise<{ node: NodeProcess; feed: string }> {
    const node = await bed.start({ options: bed.following('--readers', '1', '--serve-feed', '127.0.0.1:0') })
    const output = await node.outputMatching(/serving replicas on (http:[^"\s]+)/)
    return { node, feed: /serving replicas on (http:[^"\s]+)/.exec(output)![1]! }
  }

  async function expectSliceOf(node: NodeProcess, replica: NodeProcess): Promise<void> {
    const get = async (from: NodeProcess, path: string) => {
      const response = await fetch(`${from.address}/v1${path}`)
      return { status: response.status, json: (await response.json()) as Record<string, unknown> }
    }
    const items = `/tables/${STEADY_HANDLE}/items?limit=20&ledger_version=290`
    expect(await get(replica, items)).toEqual(await get(node, items))
    expect((await get(replica, '/accounts/0xabc/resources')).status).toBe(410)
    expect((await get(replica, '/-/slice')).json).toMatchObject({ asked: { tables: 1 }, members: [{ kind: 'table' }] })
  }

  it('takes its part of a snapshot, follows, and holds the hash of everything, even after it is killed and without --only', async () => {
    bed.source.latest = 300
    const { node, feed } = await startSource()
    await reaches(node, 300)
    const options = ['--replica-of', feed, ...ONLY]
    const begun = bed.launch({ dataDir: bed.at('slice'), options })
    await eventually(
      () => existsSync(bed.at('slice/snapshot-of-whole')) || begun.output.includes('serving'),
      () => begun.output,
    )
    await begun.killAll()
    if (existsSync(bed.at('slice/snapshot-of-whole'))) {
      for (const source of ['--replica-of', '--follow']) {
        const whole = bed.launch({ dataDir: bed.at('slice'), options: [source, feed, '--readers', '1'] })
        await whole.outputMatching(
          /the ingest of a slice of a snapshot into .*slice was interrupted: .* with the same --only/,
        )
      }
    }
    const replica = await bed.start({ dataDir: bed.at('slice'), options })
    expect(existsSync(bed.at('slice/snapshot-of-whole'))).toBe(false)
    bed.grow(10)
    await reaches(replica, 400)
    kill(await replica.pidOnceUp('writer'))
    await reaches(replica, bed.source.latest + 20)
    await replica.killAll()
    const again = await bed.start({ dataDir: bed.at('slice'), options: ['--replica-of', feed, '--readers', '1'] })
    await reaches(again, bed.source.latest + 20)
    bed.stopGrowth()
    for (const one of [node, again]) await reaches(one, bed.source.latest)
    await expectSliceOf(node, again)
    for (const one of [again, node]) await one.killAll()
    const [slice, whole] = ['slice', 'store'].map((name) => openStateEngineReader({ path: bed.at(name) }))
    const { wholeHash } = decodeCommitMark(slice!.mark)
    expect(wholeHash).toEqual(decodeCommitMark(whole!.mark).writesHash)
    for (const engine of [slice!, whole!]) await engine.close()
  })

  it('takes its part of a snapshot, and follows, on PostgreSQL, too', async () => {
    const server = await startPostgres()
    try {
      const store = await server.createDatabase('slice')
      bed.source.latest = 300
      const { node, feed } = await startSource()
      await reaches(node, 300)
      const replica = await bed.start({ store, options: ['--replica-of', feed, ...ONLY] })
      bed.source.latest = 400
      for (const one of [node, replica]) await reaches(one, 400)
      await expectSliceOf(node, replica)
      for (const one of [replica, node]) await one.killAll()
      const engine = await openPostgresEngineReader({ url: store })
      const { mark }: AsyncSnapshot = await engine.snapshot()
      await engine.close()
      const whole = openStateEngineReader({ path: bed.at('store') })
      expect(decodeCommitMark(mark).wholeHash).toEqual(decodeCommitMark(whole.mark).writesHash)
      await whole.close()
    } finally {
      await server.close()
    }
  })

  it('is not made from a node that keeps a slice itself', async () => {
    bed.source.latest = 100
    const follows = bed.following('--serve-feed', '127.0.0.1:0', ...ONLY)
    const node = await bed.start({ options: follows })
    await reaches(node, 100)
    const output = await node.outputMatching(/serving replicas on (http:[^"\s]+)/)
    const feed = /serving replicas on (http:[^"\s]+)/.exec(output)![1]!
    const replica = bed.launch({ dataDir: bed.at('slice'), options: ['--replica-of', feed, ...ONLY] })
    await replica.outputMatching(/itself keeps a slice: a replica without --only keeps the same slice/)
    expect(existsSync(bed.at(`slice/${STORE_FILE}`))).toBe(false)
  })
})
