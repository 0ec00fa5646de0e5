import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import { createRequestListener } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { callView, createLedger, viewHistory } from '@ledger-state/ledger'
import { call, commitViewLedger, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { ACCUMULATOR_ROOT_KEY, decodeCommitMark } from '@ledger-state/records'
import { resourceKey } from '@ledger-state/type-tag'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

// A ledger of blocks with three versions. Each version writes the value that the view `value` returns.

const VERSIONS = 120
const FIRST = 12
const HOLDER_KEY = resourceKey(HOLDERS[0]!, HELD)

async function makeVersions(): Promise<VersionWrites[]> {
  const made: VersionWrites[] = []
  const values = Array.from({ length: VERSIONS }, (_, at): Write[] => [[HOLDER_KEY, u64(at)]])
  await commitViewLedger({ commit: async (versions) => void made.push(...versions) }, 0n, values)
  return made.map((one) => {
    const isEnd = one.version % 3n === 2n
    return isEnd ? { ...one, writes: [...one.writes, [ACCUMULATOR_ROOT_KEY, rootOf(one.version)]] } : one
  })
}

function rootOf(version: bigint): Uint8Array {
  return new Uint8Array(32).fill(Number(version % 251n))
}

/** A source that has versions, and signatures up to a version. */
function sourceOf(records: readonly VersionWrites[], signed?: bigint): LedgerSource {
  const trustedState = { waypoint: '0:00', ending: '0:00', epoch: 1n, power: undefined }
  return {
    description: 'list',
    chainId: 4,
    position: 'the list',
    mark: new Uint8Array(1),
    progress: { done: 0, total: records.length, unit: 'versions' },
    async *versions() {
      yield* records
    },
    async *signedPoints() {
      if (signed !== undefined) yield { version: signed, accumulatorRoot: rootOf(signed), trustedState }
    },
    async close() {},
  }
}

describe('a new signature for versions that a store holds', () => {
  const close: (() => unknown)[] = []
  let versions: readonly VersionWrites[]
  let engine: StateWriter
  beforeEach(async () => {
    versions = await makeVersions()
    engine = createMemoryEngine()
    await ingestSource(engine, sourceOf(versions.slice(0, FIRST)))
  })
  afterEach(async () => {
    for (const end of close.splice(0)) await end()
    await engine.close()
  })

  /** The store learns that its newest version is signed. */
  async function sign(version = engine.ledger!.latestVersion): Promise<void> {
    await ingestSource(engine, sourceOf([], version))
    expect(decodeCommitMark(engine.mark).signed?.version).toBe(version)
  }

  async function follow(count: number): Promise<void> {
    const next = Number(engine.ledger!.latestVersion)
    await ingestSource(engine, sourceOf(versions.slice(next, next + 1 + count)))
  }

  async function serve(): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
    const server = createServer(createRequestListener({ ledger: createLedger(engine) }))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    close.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    return (path, init) => fetch(`http://127.0.0.1:${port}/v1${path}`, { ...init, keepalive: false })
  }

  it('leaves the content of the caches of a ledger', async () => {
    const ledger = createLedger(engine)
    const resource = `/accounts/0xa1/resource/0x42::main::R`
    const ask = await serve()
    const read = async () => {
      callView(ledger.at(), call('value', '0xa1'))
      callView(ledger.at(), call('point'))
      return await (await ask(resource)).text()
    }
    const first = await read()
    const misses = () => Object.entries(ledger.caches).map(([name, use]) => [name, use.misses])
    const before = misses()
    for (const signed of [5n, 8n, 11n]) {
      await sign(signed)
      expect(await read()).toBe(first)
    }
    expect(misses()).toEqual(before)
  })

  it('leaves ETags', async () => {
    const ask = await serve()
    const path = '/accounts/0xa1/balance/0x1::aptos_coin::AptosCoin?ledger_version=4'
    const tag = async () => (await ask(path)).headers.get('etag')
    const before = await tag()
    expect(before).not.toBeNull()
    await sign()
    expect(await tag()).toBe(before)
    const again = await ask(path, { headers: { 'if-none-match': before! } })
    expect(again.status).toBe(304)
  })

  it.each([
    ['newest first', {}],
    ['oldest first', { order: 'asc' }],
    ['of points', { sample: { points: 5 } }],
  ] as const)('leaves running histories of views, %s', async (_, options) => {
    const history = () => viewHistory(createLedger(engine).at(), call('value', '0xa1'), options)
    const expected = [...history()].map(({ version }) => version)
    const seen: bigint[] = []
    const signed = [5n, 8n, 11n]
    for (const { version } of history()) {
      seen.push(version)
      if (seen.length > 1 && signed.length > 0) await sign(signed.shift())
    }
    expect(signed).toEqual([])
    expect(seen).toEqual(expected)
  })

  it('leaves cursors of pages, however many signatures follow', async () => {
    const ask = await serve()
    const payload = JSON.stringify({ function: '0x42::main::value', type_arguments: [], arguments: ['0xa1'] })
    const page = (query: string) =>
      ask(`/view/history${query}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: payload })
    await sign()
    await follow(3)
    const first = await page('?limit=2')
    await first.text()
    const cursor = first.headers.get('x-svc-cursor')
    expect(cursor).not.toBeNull()
    for (let count = 0; count < 18; count++) {
      await sign()
      await follow(3)
    }
    const second = await page(`?limit=2&start=${cursor}`)
    expect([second.status, await second.text()]).toEqual([200, expect.stringContaining('values')])
    expect(engine.ledger!.truncations).toBeUndefined()
  })
})
