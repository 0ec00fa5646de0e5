import type { RequestListener } from 'node:http'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { commitSource } from '../../testing/commit-source.js'
import { createRequestListener } from '../server/create-request-listener.js'

const KIT = 'conformance/transactions'
const SENDER = '0x305a97874974fdb9a7ba59dc7cab7714c8e8e00004ac887b6e348496e1981838'

interface Shown {
  readonly type: string
  readonly hash: string
  readonly sender?: string
  readonly version: string
  readonly timestamp?: string
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly readVersion: unknown
}

async function ask(listener: RequestListener, path: string): Promise<Answer> {
  const { statusCode: status, body, headers } = await inject(listener, `/v1${path}`)
  return { status, body, readVersion: headers['x-svc-read-version'] }
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

// This needs the shared folder.
describe.runIf(hasSharedData)(`transactions and events at a version or a time (TEST_SEED=${testSeed()})`, () => {
  let engine: StateWriter
  let listeners: readonly RequestListener[]
  let shown: readonly Shown[]
  /** Paths of all operations that name a state. */
  let paths: readonly string[]
  /** Answers of the store at the time at which a version was its latest. */
  const before = new Map<bigint, readonly Answer[]>()

  beforeAll(async () => {
    const random = createRandom(testSeed())
    const all = createMemoryEngine()
    await commitSource(all, 'data/genesis/devnet.genesis.blob')
    await commitSource(all, `${KIT}/gallery`)
    const { latestVersion, latestBlock } = all.ledger!
    const reader = createRequestListener({ ledger: createLedger(all), maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    shown = JSON.parse((await ask(reader, '/transactions?start=1&limit=100')).body) as Shown[]
    const users = shown.filter(({ type }) => type === 'user_transaction')
    const { hash, version, sender } = users[random.below(users.length)]!
    paths = [
      '/transactions',
      '/transactions?start=3&limit=7',
      `/transactions/by_version/${version}`,
      `/transactions/by_hash/${hash}`,
      `/transactions/wait_by_hash/${hash}`,
      '/transactions/auxiliary_info?start_version=2',
      `/accounts/${sender}/transactions`,
      `/accounts/${sender}/transactions?start=0`,
      `/accounts/${sender}/transaction_summaries`,
      `/accounts/${SENDER}/transaction_summaries?end_version=40&limit=2`,
      '/accounts/0x1/events/0x1::block::BlockResource/new_block_events',
      '/accounts/0x1/events/2?limit=3',
      '/accounts/0x1/events/2?start=1&limit=3',
    ]
    const chosen = [
      random.below(10),
      10 + random.below(40),
      50 + random.below(40),
      Number(version),
      Number(version) - 1,
    ]
    const wanted = new Set([...chosen.map(BigInt), latestVersion])
    expect(latestBlock.height).toBeGreaterThan(20n)

    engine = createMemoryEngine()
    const growing = createRequestListener({
      ledger: createLedger(engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const note = async (committed: bigint) => {
      if (!wanted.has(committed)) return
      const answers: Answer[] = []
      for (const path of paths) answers.push(await ask(growing, path))
      before.set(committed, answers)
    }
    await commitSource(engine, 'data/genesis/devnet.genesis.blob', {}, note)
    await commitSource(engine, `${KIT}/gallery`, {}, note)
    const state = delayState(engineToAsync(engine), { random, pageSize: 2_000 })
    listeners = [createLedger(engine), createAsyncLedger(state)].map((ledger) =>
      createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY }),
    )
  })

  it('match a store that ends there', async () => {
    expect(before.size).toBeGreaterThan(3)
    const versions = [...before.keys()]
    for (const [listener, chosen] of [
      [listeners[0]!, versions],
      [listeners[1]!, versions.slice(0, 2)],
    ] as const) {
      for (const version of chosen) {
        for (const [at, path] of paths.entries()) {
          const asked = withQuery(path, `ledger_version=${version}`)
          expect({ asked, ...(await ask(listener, asked)) }).toEqual({ asked, ...before.get(version)![at] })
        }
      }
    }
  })

  it('and at a time those of the newest block until then, whose last version a header names', async () => {
    const timed = shown.filter(({ timestamp }) => timestamp !== undefined && timestamp !== '0')
    const { timestamp } = timed[createRandom(testSeed()).below(timed.length)]!
    const version = createLedger(engine).versionAtTime(BigInt(timestamp!))
    for (const listener of listeners) {
      for (const path of paths) {
        const atVersion = await ask(listener, withQuery(path, `ledger_version=${version}`))
        const asked = withQuery(path, `ledger_timestamp=${timestamp}`)
        const got = { asked, ...(await ask(listener, asked)) }
        expect(got).toEqual({ asked, ...atVersion, readVersion: String(version) })
      }
      const changes = await ask(listener, `/accounts/0x1/affecting_transactions?limit=1&to=1970-01-02`)
      expect([changes.status, changes.readVersion]).toEqual([200, '0'])
      const searched = await ask(listener, `/events/0x1::block::NewBlockEvent?limit=1&to=${toText(timestamp!)}`)
      expect([searched.status, searched.readVersion]).toEqual([200, String(version)])
    }
  })

  it('are refused with both, with a time of another unit, and outside of the window', async () => {
    const seconds = Math.floor(Date.now() / 1_000)
    for (const listener of listeners) {
      for (const path of paths) {
        for (const [query, status, code] of [
          ['ledger_version=3&ledger_timestamp=2020-01-01', 400, 'invalid_input'],
          [`ledger_timestamp=${seconds}`, 400, 'web_framework_error'],
          ['ledger_timestamp=9999-01-01', 404, 'version_not_found'],
          ['ledger_version=1000000', 404, 'version_not_found'],
        ] as const) {
          const asked = withQuery(path, query)
          const { status: got, body } = await ask(listener, asked)
          const { error_code } = JSON.parse(body) as { readonly error_code: string }
          expect({ asked, status: got, error_code }).toEqual({ asked, status, error_code: code })
        }
      }
    }
  })

  it('are 410 before the window', async () => {
    const { latestVersion } = engine.ledger!
    await engine.prune(latestVersion - 20n)
    for (const listener of listeners) {
      for (const path of paths) {
        const asked = withQuery(path, 'ledger_version=2')
        const { status, body } = await ask(listener, asked)
        const { error_code } = JSON.parse(body) as { readonly error_code: string }
        expect({ asked, status, error_code }).toEqual({ asked, status: 410, error_code: 'version_pruned' })
      }
    }
  })
})

/** RFC 3339 of a time in microseconds. */
function toText(timestamp: string): string {
  return `${new Date(Number(BigInt(timestamp) / 1_000n)).toISOString().slice(0, -1)}${timestamp.slice(-3)}Z`
}
