// A node that follows another and keeps a slice of its ledger: the real program throughout.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { STEADY_HANDLE } from '../../testing/steady-ledger.ts'

const ARCHIVE = 'https://archive.example/v1'

let bed: NodeBed
beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(() => bed.close())

it('keeps what was asked for while it follows, and continues after it is started again without the option', async () => {
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
      message: expect.stringContaining('--only-account 0xabc keeps it'),
      archival_endpoint: ARCHIVE,
    },
  })
})
