import { ByteReader, ByteWriter } from '@ledger-state/core'
import { engineToAsync, type StateWriter } from '@ledger-state/engine'
import {
  createAsyncLedger,
  createLedger,
  type LedgerEvent,
  type LedgerTransaction,
  StoredEvents,
  wholeTransactionAt,
} from '@ledger-state/ledger'
import {
  checkEventProof,
  checkTransactionProof,
  type EventProofJson,
  jsonToEventProof,
  LedgerHasher,
} from '@ledger-state/proof'
import { parseStructTag, parseTypeTag, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openEventStream } from '../../testing/event-stream.ts'
import {
  createLongTransactions,
  EVENT_TYPE,
  EVENTS_AT,
  GROUP_AT,
  GROUP_KEY,
  MEMBER_TYPES,
  OWNER,
} from '../../testing/long-transactions.ts'
import { type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createEngineChanges } from '../changes/engine-changes.js'
import { createRequestListener } from '../server/create-request-listener.js'
import { writesOfAccount, writesOfResource, writesOfTable } from './stream/write-filters.js'

const EVENTS = 2_000
/** Most items that may be made without a chance to pause. */
const MOST_AT_ONCE = 256
const hasher = new LedgerHasher()

/** Runs steps, and counts the chances to pause. */
function countSteps<T>(steps: Generator<undefined, T>): { readonly count: number; readonly value: T } {
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  return { count, value: step.value }
}

describe('a transaction with many events', () => {
  let engine: StateWriter
  let running: RunningServer
  beforeAll(async () => {
    engine = await createLongTransactions(EVENTS)
    running = await startServerOver(engine, { changes: createEngineChanges(engine) })
  })
  afterAll(() => stopServer(running))
  afterEach(() => void vi.restoreAllMocks())

  const ask = async (url: string): Promise<unknown> => {
    const listener = createRequestListener({
      ledger: createLedger(engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const { statusCode, body } = await inject(listener, { url })
    expect([statusCode, body.slice(0, 200)]).toEqual([200, expect.any(String)])
    return JSON.parse(body)
  }

  it('is one entry of the stream of their type, and is read once for it, not for every 100 of them', async () => {
    const reads = vi.spyOn(ByteReader.prototype, 'readLength')
    const stream = await openEventStream(`http://127.0.0.1:${running.port}/v1/stream?from=1&event_type=${EVENT_TYPE}`)
    for (;;) {
      const event = await stream.next()
      if (!event?.data) {
        expect(event).toBeDefined()
        continue
      }
      expect(event.id).toBe(`${EVENTS_AT}.0`)
      const { events } = JSON.parse(event.data) as { readonly events: readonly { readonly sequence_number: string }[] }
      expect(events.map((one) => one.sequence_number)).toEqual(Array.from({ length: EVENTS }, (_, at) => String(at)))
      break
    }
    expect(reads.mock.calls.length).toBeLessThan(20 * EVENTS)
    const last = `${engine.ledger!.latestVersion}.0`
    for (let id: string | undefined; id !== last; ) id = (await stream.next())?.id
    stream.close()
  })

  it('is listed in pages from both ends, each of which decodes only its own events', async () => {
    const numbersOf = async (query: string) =>
      ((await ask(`/v1/events/${EVENT_TYPE}?${query}`)) as { readonly sequence_number: string }[]).map((one) =>
        Number(one.sequence_number),
      )
    expect(await numbersOf('order=asc&limit=2')).toEqual([0, 1])
    expect(await numbersOf('order=asc&limit=2&start=1-1500')).toEqual([1_500, 1_501])
    expect(await numbersOf('order=asc&limit=3&start=1-1999')).toEqual([1_999])
    expect(await numbersOf('limit=2')).toEqual([1_999, 1_998])
    expect(await numbersOf('limit=2&start=1-1998')).toEqual([1, 0])
    expect(await numbersOf('order=asc&limit=2&field.x=1700')).toEqual([1_700])
  })

  it('and its events are proven in steps', () => {
    const state = createLedger(engine).at()
    const transaction = wholeTransactionAt(state, EVENTS_AT)!
    const { count, value } = countSteps(transaction.proveInSteps())
    expect(count).toBeGreaterThan(EVENTS / MOST_AT_ONCE)
    if (value.kind !== 'proven') throw new Error(value.kind)
    checkTransactionProof(hasher, value.proof)
    const stored = state.transactions.storedAt(EVENTS_AT)!
    const events = [...new StoredEvents(state, EVENTS_AT, stored).events()]
    expect(events.length).toBeGreaterThan(EVENTS + EVENTS / MOST_AT_ONCE - 1)
    const known = events.filter((one) => one !== undefined) as LedgerEvent[]
    const first = countSteps(known[700]!.proveInSteps())
    expect(first.count).toBeGreaterThan(EVENTS / MOST_AT_ONCE)
    expect(countSteps(known[701]!.proveInSteps()).count).toBe(0)
  })

  it('and its proof are made in steps over an engine whose reads are promises, too', async () => {
    const over = createAsyncLedger(engineToAsync(engine))
    const count = async (of: (transaction: LedgerTransaction) => Generator<undefined, unknown>): Promise<number> => {
      // The last run of the read may have the result of an earlier one.
      let most = 0
      await over.read((ledger) => {
        const transaction = wholeTransactionAt(ledger.at(), EVENTS_AT)
        if (transaction) most = Math.max(most, countSteps(of(transaction)).count)
      })
      return most
    }
    expect(await count((transaction) => transaction.toJsonInSteps())).toBeGreaterThan(EVENTS)
    expect(await count((transaction) => transaction.toBcsInSteps())).toBeGreaterThan(EVENTS / MOST_AT_ONCE)
    expect(await count((transaction) => transaction.proveInSteps())).toBeGreaterThan(EVENTS / MOST_AT_ONCE)
  })

  it('is hashed once for a page of proven events', async () => {
    const hashes = vi.spyOn(LedgerHasher.prototype, 'hashInto')
    const single = vi.spyOn(LedgerHasher.prototype, 'hash')
    const page = (await ask(`/v1/events/${EVENT_TYPE}?proof=true&order=asc&start=1-1000`)) as {
      readonly value: { readonly sequence_number: string }
      readonly proof: EventProofJson
    }[]
    const made = [...hashes.mock.calls, ...single.mock.calls].filter(([name]) => name === 'ContractEvent')
    expect(made.length).toBeLessThan(EVENTS + 100)
    expect(page.map(({ value }) => value.sequence_number)).toEqual(
      Array.from({ length: 10 }, (_, at) => `${1_000 + at}`),
    )
    for (const { proof } of page) checkEventProof(hasher, jsonToEventProof(proof))
  })

  it('and one that wrote a long group make the changes of a stream in steps, one for each member', () => {
    const ledger = createLedger(engine)
    const value = engine.at(GROUP_AT).get(GROUP_KEY)!
    const states = [ledger.at(GROUP_AT), ledger.at(GROUP_AT - 1n)] as const
    const changes = [...writesOfAccount(OWNER).changesOf(...states, { key: GROUP_KEY, value })]
    expect(changes.filter((one) => one === undefined).length).toBeGreaterThanOrEqual(MEMBER_TYPES.length)
    const types = changes.flatMap((one) => (one ? [(JSON.parse(one) as { data: { type: string } }).data.type] : []))
    expect(types.toSorted()).toEqual(MEMBER_TYPES.toSorted())
  })

  it('and one that wrote a long table item, or a member of a group, make the change of a stream in steps', () => {
    const ledger = createLedger(engine)
    const states = [ledger.at(GROUP_AT), ledger.at(GROUP_AT - 1n)] as const
    const numbers = 100_000
    const writer = new ByteWriter().uleb128(numbers)
    for (let at = 0; at < numbers; at++) writer.u64(BigInt(at))
    const item = { key: tableItemKey(OWNER, Uint8Array.of(1)), value: writer.toBytes() }
    const types = { keyType: parseTypeTag('u8'), valueType: parseTypeTag('vector<u64>') }
    const items = [...writesOfTable(OWNER, types).changesOf(...states, item)]
    expect(items.length).toBeGreaterThan(10)
    expect(items.filter((one) => one !== undefined)).toEqual([expect.stringContaining('"99999"]')])
    const group = { key: GROUP_KEY, value: engine.at(GROUP_AT).get(GROUP_KEY)! }
    const member = parseStructTag(MEMBER_TYPES[7]!)
    const changes = [...writesOfResource(member, OWNER).changesOf(...states, group)]
    // Each of the two groups is searched in a step.
    expect(changes).toEqual([undefined, expect.stringContaining('"write_resource"')])
  })
})
