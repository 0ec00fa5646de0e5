import { Buffer } from 'node:buffer'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress, type VersionWrites } from '@ledger-state/core'
import { type LedgerSource, type LedgerVersion, openSource } from '@ledger-state/feed'
import { type IngestOptions, ingestSliceOfStore, ingestSource } from '@ledger-state/ingest'
import {
  bytesToTransaction,
  decodeCommitMark,
  type KeptTransaction,
  TRANSACTIONS_KEY,
  transactionKey,
} from '@ledger-state/records'
import {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  STORE_FILE,
  type StateEngine,
} from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BegunSnapshot, fetchSnapshot } from './fetch/fetch-snapshot.js'
import { createFeedListener, type FeedListener } from './serve/feed-listener.js'

const CHAIN = 4
const KEYS = 40
/** Number of commits that ten replicas follow. */
const ROUNDS = fullRounds(20)
/** Pause between those commits. */
const PAUSE_MS = 20

/** All versions that were committed to the source. */
const committed: LedgerVersion[] = []
const HANDLES = [parseAddress('0x7'), parseAddress('0x8')] as const

let folder: string
let source: StateEngine
let reader: LmdbEngineReader
let feed: FeedListener
let server: Server
let url: string
const replicas: StateEngine[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'replication-'))
  committed.length = 0
  source = openStateEngine({ path: join(folder, 'source'), durability: 'none' })
  await commit(30)
  await openFeed()
})
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.close()
  await closeFeed()
  await source.close()
  rmSync(folder, { recursive: true, force: true })
})

async function openFeed(port = 0): Promise<void> {
  reader = openStateEngineReader({ path: join(folder, 'source') })
  feed = createFeedListener({ engine: reader, snapshotFolder: join(folder, 'snapshots') })
  server = createServer(feed.listener)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function closeFeed(): Promise<void> {
  feed.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await reader.close()
}

/** Commits versions that write, overwrite and delete, each in a separate block, as an ingest does. */
async function commit(count: number, keepTransactions: 'none' | 'summary' = 'none'): Promise<void> {
  const next = source.ledger ? source.ledger.latestVersion + 1n : 0n
  const versions = Array.from({ length: count }, (_, at): LedgerVersion => {
    const version = next + BigInt(at)
    const key = (place: bigint) => Buffer.from(`key ${(version * 7n + place) % BigInt(KEYS)}`)
    const deletes = version % 5n === 4n
    return {
      version,
      readTransaction: () => transactionOf(version),
      block: { height: version, epoch: 0n, timestampUsec: 10n * version },
      writes: [
        [key(0n), Buffer.from(`value ${version}`)],
        [key(3n), deletes ? null : Buffer.alloc(Number(version % 300n), 7)],
        [itemKey(HANDLES[Number(version % 2n)]!, Number(version % 5n)), Buffer.from(`${version}`)],
      ],
    }
  })
  committed.push(...versions)
  await ingestSource(source, listOf(versions), { keepTransactions })
}

/** State key of a table item, or a prefix of the keys of a table. */
function itemKey(handle: Uint8Array, ...key: number[]): Buffer {
  return Buffer.from([1, ...handle, ...key])
}

function listOf(versions: readonly LedgerVersion[]): LedgerSource {
  return {
    description: 'list',
    chainId: CHAIN,
    position: 'list',
    mark: Buffer.from('mark'),
    progress: { done: 0, total: 0, unit: 'versions' },
    async *versions() {
      yield* versions
    },
    async close() {},
  }
}

/** The newest state of an engine, as a source like a backup. */
function stateOf(engine: StateEngine): LedgerSource {
  const { latestVersion: version, latestBlock: block } = engine.ledger!
  return {
    ...listOf([]),
    base: {
      version,
      complete: true,
      async *parts() {
        yield { entries: [...engine.at(version).scan(new Uint8Array(0))], mark: Buffer.from('all') }
      },
      describe: () => ({ chainId: CHAIN, block, mark: undefined }),
    },
  }
}

function transactionOf(version: bigint): KeptTransaction {
  return { kind: 'user', hash: new Uint8Array(32).fill(Number(version)), isSuccess: true, sender: new Uint8Array(32) }
}

async function openReplica(name: string): Promise<StateEngine> {
  const path = join(folder, name)
  expect(await fetchSnapshot(url, path)).toBe(true)
  const replica = openStateEngine({ path, durability: 'none' })
  replicas.push(replica)
  return replica
}

/** Follows the feed until it is stopped, then throws the error that ended it. */
function follow(replica: StateEngine, options: IngestOptions = {}) {
  const stop = new AbortController()
  const notices: string[] = []
  const ended = openSource(url, { follow: true, onNotice: (message) => notices.push(message) }).then(async (live) => {
    await ingestSource(replica, live, { ...options, signal: stop.signal })
    await live.close()
  })
  ended.catch(() => {})
  return {
    notices,
    ended,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

async function isCaughtUp(...stores: readonly StateEngine[]): Promise<void> {
  await eventually(
    () => stores.every(({ ledger }) => ledger?.latestVersion === source.ledger!.latestVersion),
    () => `replicas at ${stores.map(({ ledger }) => ledger?.latestVersion)}, source at ${source.ledger!.latestVersion}`,
  )
}

/** Opens a store that keeps a slice of one of the tables, made from a snapshot of the source. */
async function openSlicedReplica(name: string): Promise<StateEngine> {
  const path = join(folder, `${name} whole`)
  const begun: BegunSnapshot[] = []
  expect(await fetchSnapshot(url, path, { onBegin: async (snapshot) => void begun.push(snapshot) })).toBe(true)
  expect(begun).toEqual([{ bytes: begun[0]!.bytes, missing: begun[0]!.bytes, isSlice: false }])
  const whole = openStateEngineReader({ path })
  const slice = openStateEngine({ path: join(folder, name), durability: 'none' })
  replicas.push(slice)
  const only = { spec: { accounts: [], tables: [HANDLES[0]], types: [] } }
  await ingestSliceOfStore(slice, whole, { only, description: 'snapshot' })
  await whole.close()
  return slice
}

/**
 * Makes a slice and its source hold different values of a key outside of the slice. Returns the version that writes
 * them.
 */
async function forgeOutside(slice: StateEngine): Promise<bigint> {
  const version = slice.ledger!.latestVersion + 1n
  const block = { height: version, epoch: 0n, timestampUsec: 10n * version }
  const outside = (value: string): VersionWrites => ({
    version,
    block,
    writes: [[Buffer.from('key of nobody'), Buffer.from(value)]],
  })
  await ingestSource(slice, { ...listOf([outside('forged')]), isStore: true })
  await ingestSource(source, listOf([outside('right')]))
  await commit(3)
  return version
}

/** Opens a feed that sees the present state of the store. */
async function openFeedAnew(): Promise<void> {
  const { port } = server.address() as AddressInfo
  await closeFeed()
  await openFeed(port)
}

const items = (engine: StateEngine, at: number) => [...engine.at().scan(itemKey(HANDLES[at]!))]
const everything = (engine: StateEngine) =>
  [...engine.at().scan(new Uint8Array(0))].map(({ key, value }) => [key.toString(), value.toString()])

describe('a replica', () => {
  it('keeps a slice of a whole source, where it began with one', async () => {
    const slice = openStateEngine({ path: join(folder, 'slice'), durability: 'none' })
    replicas.push(slice)
    await ingestSource(slice, listOf(committed), { only: { spec: { accounts: [], tables: [HANDLES[0]], types: [] } } })
    const following = follow(slice)
    await commit(25)
    await isCaughtUp(slice)
    await following.stop()
    expect(items(slice, 0)).toEqual(items(source, 0))
    expect(items(source, 0).length).toBe(5)
    expect(items(slice, 1)).toEqual([])
    expect([...slice.at().scan(Buffer.from('key'))]).toEqual([])
    expect(slice.ledger).toEqual(source.ledger)
  })

  it('of a part of its source takes that part out of a snapshot, and computes the hash of everything since', async () => {
    await source.prune(12n)
    await openFeedAnew()
    const slice = await openSlicedReplica('slice')
    for (let round = 0; round < 3; round++) {
      const following = follow(slice)
      await commit(25)
      await isCaughtUp(slice)
      await following.stop()
      expect(decodeCommitMark(slice.mark).wholeHash).toEqual(decodeCommitMark(source.mark).writesHash)
      await slice.prune(20n)
    }
    expect(items(slice, 0)).toEqual(items(source, 0))
    expect(items(slice, 1)).toEqual([])
  })

  it('of a part of its source stops where a write differs that it does not keep', async () => {
    const slice = await openSlicedReplica('slice')
    const version = await forgeOutside(slice)
    const held = decodeCommitMark(slice.mark)
    await expect(follow(slice).ended).rejects.toMatchObject({ code: 'ledger_fork' })
    expect(slice.ledger!.latestVersion).toBe(version)
    expect(decodeCommitMark(slice.mark)).toEqual(held)
  })

  it.each(['versions', 'a state'])(
    'of a part of its source that began with %s from elsewhere compares the hash of everything since the first version with a known hash',
    async (base) => {
      const slice = openStateEngine({ path: join(folder, 'slice'), durability: 'none' })
      replicas.push(slice)
      const spec = { accounts: [], tables: [HANDLES[0]!], types: [] }
      const reopen = async () => (base === 'versions' ? listOf(committed) : stateOf(source))
      await ingestSource(slice, await reopen(), { keepTransactions: 'none', only: { spec, reopen } })
      expect(decodeCommitMark(slice.mark).wholeHash).toBeUndefined()
      const told: string[] = []
      const following = follow(slice, { onNotice: (message) => told.push(message) })
      for (let round = 0; round < 2; round++) {
        await commit(10)
        await isCaughtUp(slice)
      }
      await following.stop()
      expect(decodeCommitMark(slice.mark).wholeHash).toEqual(decodeCommitMark(source.mark).writesHash)
      expect(told).toEqual([
        expect.stringMatching(/^the slice did not begin with a snapshot of this source: .* since version \d+;/),
      ])
      await forgeOutside(slice)
      await expect(follow(slice).ended).rejects.toMatchObject({ code: 'ledger_fork' })
    },
  )

  it('begins with a snapshot, and then equals its source, commit by commit', async () => {
    const replica = await openReplica('replica')
    expect(everything(replica)).toEqual(everything(source))
    const following = follow(replica)
    for (let round = 0; round < 5; round++) {
      await commit(1 + round * 20)
      await isCaughtUp(replica)
      expect(Buffer.from(replica.mark!)).toEqual(Buffer.from(source.mark!))
      expect(everything(replica)).toEqual(everything(source))
    }
    await following.stop()
    expect(following.notices).toEqual([])
  })

  it('resumes from the version it holds, even where its source was away', async () => {
    const replica = await openReplica('replica')
    const following = follow(replica)
    await commit(10)
    await isCaughtUp(replica)
    const { port } = server.address() as AddressInfo
    await closeFeed()
    await commit(10)
    await eventually(
      () => following.notices.length > 1,
      () => 'notices of a source that is away',
    )
    await openFeed(port)
    await isCaughtUp(replica)
    await following.stop()
    expect(Buffer.from(replica.mark!)).toEqual(Buffer.from(source.mark!))
  })

  it('has the transactions of its source, from the snapshot and from the feed', async () => {
    const first = source.ledger!.latestVersion + 1n
    await commit(10, 'summary')
    await closeFeed()
    await openFeed()
    const replica = await openReplica('replica')
    const following = follow(replica)
    await commit(10)
    await isCaughtUp(replica)
    await following.stop()
    expect(replica.at().getEntry(TRANSACTIONS_KEY)?.version).toBe(first)
    for (let version = first; version < first + 20n; version++) {
      const entry = replica.at(version).getEntry(transactionKey(version))
      expect([entry?.version, entry && bytesToTransaction(entry.value)]).toEqual([version, transactionOf(version)])
    }
    expect(Buffer.from(replica.mark!)).toEqual(Buffer.from(source.mark!))
    expect(following.notices).toEqual([])
  })

  it('is one of ten that follow the same source', async () => {
    const stores: StateEngine[] = []
    for (let at = 0; at < 10; at++) stores.push(await openReplica(`replica ${at}`))
    const committedAt = new Map<bigint, number>()
    const lags: number[] = []
    const following = stores.map((replica) =>
      follow(replica, {
        observer: {
          onCommit: () => lags.push(performance.now() - committedAt.get(replica.ledger!.latestVersion)!),
          onPrune() {},
          onSourceProgress() {},
        },
      }),
    )
    for (let round = 0; round < ROUNDS; round++) {
      await commit(10)
      committedAt.set(source.ledger!.latestVersion, performance.now())
      await sleep(PAUSE_MS)
    }
    await isCaughtUp(...stores)
    for (const one of following) await one.stop()
    const sorted = lags.filter((lag) => !Number.isNaN(lag)).sort((a, b) => a - b)
    const at = (share: number) => `${sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1)} ms`
    console.log(`lag of ten replicas over ${ROUNDS} commits: p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`)
    for (const replica of stores) expect(Buffer.from(replica.mark!)).toEqual(Buffer.from(source.mark!))
  })

  it('refuses to follow a source that was given something else', async () => {
    const replica = await openReplica('replica')
    const version = replica.ledger!.latestVersion + 1n
    const block = { height: version, epoch: 0n, timestampUsec: 10n * version }
    const writes: VersionWrites = { version, block, writes: [[Buffer.from('key'), Buffer.from('forged')]] }
    const forged = {
      description: 'forged',
      chainId: CHAIN,
      position: 'forged',
      mark: undefined,
      progress: { done: 0, total: 0, unit: 'versions' as const },
      async *versions() {
        yield writes
      },
      async close() {},
    }
    await ingestSource(replica, forged)
    await commit(3)
    await expect(follow(replica).ended).rejects.toMatchObject({ code: 'ledger_fork' })
    expect(replica.ledger!.latestVersion).toBe(version)
  })

  it('that is older than the feed is refused, and has to begin with a snapshot', async () => {
    const replica = await openReplica('replica')
    await commit(50)
    await source.prune(10n)
    await eventually(
      () => reader.ledger!.oldestVersion > 60n,
      () => 'the prune is seen',
    )
    await expect(follow(replica).ended).rejects.toMatchObject({
      code: 'version_gap',
      message: expect.stringMatching(/begin with a snapshot/),
    })
  })

  it('of another chain is refused', async () => {
    const replica = openStateEngine({ path: join(folder, 'other'), durability: 'none' })
    replicas.push(replica)
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await replica.commit([{ version: 0n, block, writes: [] }], { chainId: 9 })
    await expect(follow(replica).ended).rejects.toMatchObject({ code: 'chain_id_mismatch' })
  })
})

describe('a snapshot', () => {
  it('that is being taken when the feed ends is not left behind, and the engine is closed after it', async () => {
    const snapshots = join(folder, 'snapshots')
    const asked = fetch(`${url}/snapshots`, { method: 'POST' }).then(
      ({ status }) => status,
      () => 'ended',
    )
    await eventually(
      () => readdirSync(snapshots).length > 0,
      () => 'a snapshot that is being taken',
    )
    const closed = feed.close()
    await reader.close()
    await closed
    expect(readdirSync(snapshots)).toEqual([])
    expect([201, 500, 'ended']).toContain(await asked)
  })

  it('that was cut short is resumed where it ended', async () => {
    const path = join(folder, 'replica')
    const stop = new AbortController()
    let first = 0
    const cut = await fetchSnapshot(url, path, {
      signal: stop.signal,
      onProgress: (bytes) => {
        first = bytes
        stop.abort()
      },
    })
    expect(cut).toBe(false)
    expect(existsSync(join(path, STORE_FILE))).toBe(false)
    let resumedAt: number | undefined
    expect(
      await fetchSnapshot(url, path, {
        onProgress: (bytes) => {
          resumedAt ??= bytes
        },
      }),
    ).toBe(true)
    if (resumedAt !== undefined) expect(resumedAt).toBeGreaterThan(first)
    expect(existsSync(join(path, 'snapshot.unfinished'))).toBe(false)
  })

  it('is fetched again where the source no longer has it', async () => {
    const path = join(folder, 'replica')
    const stop = new AbortController()
    await fetchSnapshot(url, path, { signal: stop.signal, onProgress: () => stop.abort() })
    const { port } = server.address() as AddressInfo
    await closeFeed()
    await openFeed(port)
    const notices: string[] = []
    expect(await fetchSnapshot(url, path, { onNotice: (message) => notices.push(message) })).toBe(true)
    expect(notices.at(-1)).toMatch(/no longer has the snapshot/)
  })

  it('is refused where the address serves something else', async () => {
    const other = createServer((_, response) => response.end('<html>'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    await expect(fetchSnapshot(address, join(folder, 'x'))).rejects.toMatchObject({ code: 'source_failed' })
    other.close()
  })
})

describe('the feed', () => {
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(url + path, init)
    return { status: response.status, text: await response.text() }
  }

  it('shows its chain and its window', async () => {
    const { text } = await ask('/')
    expect(JSON.parse(text)).toEqual({
      format: 'ledger-feed',
      chain_id: CHAIN,
      oldest_version: '0',
      latest_version: '29',
    })
  })

  it('refuses missing files', async () => {
    const statuses = async (...paths: string[]) =>
      await Promise.all(paths.map(async (path) => (await ask(path)).status))
    expect(await statuses('/feed', '/feed?from=x', '/feed?from=0', '/feed?from=31')).toEqual([400, 400, 410, 404])
    expect(await statuses('/feed?from=18446744073709551615', '/feed?from=18446744073709551616')).toEqual([404, 400])
    expect(await statuses('/feed?from=99999999999999999999', '/feed?from=-1', '/feed?from=%31%20')).toEqual([
      400, 400, 400,
    ])
    expect(await statuses(`/feed?from=${'0'.repeat(20)}`, `/feed?from=${'9'.repeat(5_000)}`)).toEqual([410, 400])
    expect(await statuses('/other', '/snapshots/x', `/snapshots/x/${STORE_FILE}`, '/a/b/c/d')).toEqual([
      404, 404, 404, 404,
    ])
    expect(await ask(`/snapshots/..%2f..%2f/${STORE_FILE}`)).toMatchObject({ status: 404 })
    expect((await ask('/', { method: 'DELETE' })).status).toBe(404)
  })
})
