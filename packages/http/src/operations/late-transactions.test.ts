// A store that keeps whole transactions since a version within its window.
import { WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openEventStream } from '../../testing/event-stream.ts'
import { type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createSignedTransactions, type SignedTransactions } from '../../testing/signed-transactions.ts'
import { createEngineChanges } from '../changes/engine-changes.js'

/** Type of all events of the chain. */
const TYPE = 'vector<u64>'
/** Address of a stream with the creation number 1. */
const STREAM = `0x${'01'.repeat(32)}`

const seed = testSeed()

describe(`transactions since a version (TEST_SEED=${seed})`, () => {
  let made: SignedTransactions
  /** Sender of the first transaction of a user, and a version after it. */
  let sender: string
  let since: number
  let running: RunningServer
  let url: string
  beforeEach(async () => {
    const { records } = (await createSignedTransactions({ seed })).chain
    const first = records.findIndex(({ transaction }) => transaction[0] === 0)
    sender = `0x${Buffer.from(records[first]!.transaction.subarray(1, 33)).toString('hex')}`
    since = first + 1 + createRandom(seed).below(20)
    made = await createSignedTransactions({ seed, wholeFrom: since })
    running = await startServerOver(made.engine, { changes: createEngineChanges(made.engine) })
    url = `http://127.0.0.1:${running.port}/v1`
  })
  afterEach(() => stopServer(running))

  async function ask(path: string) {
    const response = await fetch(`${url}${path}`)
    const body: unknown = await response.json()
    return { status: response.status, body, isComplete: response.headers.get('x-svc-complete') }
  }

  it('are listed from there by default', async () => {
    expect((await ask('/info')).body).toMatchObject({ whole_transactions_since: String(since) })
    const { body } = await ask('/transactions?limit=100')
    const newest = Number(made.chain.latestVersion) - 99
    expect((body as { version: string }[])[0]!.version).toBe(String(Math.max(since, newest)))
    expect(await ask(`/accounts/${sender}/transactions`)).toMatchObject({ status: 200 })
    expect(await ask(`/accounts/${sender}/transaction_summaries`)).toMatchObject({ status: 200 })
  })

  it('are 410 before', async () => {
    for (const path of [
      `/transactions?start=${since - 1}`,
      `/transactions/by_version/${since - 1}`,
      `/accounts/${sender}/transactions?start=0`,
      `/accounts/${sender}/transaction_summaries?start_version=${since - 1}`,
      `/accounts/${sender}/transaction_summaries?end_version=${since - 1}`,
      `/accounts/${sender}/affecting_transactions?to=${since - 1}`,
      `/accounts/${STREAM}/events/1?start=0`,
      `/events/${TYPE}?to=${since - 1}`,
      `/stream?event_type=${TYPE}&from=${since - 1}`,
    ]) {
      const [first, second] = [await ask(path), await ask(path)]
      const expected = { status: 410, body: { error_code: 'version_pruned' } }
      expect({ path, ...first }).toMatchObject({ path, ...expected })
      expect(second).toEqual(first)
    }
  })

  it('are none after the newest number of a list, as a client asks that waits for the next one', async () => {
    for (const [path, numberOf] of [
      [`/accounts/${STREAM}/events/1`, 'sequence_number'],
      [`/accounts/${sender}/transactions`, 'sequence_number'],
    ] as const) {
      const { body } = await ask(path)
      const next = Number((body as Record<string, string>[]).at(-1)![numberOf]) + 1
      for (const start of [next, next + 7])
        expect([path, await ask(`${path}?start=${start}`)]).toMatchObject([path, { status: 200, body: [] }])
    }
  })

  it('are all that a search finds, which says whether they are complete', async () => {
    for (const path of [`/events/${TYPE}`, `/accounts/${sender}/affecting_transactions`]) {
      expect([path, await ask(path)]).toMatchObject([path, { status: 200, isComplete: 'true' }])
      expect([path, await ask(`${path}?from=${since}`)]).toMatchObject([path, { status: 200, isComplete: 'true' }])
      expect([path, await ask(`${path}?from=${since - 1}`)]).toMatchObject([path, { status: 200, isComplete: 'false' }])
    }
  })

  it('have the events that GraphQL finds, and it refuses a version before', async () => {
    const eventsAt = async (version: number) => {
      const query = `{events(where:{transaction_version:{_eq:${version}}}){transaction_version}}`
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      return (await response.json()) as { data?: { events: unknown[] }; errors?: { message: string }[] }
    }
    const before = await eventsAt(since - 1)
    expect(before.errors?.[0]?.message).toContain(`the whole transaction of version ${since - 1} is not kept`)
    for (const version of [since, 1_000_000]) expect((await eventsAt(version)).errors).toBeUndefined()
  })

  it('have the events of a stream, which ends when a version comes without its transaction', async () => {
    const stream = await openEventStream(`${url}/stream?event_type=${TYPE}&from=${since}`)
    const last = made.chain.latestVersion
    const versions: bigint[] = []
    for (let event = await stream.next(); ; event = await stream.next()) {
      if (event?.data) versions.push(BigInt((JSON.parse(event.data) as { version: string }).version))
      // The stream has reached the latest version.
      else if (event?.id?.startsWith(String(last))) break
    }
    const { chainId } = made.engine.ledger!
    await made.engine.commit([{ version: last + 1n, writes: [[WHOLE_TRANSACTIONS_KEY, null]] }], { chainId })
    expect((await stream.next())?.event).toBe('pruned')
    expect(await stream.next()).toBeUndefined()
    expect(versions).toEqual(
      made.chain.records.flatMap(({ events }, at) => (at >= since && events[0] !== 0 ? [BigInt(at)] : [])),
    )
  })
})
