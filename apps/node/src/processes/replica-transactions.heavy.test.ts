import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateReader } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { type IngestOptions, ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { createFeedListener, fetchSnapshot } from '@ledger-state/replication'
import { openStateEngine, openStateEngineReader, type StateEngine } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const KIT = 'conformance/transactions'
/** Last version of the snapshot: the feed brings the later ones. */
const SNAPSHOT = 40n

interface Shown {
  readonly version: string
  readonly hash: string
  readonly sender?: string
  readonly events?: readonly { readonly guid: { readonly account_address: string; readonly creation_number: string } }[]
}

// This needs the shared folder.
describe.runIf(hasSharedData)('the whole transactions of a replica', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replica-transactions-'))
  const closing: (() => Promise<unknown>)[] = []
  let urls: { readonly source: string; readonly replica: string }

  async function listen(server: Server): Promise<string> {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closing.push(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const serve = (engine: StateReader): Promise<string> =>
    listen(createHttpServer({ ledger: createLedger(engine), maxEventLoopDelayMs: Number.POSITIVE_INFINITY }))

  async function ingest(engine: StateEngine, path: string, options: IngestOptions = {}): Promise<void> {
    const source = await openSource(sharedPath(path), { thread: false, unsigned: true })
    await ingestSource(engine, source, { keepTransactions: 'whole', ...options })
    await source.close()
  }

  beforeAll(async () => {
    const path = join(folder, 'source')
    const source = openStateEngine({ path, durability: 'none' })
    await ingest(source, 'data/genesis/devnet.genesis.blob')
    await ingest(source, `${KIT}/gallery`, { to: SNAPSHOT })
    const reader = openStateEngineReader({ path })
    const feed = createFeedListener({ engine: reader, snapshotFolder: join(folder, 'snapshots') })
    const address = await listen(createServer(feed.listener as RequestListener))
    expect(await fetchSnapshot(address, join(folder, 'replica'))).toBe(true)
    const replica = openStateEngine({ path: join(folder, 'replica'), durability: 'none' })
    expect(replica.ledger?.latestVersion).toBe(SNAPSHOT)
    const stop = new AbortController()
    const live = await openSource(address, { follow: true })
    const following = ingestSource(replica, live, { signal: stop.signal })
    await ingest(source, `${KIT}/gallery`)
    await eventually(
      () => replica.ledger!.latestVersion === source.ledger!.latestVersion,
      () => `replica at ${replica.ledger!.latestVersion}, source at ${source.ledger!.latestVersion}`,
    )
    stop.abort()
    await following
    await live.close()
    urls = { source: await serve(source), replica: await serve(replica) }
    closing.push(
      async () => feed.close(),
      () => reader.close(),
      () => source.close(),
      () => replica.close(),
    )
  }, 120_000)

  afterAll(async () => {
    for (const close of closing) await close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function answer(url: string, path: string, accept: string) {
    const { status, headers, body } = await fetch(`${url}/v1${path}`, { headers: { accept } }).then(
      async (response) => ({
        status: response.status,
        headers: response.headers,
        body: Buffer.from(await response.arrayBuffer()).toString('latin1'),
      }),
    )
    return { status, body, latest: headers.get('x-aptos-ledger-version') }
  }

  it('match its source, from the snapshot and from the feed, as JSON and BCS', async () => {
    const list = await fetch(`${urls.source}/v1/transactions?start=1&limit=100`)
    const shown = (await list.json()) as Shown[]
    expect(shown.some(({ version }) => BigInt(version) <= SNAPSHOT)).toBe(true)
    expect(shown.some(({ version }) => BigInt(version) > SNAPSHOT)).toBe(true)
    const senders = [...new Set(shown.flatMap(({ sender }) => sender ?? []))].slice(0, 5)
    const streams = shown.flatMap(({ events = [] }) => events.map(({ guid }) => guid))
    const paths = [
      '/transactions?start=0&limit=100',
      ...shown
        .filter((_, at) => at % 4 === 0)
        .flatMap(({ version, hash }) => [
          `/transactions/by_version/${version}`,
          `/transactions/by_hash/${hash}`,
          `/blocks/by_version/${version}?with_transactions=true`,
        ]),
      ...senders.flatMap((sender) => [
        `/accounts/${sender}/transactions?start=0`,
        `/accounts/${sender}/transaction_summaries`,
        `/accounts/${sender}/affecting_transactions?order=asc`,
      ]),
      ...streams.slice(0, 10).map((guid) => `/accounts/${guid.account_address}/events/${guid.creation_number}`),
      '/events/0x1::block::NewBlockEvent?order=asc',
      `/transactions/by_hash/0x${'ab'.repeat(32)}`,
      '/transactions/by_version/1000000',
    ]
    for (const path of paths) {
      for (const accept of ['application/json', 'application/x-bcs']) {
        const expected = await answer(urls.source, path, accept)
        expect([path, accept, await answer(urls.replica, path, accept)]).toEqual([path, accept, expected])
      }
    }
  }, 120_000)
})
