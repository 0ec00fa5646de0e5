// A store that keeps whole transactions without their indexes.
import type { StateWriter } from '@ledger-state/engine'
import { encodeWholeTransactionsMark, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream } from '../../testing/fake-upstream.ts'
import { type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createSignedTransactions } from '../../testing/signed-transactions.ts'
import { createEngineChanges } from '../changes/engine-changes.js'

const HASH = `0x${'ab'.repeat(32)}`

describe('an operation that needs an index of transactions that the store leaves out', () => {
  let engine: StateWriter
  let running: RunningServer
  let url: string
  beforeAll(async () => {
    engine = (await createSignedTransactions({ seed: 1 })).engine
    const mark = encodeWholeTransactionsMark({ hashSalt: 'APTOS::', indexes: new Set() })
    const version = engine.ledger!.latestVersion + 1n
    await engine.commit([{ version, writes: [[WHOLE_TRANSACTIONS_KEY, mark]] }], { chainId: engine.ledger!.chainId })
    running = await startServerOver(engine, { changes: createEngineChanges(engine) })
    url = `http://127.0.0.1:${running.port}/v1`
  })
  afterAll(() => stopServer(running))

  it.each([
    ['hash', `/transactions/by_hash/${HASH}`],
    ['hash', `/transactions/wait_by_hash/${HASH}`],
    ['sender', '/accounts/0x1/transactions'],
    ['sender', '/accounts/0x1/transaction_summaries'],
    ['affected', '/accounts/0x1/affecting_transactions'],
    ['event-key', '/accounts/0x1/events/3'],
    ['event-type', '/events/0x1::block::NewBlockEvent'],
    ['event-type', '/stream?event_type=u64'],
  ])('%s: is 403, and names the option: %s', async (index, path) => {
    for (let times = 0; times < 2; times++) {
      const response = await fetch(`${url}${path}`)
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({
        error_code: 'api_disabled',
        message: expect.stringMatching(`does not index .*: --transaction-indexes of its ingest left out ${index}$`),
      })
    }
    if (path.startsWith('/stream')) return
    const response = await fetch(`${url}/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests: [{ path: `/v1${path}` }] }),
    })
    expect(JSON.stringify(await response.json())).toContain('api_disabled')
  })

  it('is asked of the node that --forward names', async () => {
    const upstream = await startFakeUpstream()
    upstream.chainId = Number(engine.ledger!.chainId)
    upstream.version = Number(engine.ledger!.latestVersion) + 9
    const upstreams = { transactions: upstream.url, events: upstream.url }
    const forwarding = await startServerOver(engine, { forward: { upstreams, headers: {} } })
    try {
      const paths = [`/v1/transactions/by_hash/${HASH}`, '/v1/accounts/0x1/transactions', '/v1/accounts/0x1/events/3']
      for (const path of paths) await (await fetch(`http://127.0.0.1:${forwarding.port}${path}`)).text()
      expect(upstream.requests.map((one) => one.url)).toEqual(paths)
    } finally {
      await stopServer(forwarding)
      await upstream.close()
    }
  })
})
