// Transactions that stay after their state is pruned, in each kind of store and in its copies.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AsyncStateWriter, StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, openSource, stateToFeedLine, versionToFeedLine } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { type IngestOptions, ingestSource } from '@ledger-state/ingest'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { openDatabaseWriter } from './open-database.js'

const KIT = 'conformance/transactions'
const RETAINED = { keepTransactions: 'whole', retain: 12n, retainTransactions: 100_000n } as const
const BCS = { accept: 'application/x-bcs' }

async function fill(engine: StateWriter | AsyncStateWriter, options: IngestOptions): Promise<void> {
  for (const path of ['data/genesis/devnet.genesis.blob', `${KIT}/gallery`]) {
    const source = await openSource(sharedPath(path), { thread: false, unsigned: true })
    await ingestSource(engine, source, options)
    await source.close()
  }
}

// These need the shared folder.
describe.runIf(hasSharedData)('transactions that stay after their state is pruned', () => {
  const folder = mkdtempSync(join(tmpdir(), 'retained-'))
  const closing: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
  let paths: readonly string[]
  let complete: string
  let kept: string
  let engine: ReturnType<typeof openStateEngine>

  async function serve(ledger: Parameters<typeof createHttpServer>[0]['ledger']): Promise<string> {
    const server = createHttpServer({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closing.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }

  function open(name: string): ReturnType<typeof openStateEngine> {
    const opened = openStateEngine({ path: join(folder, name) })
    closing.push(() => opened.close())
    return opened
  }

  beforeAll(async () => {
    const all = open('all')
    await fill(all, { keepTransactions: 'whole' })
    complete = await serve(createLedger(all))
    engine = open('retained')
    await fill(engine, RETAINED)
    kept = await serve(createLedger(engine))
    const shown = (await (await fetch(`${complete}/transactions?start=1&limit=100`)).json()) as {
      hash: string
      sender?: string
      version: string
      events?: { type: string }[]
    }[]
    const users = shown.filter(({ sender }) => sender)
    paths = [
      '/transactions',
      '/transactions?start=0&limit=3',
      '/transactions?start=20&limit=60',
      '/transactions/auxiliary_info?start_version=0',
      '/accounts/0x1/events/2',
      '/accounts/0x1/events/2?start=0&limit=9',
      '/accounts/0x1/events/0x1::block::BlockResource/new_block_events?start=5&limit=9',
      '/accounts/0x1/affecting_transactions?order=asc&limit=9',
      '/accounts/0x1/affecting_transactions?limit=20',
      ...['/accounts/0x1/affecting_transactions', '/events/0x1::block::NewBlockEvent'].flatMap((path) => [
        `${path}?to=60&limit=3`,
        `${path}?from=20&to=60&order=asc&limit=3`,
        `${path}?from=60&to=60`,
      ]),
      ...users
        .slice(0, 10)
        .flatMap(({ hash, version, sender }) => [
          `/transactions/by_version/${version}`,
          `/transactions/by_hash/${hash}`,
          `/accounts/${sender}/transactions?start=0`,
          `/accounts/${sender}/transaction_summaries`,
        ]),
      ...new Set(users.flatMap(({ events = [] }) => events.map(({ type }) => `/events/${type}?order=asc&limit=5`))),
    ].slice(0, 80)
  }, 120_000)
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  /** Compares the answers of a node with those of one that keeps everything, each twice. */
  async function expectSame(url: string): Promise<void> {
    for (let times = 0; times < 2; times++) {
      for (const path of paths) {
        for (const headers of [{}, BCS]) {
          const [expected, found] = await Promise.all([complete, url].map((node) => fetch(node + path, { headers })))
          const [expectedBytes, bytes] = await Promise.all([expected!, found!].map((one) => one.arrayBuffer()))
          const text = (body: ArrayBuffer) => Buffer.from(body).toString('latin1')
          expect([path, found!.status, text(bytes!)]).toEqual([path, expected!.status, text(expectedBytes!)])
          expect(found!.headers.get('x-svc-cursor')).toBe(expected!.headers.get('x-svc-cursor'))
        }
      }
    }
  }

  it('are answered like those of the window', async () => {
    expect(engine.ledger!.oldestVersion).toBeGreaterThan(100n)
    await expectSame(kept)
    expect((await fetch(`${kept}/accounts/0x1?ledger_version=3`)).status).toBe(410)
  }, 300_000)

  it('are not searched from a time before the window, because only the state knows the times of versions', async () => {
    const paths = ['/accounts/0x1/affecting_transactions', '/events/0x1::block::NewBlockEvent']
    const { oldestVersion, oldestBlock } = engine.ledger!
    const oldest = new Date(Number(oldestBlock.timestampUsec / 1_000n)).toISOString().slice(0, -1)
    const windowTime = `${oldest}${String(oldestBlock.timestampUsec).slice(-3)}Z`
    for (const path of paths) {
      const ask = (node: string, from: string) => fetch(`${node}${path}?order=asc&from=${from}`)
      const early = await ask(kept, '2023-07-11')
      expect([early.status, (await early.json()) as object]).toEqual([
        410,
        expect.objectContaining({ error_code: 'version_pruned' }),
      ])
      for (const from of ['3', windowTime]) {
        expect(await (await ask(kept, from)).text()).toBe(await (await ask(complete, from)).text())
      }
      expect(await (await ask(kept, windowTime)).text()).toBe(await (await ask(kept, String(oldestVersion))).text())
    }
  })

  it('are in snapshots, exports and stores ingested from them', async () => {
    await engine.snapshot(join(folder, 'snapshot'))
    await expectSame(await serve(createLedger(open('snapshot'))))
    const { oldestVersion, oldestBlock, latestVersion, chainId } = engine.ledger!
    const lines = [
      feedHeaderLine({
        chainId: Number(chainId),
        base: { version: oldestVersion, block: oldestBlock, complete: true },
      }),
      stateToFeedLine([...engine.at(oldestVersion).scan(new Uint8Array(0))]),
      ...Array.from(engine.versions(oldestVersion + 1n, latestVersion), versionToFeedLine),
    ]
    const feed = join(folder, 'feed.ndjson')
    writeFileSync(feed, `${lines.join('\n')}\n`)
    const copy = open('copy')
    const source = await openSource(feed, { thread: false })
    await ingestSource(copy, source, { retain: 1n, retainTransactions: 100_000n })
    await source.close()
    await expectSame(await serve(createLedger(copy)))
  }, 300_000)

  it('are in a database', async () => {
    const server = await startPostgres()
    closing.push(() => server.close())
    const writer = await openDatabaseWriter(await server.createDatabase('retained'), true)
    closing.push(() => writer.close())
    await fill(writer, RETAINED)
    await expectSame(await serve(createAsyncLedger(writer)))
  }, 300_000)

  it('need a window of the state that is smaller', () => {
    const bed = new CommandBed()
    for (const words of [
      ['--retain-transactions', '5'],
      ['--retain-transactions', '5', '--retain', '5'],
    ]) {
      const { status, stderr } = bed.run('ingest', 'x.ndjson', '--data-dir', 'd', ...words)
      expect(stderr).toContain('--retain-transactions')
      expect(status).toBe(2)
    }
  })
})
