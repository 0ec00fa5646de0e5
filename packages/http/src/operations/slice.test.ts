// Answers of a slice over HTTP: its specification, its members, and that it does not know the rest.
import { engineToAsync } from '@ledger-state/engine'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { OUTSIDE_OF_SLICE } from '@ledger-state/slices'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEventStream, type ServerSentEvent } from '../../testing/event-stream.ts'
import { startFakeUpstream } from '../../testing/fake-upstream.ts'
import { createOneItemEngine, type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { slicedLedger } from '../../testing/sliced-ledger.ts'
import { createEngineChanges } from '../changes/engine-changes.js'
import { createRequestListener } from '../server/create-request-listener.js'

const ARCHIVE = 'https://archive.example/v1'
const UNKNOWN = 'this store keeps only part of the ledger and does not have'

type Get = (
  path: string,
  body?: object,
) => Promise<{
  readonly status: number
  readonly json: { readonly members?: unknown; readonly message?: string }
  readonly cursor: unknown
}>

function clientOf(ledger: Parameters<typeof createRequestListener>[0]['ledger']): Get {
  const listener = createRequestListener({
    ledger,
    archivalEndpoint: ARCHIVE,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return async (path, body) => {
    const post = body && { method: 'POST' as const, payload: JSON.stringify(body) }
    const { statusCode, headers, payload } = await inject(listener, {
      url: `/v1${path}`,
      ...(post && { ...post, headers: { 'content-type': 'application/json' } }),
    })
    return { status: statusCode, json: JSON.parse(payload), cursor: headers['x-aptos-cursor'] }
  }
}

describe.each(['an engine', 'an engine whose reads are promises'])('a slice over %s', (kind) => {
  let get: Get
  beforeAll(async () => {
    const engine = await slicedLedger()
    get = clientOf(kind === 'an engine' ? createLedger(engine) : createAsyncLedger(engineToAsync(engine)))
  })

  const ASKED = { id: '0xa1', joined_by: 'asked', since_version: '0', known_whole: true }
  const OWNED = { id: '0xb1', joined_by: 'owner', since_version: '3', known_whole: false }

  it('states its specification, its members with their first versions, and the excluded data', async () => {
    const account = { kind: 'account', value_type: null, keys: 1 }
    const { json, cursor } = await get('/-/slice')
    expect(json).toEqual({
      asked: { accounts: 1, tables: 0, types: ['0x9::m::*'] },
      outside: OUTSIDE_OF_SLICE,
      left_out: { keys: 0, bytes: 0, writes: 2, written_bytes: 90 },
      scanned: 2,
      members: [
        { ...account, ...ASKED, bytes: expect.any(Number) },
        { ...account, ...OWNED, bytes: expect.any(Number) },
      ],
    })
    expect(cursor).toBeUndefined()
  })

  it('lists its members in pages, and only those that joined since a version', async () => {
    const first = await get('/-/slice?limit=1')
    expect(first.json.members).toMatchObject([ASKED])
    const second = await get(`/-/slice?limit=1&start=${first.cursor}`)
    expect(second.json.members).toMatchObject([OWNED])
    expect(second.cursor).toBeUndefined()
    expect((await get('/-/slice?joined_since=1')).json).toMatchObject({ scanned: 2, members: [OWNED] })
    expect((await get('/-/slice?ledger_version=2')).json.members).toMatchObject([ASKED])
    expect((await get('/-/slice?ledger_version=2')).json).toMatchObject({ left_out: null })
    expect((await get('/-/slice?joined_since=x')).status).toBe(400)
  })

  it.each([
    ['/accounts/0xa2/resource/0x42::main::R', `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`],
    [
      '/accounts/0xa2/resource/0x42::main::R/history',
      `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`,
    ],
    ['/accounts/0xa2/resources', `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`],
    ['/accounts/0xa2/changes?from=0', `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`],
    // Both reads look in a primary store, whose address the client did not name.
    ['/accounts/0xa2/balance/0xa', `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`],
    ['/accounts/0xa2/balance/0xa/history', `${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`],
    ['/tables/0x7/items', `${UNKNOWN} table 0x7; ingest with --only-table 0x7 to keep it`],
    [
      '/accounts/0xb1/resources',
      'this store has only the values of account 0xb1 that were written since version 3; other values',
    ],
    [
      '/accounts/0xb1/resource/0x42::main::R',
      'this store has only the values of account 0xb1 that were written since version 3; other values',
    ],
  ])('answers GET %s with 410, the line that would have kept it, and where an archive is', async (path, message) => {
    const { status, json } = await get(path)
    expect(json).toMatchObject({ error_code: 'version_pruned', archival_endpoint: ARCHIVE })
    expect(status).toBe(410)
    expect(json.message).toContain(message)
  })

  it('answers a view that reads outside with the line that would have kept it, and no other', async () => {
    const call = (holder: string) => ({ function: '0x42::main::value', type_arguments: [], arguments: [holder] })
    expect(await get('/view', call('0xa1'))).toMatchObject({ status: 200, json: ['7'] })
    for (const path of ['/view', '/view/history']) {
      const { status, json } = await get(path, call('0xa2'))
      expect(json.message).toContain(`${UNKNOWN} account 0xa2; ingest with --only-account 0xa2 to keep it`)
      expect(json).toMatchObject({ error_code: 'version_pruned', archival_endpoint: ARCHIVE })
      expect(status).toBe(410)
    }
  })

  it('says why it has no proofs', async () => {
    expect(await get('/accounts/0xa1/resource/0x42::main::R?proof=true')).toMatchObject({
      status: 400,
      json: {
        message:
          'this store cannot serve proofs: it keeps only part of the ledger, and a proof needs the whole state tree',
      },
    })
  })

  it('searches no other accounts', async () => {
    const { status, json } = await get('/types/0x42::main::R/uses')
    expect(json.message).toContain('cannot search all accounts')
    expect(status).toBe(410)
  })

  it('says the same of an element of a batch', async () => {
    const batch = { requests: [{ path: '/v1/accounts/0xa1/resource/0x42::main::R' }, { path: '/v1/accounts/0xa2' }] }
    const { json } = await get('/batch', batch)
    expect(JSON.stringify(json)).toContain(`${UNKNOWN} account 0xa2`)
    expect(JSON.stringify(json)).toContain('"7"')
  })
})

/** The slice, and a block whose transaction it left out. */
async function slicedTransactions(): ReturnType<typeof slicedLedger> {
  const engine = await slicedLedger()
  const { latestVersion, latestBlock } = engine.ledger!
  const block = { ...latestBlock, height: latestBlock.height + 1n }
  const writes = [[WHOLE_TRANSACTIONS_KEY, new TextEncoder().encode('APTOS::')] as const]
  await engine.commit([{ version: latestVersion + 1n, block, writes }], { chainId: engine.ledger!.chainId })
  return engine
}

it('a slice does not say that a block is not found, if the hash is in a transaction that it left out', async () => {
  const running = await startServerOver(await slicedTransactions(), {})
  try {
    const path = `http://127.0.0.1:${running.port}/v1/blocks/by_height/2`
    for (const query of ['', '?with_transactions=true', '']) {
      const response = await fetch(path + query, { headers: { accept: 'application/x-bcs' } })
      expect([response.status, await response.json()]).toMatchObject([410, { error_code: 'version_pruned' }])
    }
    const json = await fetch(path)
    expect([json.status, await json.json()]).toMatchObject([200, { block_height: '2', block_hash: null }])
  } finally {
    await stopServer(running)
  }
})

describe('a stream over a slice', () => {
  let running: RunningServer
  beforeAll(async () => {
    const engine = await slicedTransactions()
    running = await startServerOver(engine, { changes: createEngineChanges(engine) })
  })
  afterAll(() => stopServer(running))
  const open = (query: string) => openEventStream(`http://127.0.0.1:${running.port}/v1/stream?from=1&${query}`)

  it('does not begin for events of any type, which the slice does not have', async () => {
    for (let again = 0; again < 2; again++) {
      const stream = await open('event_type=0x1::a::B')
      expect([stream.status, JSON.parse(await stream.text())]).toMatchObject([410, { error_code: 'version_pruned' }])
    }
  })

  it('ends, with the line that would have kept it, where its view reads outside', async () => {
    const call = (holder: string) =>
      JSON.stringify({ function: '0x42::main::value', type_arguments: [], arguments: [holder] })
    const outside = await open(`view=${encodeURIComponent(call('0xa2'))}`)
    const events: ServerSentEvent[] = []
    for (let event = await outside.next(); event; event = await outside.next()) events.push(event)
    expect(events.at(-1)).toMatchObject({ event: 'pruned', data: expect.stringContaining(`${UNKNOWN} account 0xa2`) })
    const inside = await open(`view=${encodeURIComponent(call('0xa1'))}`)
    for (let event = await inside.next(); ; event = await inside.next()) {
      expect(event).toMatchObject({ event: 'message' })
      if (event!.data !== '') break
    }
    inside.close()
  })
})

it('a slice asks an upstream for excluded data, and for nothing else', async () => {
  const upstream = await startFakeUpstream()
  const running = await startServerOver(await slicedLedger(), { forward: { upstreams: { state: upstream.url } } })
  const url = (address: string) => `http://127.0.0.1:${running.port}/v1/accounts/${address}/resource/0x42::main::R`
  try {
    expect(await (await fetch(url('0xa2'))).text()).toBe('{"answered":true}')
    expect(await (await fetch(url('0xa1'))).json()).toEqual({ type: '0x42::main::R', data: { value: '7' } })
    expect(upstream.requests).toHaveLength(1)
    // The client has seen a version that the upstream does not have, so its answer is too old.
    const seen = { headers: { 'x-svc-min-ledger-version': '3' } }
    expect((await fetch(url('0xa2'), seen)).status).toBe(200)
    upstream.version = 2
    for (let again = 0; again < 2; again++) {
      const late = await fetch(url('0xa2'), seen)
      expect([late.status, late.headers.get('retry-after')]).toEqual([503, expect.any(String)])
      expect(await late.json()).toMatchObject({ message: expect.stringContaining('version 3 is not served here yet') })
    }
    expect((await fetch(url('0xa2'))).status).toBe(200)
    expect((await fetch(`${url('0xa2')}?ledger_version=2`, seen)).status).toBe(200)
  } finally {
    await stopServer(running)
    await upstream.close()
  }
})

it('a store that keeps everything has no slice', async () => {
  const get = clientOf(createLedger(await createOneItemEngine()))
  expect((await get('/-/slice')).json).toEqual({ asked: null, outside: null, left_out: null, scanned: 0, members: [] })
})
