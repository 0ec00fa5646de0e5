// Answers of a store about transactions that it has pruned, with the address of an archive.
import type { RequestListener } from 'node:http'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { commitSource } from '../../testing/commit-source.js'
import { createRequestListener } from '../server/create-request-listener.js'

const KIT = 'conformance/transactions'
const ARCHIVE = 'https://archive.example/v1'
const NEW_BLOCK = '0x1::block::NewBlockEvent'

interface ShownEvent {
  readonly guid: { readonly creation_number: string; readonly account_address: string }
  readonly sequence_number: string
  readonly type: string
}

interface Shown {
  readonly type: string
  readonly hash: string
  readonly version: string
  readonly sender?: string
  readonly sequence_number?: string
  readonly events?: readonly ShownEvent[]
}

interface Asked {
  readonly status: number
  readonly body: unknown
}

// This needs the shared folder.
describe.runIf(hasSharedData).each(['memory', 'another machine'])('a pruned store in %s', (over) => {
  let listener: RequestListener
  let oldest: bigint
  let latest: bigint
  let pruned: Shown
  let kept: Shown
  /** The last event of a stream whose events are all pruned. */
  let ended: ShownEvent

  async function ask(path: string): Promise<Asked> {
    const { statusCode: status, body } = await inject(listener, `/v1${path}`)
    return { status, body: JSON.parse(body) as unknown }
  }

  /** Asks by itself, again, and as an element of a batch, which must answer the same. */
  async function askTwice(path: string): Promise<Asked> {
    const asked = await ask(path)
    expect(await ask(path)).toEqual(asked)
    const { body } = await inject(listener, {
      method: 'POST',
      url: '/v1/batch',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ requests: [{ path: `/v1${path}` }] }),
    })
    const [element] = JSON.parse(body) as { readonly status: number; readonly body?: unknown }[]
    expect([path, element!.status]).toEqual([path, asked.status])
    return asked
  }

  beforeAll(async () => {
    const engine = createMemoryEngine()
    await commitSource(engine, 'data/genesis/devnet.genesis.blob')
    await commitSource(engine, `${KIT}/gallery`)
    const open = (ledger: Ledger | AsyncLedger) =>
      createRequestListener({ ledger, archivalEndpoint: ARCHIVE, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    // The ledger in memory shows every transaction once: reading them from a database takes longer.
    listener = open(createLedger(engine))
    latest = engine.ledger!.latestVersion
    const shown: Shown[] = []
    for (let start = 1n; start <= latest; start += 100n)
      shown.push(...((await ask(`/transactions?start=${start}&limit=100`)).body as Shown[]))
    await engine.prune(latest - 39n)
    oldest = engine.ledger!.oldestVersion
    listener = open(over === 'memory' ? createLedger(engine) : createAsyncLedger(engineToAsync(engine)))
    const isPruned = ({ version }: Shown): boolean => BigInt(version) < oldest
    const users = shown.filter(({ type }) => type === 'user_transaction')
    const streamOf = ({ guid }: ShownEvent): string => `${guid.account_address} ${guid.creation_number}`
    const numbered = (one: Shown): ShownEvent[] =>
      (one.events ?? []).filter(({ guid }) => guid.account_address !== '0x0')
    const left = new Set(
      shown
        .filter((one) => !isPruned(one))
        .flatMap(numbered)
        .map(streamOf),
    )
    const senders = new Set(users.filter((one) => !isPruned(one)).map(({ sender }) => sender))
    pruned = users.find((one) => isPruned(one) && !senders.has(one.sender) && one.sequence_number!.length < 15)!
    kept = users.find((one) => !isPruned(one))!
    ended = shown
      .filter(isPruned)
      .flatMap(numbered)
      .findLast((one) => !left.has(streamOf(one)))!
  })

  const goneAs = (error_code: string) => ({
    status: 410,
    body: expect.objectContaining({ error_code, archival_endpoint: ARCHIVE, message: expect.any(String) }),
  })

  it('answers 410 with the archive for pruned versions, numbers and blocks', async () => {
    const { sender, version, sequence_number } = pruned
    const stream = `/accounts/${ended.guid.account_address}/events/${ended.guid.creation_number}`
    for (const path of [
      `/transactions?start=${version}`,
      '/transactions?start=0&limit=1',
      `/transactions?start=${oldest - 1n}`,
      `/transactions?ledger_version=${version}`,
      `/transactions/by_version/${version}`,
      `/transactions/by_version/${oldest - 1n}`,
      `/transactions/by_version/${version}?proof=true`,
      `/transactions/auxiliary_info?start_version=${version}`,
      `/accounts/${sender}/transactions?start=${sequence_number}`,
      `/accounts/${sender}/transactions?start=0`,
      `/accounts/${sender}/transaction_summaries?start_version=${version}`,
      `/accounts/${sender}/transaction_summaries?end_version=${version}`,
      '/accounts/0x1/events/2?start=0',
      '/accounts/0x1/events/0x1::block::BlockResource/new_block_events?start=0',
      `${stream}?start=${ended.sequence_number}`,
      `/blocks/by_version/${version}`,
      `/blocks/by_version/${version}?with_transactions=true`,
      `/accounts/${sender}/affecting_transactions?to=${version}`,
      `/events/${NEW_BLOCK}?to=${version}`,
      `/accounts/${sender}?ledger_version=${version}`,
      `/accounts/0x1/resource/0x1::block::BlockResource?ledger_version=${version}`,
    ])
      expect({ path, ...(await askTwice(path)) }).toEqual({ path, ...goneAs('version_pruned') })
    for (const path of ['/blocks/by_height/0', '/blocks/by_height/0?with_transactions=true'])
      expect({ path, ...(await askTwice(path)) }).toEqual({ path, ...goneAs('block_pruned') })
  })

  it('answers 404 with the archive for hashes that it does not know, pruned or not', async () => {
    for (const hash of [pruned.hash, `0x${'ab'.repeat(32)}`]) {
      for (const path of [`/transactions/by_hash/${hash}`, `/transactions/wait_by_hash/${hash}`]) {
        expect({ path, ...(await askTwice(path)) }).toEqual({
          path,
          status: 404,
          body: {
            message: `Transaction not found by Transaction hash(${hash})`,
            error_code: 'transaction_not_found',
            archival_endpoint: ARCHIVE,
          },
        })
      }
    }
  })

  it('answers 404 without it for transactions that no archive has', async () => {
    for (const [path, error_code] of [
      [`/transactions/by_version/${latest + 1n}`, 'transaction_not_found'],
      ['/blocks/by_height/100000', 'block_not_found'],
      [`/blocks/by_version/${latest + 1n}`, 'version_not_found'],
      [`/transactions?ledger_version=${latest + 1n}`, 'version_not_found'],
      ['/accounts/0x1/events/0x1::block::NoResource/new_block_events', 'resource_not_found'],
      ['/accounts/0x1/events/0x1::block::BlockResource/no_events', 'struct_field_not_found'],
    ] as const)
      expect({ path, ...(await askTwice(path)) }).toEqual({
        path,
        status: 404,
        body: { error_code, message: expect.any(String) },
      })
  })

  it('begins default pages of events with the oldest that it keeps', async () => {
    const { status, body } = await askTwice('/accounts/0x1/events/3?limit=100')
    const events = body as { readonly version: string; readonly sequence_number: string }[]
    expect(status).toBe(200)
    expect(events.length).toBeGreaterThan(5)
    expect(BigInt(events[0]!.version)).toBeGreaterThanOrEqual(oldest)
    // Later numbers of this ledger, which was made of real transactions of several networks, have gaps.
    const first = BigInt(events[0]!.sequence_number)
    const before = await askTwice(`/accounts/0x1/events/3?start=${first - 1n}`)
    expect(before).toEqual(goneAs('version_pruned'))
    for (const path of [
      `/accounts/${pruned.sender}/transaction_summaries`,
      `/accounts/${ended.guid.account_address}/events/${ended.guid.creation_number}`,
      `/accounts/${ended.guid.account_address}/events/${ended.guid.creation_number}?start=${BigInt(ended.sequence_number) + 1n}`,
      '/accounts/0x1/events/3?start=1000000000',
    ])
      expect({ path, ...(await askTwice(path)) }).toEqual({ path, status: 200, body: [] })
  })

  it('begins default pages of transactions with the oldest that it keeps', async () => {
    const { body: one } = await askTwice(`/transactions/by_hash/${kept.hash}`)
    expect(one).toMatchObject({ version: kept.version })
    const whole = await ask('/transactions?limit=100')
    expect((whole.body as Shown[])[0]!.version).toBe(String(oldest > latest - 99n ? oldest : latest - 99n))
  })
})
