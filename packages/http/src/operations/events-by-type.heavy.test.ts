import type { RequestListener } from 'node:http'
import { ByteWriter } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { openSource } from '@ledger-state/feed'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { TransactionGroup } from '@ledger-state/records/transaction-group'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { commitSource } from '../../testing/commit-source.js'
import { readPages } from '../../testing/read-pages.js'
import { createRequestListener } from '../server/create-request-listener.js'

const KIT = 'conformance/transactions'
const MUTATION = '0x4::token::MutationEvent'
const DEPOSIT = '0x3::token::DepositEvent'
const FEES = '0x1::transaction_fee::FeeStatement'
const NEW_BLOCK = '0x1::block::NewBlockEvent'

type Data = { readonly [name: string]: unknown }
interface Event {
  readonly version: string
  readonly data: Data
}

function listenersOf(engine: StateWriter, pageSize = 20): readonly RequestListener[] {
  const state = delayState(engineToAsync(engine), { random: createRandom(testSeed()), pageSize })
  return [createLedger(engine), createAsyncLedger(state)].map((ledger) =>
    createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY }),
  )
}

/** The scalar fields of an event's data, as paths and texts. */
function* scalars(data: Data, path = ''): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value)) continue
    if (typeof value === 'object' && value !== null) yield* scalars(value as Data, `${path}${name}.`)
    else yield [`${path}${name}`, String(value)]
  }
}

// These need the shared folder.
describe.runIf(hasSharedData)(`the events of a type (TEST_SEED=${testSeed()})`, () => {
  let engine: StateWriter
  let listeners: readonly RequestListener[]
  beforeAll(async () => {
    engine = createMemoryEngine()
    for (const source of ['data/genesis/devnet.genesis.blob', `${KIT}/gallery`]) await commitSource(engine, source)
    listeners = listenersOf(engine)
  })

  it('are filtered by the values of their fields', async () => {
    const random = createRandom(testSeed())
    for (const type of [MUTATION, DEPOSIT, FEES, NEW_BLOCK]) {
      const all = (await readPages<Event>(listeners[0]!, `/v1/events/${type}?order=asc`, 100)).flat()
      const fields = all.flatMap(({ data }) => [...scalars(data)])
      expect(fields.length).toBeGreaterThan(0)
      for (let times = 0; times < scaledRounds(3); times++) {
        const [path, value] = fields[random.below(fields.length)]!
        const wanted = all.filter(({ data }) => [...scalars(data)].some(([at, text]) => at === path && text === value))
        const filter = `field.${path}=${encodeURIComponent(value)}`
        for (const listener of listeners) {
          const ascending = await readPages(listener, `/v1/events/${type}?order=asc&${filter}`, 100)
          expect({ filter, found: ascending.flat() }).toEqual({ filter, found: wanted })
          const newest = await readPages(listener, `/v1/events/${type}?${filter}&${filter}`, 2)
          expect({ filter, found: newest.flat() }).toEqual({ filter, found: wanted.toReversed() })
        }
      }
    }
  })

  it('have all of the values that a query names, in any form in which a value is written', async () => {
    for (const listener of listeners) {
      const count = async (query: string) =>
        (await readPages(listener, `/v1/events/${DEPOSIT}?${query}`, 100)).flat().length
      const one = await count('field.id.token_data_id.name=god.apt')
      expect(one).toBeGreaterThan(0)
      expect(await count('field.id.token_data_id.name=god.apt&field.amount=1')).toBe(one)
      expect(await count('field.id.token_data_id.name=god.apt&field.amount=2')).toBe(0)
      expect(await count('field.id.token_data_id.name=god.apt&field.amount=001')).toBe(one)
      expect(await count('field%2Eid.token_data_id.name=god%2Eapt')).toBe(one)
      const creator = '305a97874974fdb9a7ba59dc7cab7714c8e8e00004ac887b6e348496e1981838'
      const made = await count(`field.id.token_data_id.creator=0x${creator}`)
      expect(made).toBeGreaterThanOrEqual(one)
      expect(await count(`field.id.token_data_id.creator=${creator}`)).toBe(made)
    }
  })

  it('are not filtered by a field that they do not have, or by a value of another type', async () => {
    const names = 'there are the fields id, amount'
    for (const [query, message] of [
      ['field.amounts=1', names],
      ['field.=1', names],
      ['field.id=1', 'there are the fields token_data_id, property_version'],
      ['field.amount.value=1', 'it has no fields inside'],
      [`field.${'id.'.repeat(1_000)}=1`, 'there are the fields token_data_id, property_version'],
      ['field.amount=one', 'value of the field "amount"'],
      ['field.amount=18446744073709551616', 'value of the field "amount"'],
      [`field.amount=${'9'.repeat(8_000)}`, 'value of the field "amount"'],
      ['field.amount', 'value of the field "amount"'],
      ['field.amount=1&'.repeat(9), 'filters by more than 8 fields'],
    ]) {
      for (const listener of listeners) {
        const { statusCode, body } = await inject(listener, `/v1/events/${DEPOSIT}?${query}`)
        const error = JSON.parse(body) as { error_code: string; message: string }
        expect([query, statusCode, error.error_code]).toEqual([query, 400, 'invalid_input'])
        expect(error.message).toContain(message)
        expect(error.message.length).toBeLessThan(2_000)
      }
    }
    const { statusCode, body } = await inject(listeners[0]!, '/v1/events/0x1::block::Nothing?field.a=1')
    expect([statusCode, body]).toEqual([400, expect.stringContaining('invalid_input')])
  })

  it('and the transactions that changed an account can be limited to a range of times', async () => {
    const random = createRandom(testSeed())
    const changes = '/v1/accounts/0x1/affecting_transactions'
    type Transaction = { readonly version: string; readonly timestamp?: string }
    const pages = await readPages<Transaction>(listeners[0]!, `${changes}?order=asc`, 100)
    const timed = pages.flat().filter(({ timestamp }) => timestamp !== undefined)
    const events = (await readPages<Event>(listeners[0]!, `/v1/events/${NEW_BLOCK}?order=asc`, 100)).flat()
    expect(timed.length).toBeGreaterThan(10)
    const timeOf = (timestamp: string) =>
      `${new Date(Number(BigInt(timestamp) / 1_000n)).toISOString().slice(0, -1)}${timestamp.slice(-3)}Z`
    for (let times = 0; times < 5; times++) {
      const [low, high] = [random.below(timed.length), random.below(timed.length)].toSorted((a, b) => a - b)
      const [from, to] = [timed[low!]!.timestamp!, timed[high!]!.timestamp!]
      const range = `order=asc&from=${timeOf(from)}&to=${timeOf(to)}`
      const isInside = (timestamp: string) => BigInt(timestamp) >= BigInt(from) && BigInt(timestamp) <= BigInt(to)
      for (const listener of listeners) {
        const found = (await readPages<Transaction>(listener, `${changes}?${range}`, 100)).flat()
        expect(found).toEqual(timed.filter(({ timestamp }) => isInside(timestamp!)))
        const blocks = (await readPages<Event>(listener, `/v1/events/${NEW_BLOCK}?${range}`, 100)).flat()
        expect(blocks).toEqual(events.filter(({ data }) => isInside(data.time_microseconds as string)))
      }
    }
    for (const path of [changes, `/v1/events/${NEW_BLOCK}`]) {
      const { statusCode } = await inject(listeners[0]!, `${path}?from=2021-01-01&to=2020-01-01`)
      expect(statusCode).toBe(400)
    }
  })
})

describe.runIf(hasSharedData)('a filter that leaves out nearly all events', () => {
  const COPIES = 1_500n

  it('ends a page early, and its cursor leads to the event', async () => {
    const engine = createMemoryEngine()
    for (const source of ['data/genesis/testnet.genesis.blob', `${KIT}/testnet`]) await commitSource(engine, source)
    const source = await openSource(sharedPath(`${KIT}/testnet`), { thread: false, unsigned: true })
    const records = []
    for await (const record of source.versions({ version: 1n })) records.push(record)
    await source.close()
    const whole = records.find(({ version }) => version === 1n)!.readWhole!()
    for (let version = 4n; version < 4n + COPIES; version++) {
      const block = { height: version, epoch: 1n, timestampUsec: 1_700_000_000_000_000n }
      // Events are printed without the roots of the accumulator, so the frontier is no more than its count.
      const readFrontier = () => new ByteWriter().u64(version + 1n).toBytes()
      const group = new TransactionGroup(version)
      const own = group.add(version, { ...whole, readFrontier }, [])
      const writes = [...own, ...group.toWrites().writes.get(version)!]
      await engine.commit([{ version, block, writes }], { chainId: 4 })
    }
    for (const listener of listenersOf(engine, 500)) {
      const pages = await readPages<Event>(listener, `/v1/events/${NEW_BLOCK}?field.height=2`, 100)
      expect(pages.map((page) => page.map(({ version }) => version))).toEqual([[], ['2']])
      const none = await readPages(listener, `/v1/events/${NEW_BLOCK}?order=asc&field.height=7`, 100)
      expect(none).toEqual([[], []])
    }
  })
})
