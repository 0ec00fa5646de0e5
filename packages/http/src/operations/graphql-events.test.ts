import { ByteReader } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { testSeed } from '@ledger-state/testing/random'
import { typeTagToText } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { assetLedger } from '../../testing/asset-ledger.js'
import { createSignedTransactions } from '../../testing/signed-transactions.js'
import { createRequestListener } from '../server/create-request-listener.js'

// As ts-sdk sends it.
const QUERY = `
    query getEvents($where_condition: events_bool_exp, $offset: Int, $limit: Int, $order_by: [events_order_by!]) {
  events(
    where: $where_condition
    offset: $offset
    limit: $limit
    order_by: $order_by
  ) {
    account_address
    creation_number
    data
    event_index
    sequence_number
    transaction_block_height
    transaction_version
    type
    indexed_type
  }
}`
const NO_ACCOUNT = `0x${'0'.repeat(64)}`

interface Row {
  readonly account_address: string
  readonly creation_number: number
  readonly event_index: number
  readonly sequence_number: number
  readonly transaction_block_height: number
  readonly transaction_version: number
  readonly type: string
}

type Ask = (variables: object) => Promise<{ rows: readonly Row[] | undefined; fault: string | undefined }>

function asking(ledger: Ledger | AsyncLedger): Ask {
  const listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  return async (variables) => {
    const payload = { query: QUERY, variables }
    const { body } = await inject(listener, { method: 'POST', url: '/v1/graphql', payload })
    const { data, errors } = JSON.parse(body) as { data?: { events: Row[] }; errors?: { message: string }[] }
    return { rows: data?.events, fault: errors?.[0]?.message }
  }
}

describe(`events by POST /v1/graphql (TEST_SEED=${testSeed()})`, () => {
  let asks: readonly Ask[]
  let expected: readonly Row[]

  beforeAll(async () => {
    const { chain, engine } = await createSignedTransactions({ seed: testSeed() })
    let height = 0n
    expected = chain.records.flatMap(({ events }, version) => {
      height = chain.expected[version]!.block?.height ?? height
      return Array.from(readBcsList(new ByteReader(events), readEvent), ({ key, type }, index) => ({
        account_address: key ? `0x${Buffer.from(key.address).toString('hex')}` : NO_ACCOUNT,
        creation_number: Number(key?.creationNumber ?? 0n),
        event_index: index,
        sequence_number: Number(key?.sequenceNumber ?? 0n),
        transaction_block_height: Number(height),
        transaction_version: version,
        type: typeTagToText(type),
        indexed_type: typeTagToText(type).slice(0, 300),
      }))
    })
    asks = [asking(createLedger(engine)), asking(createAsyncLedger(engineToAsync(engine)))]
  })

  const withoutData = (rows: readonly Row[] | undefined) =>
    rows?.map(({ data, ...rest }: Row & { data?: unknown }) => {
      expect(data).toBeDefined()
      return rest
    })

  it('can be filtered by type, in both orders and in pages, asked twice', async () => {
    const types = [...new Set(expected.map(({ type }) => type))]
    expect(types.length).toBeGreaterThan(0)
    for (const ask of [...asks, ...asks]) {
      for (const type of types) {
        const all = expected.filter((one) => one.type === type)
        const where = { indexed_type: { _eq: type } }
        expect(withoutData((await ask({ where_condition: where })).rows)).toEqual(all.slice(0, 100))
        const paged = { where_condition: where, offset: 1, limit: 2 }
        expect(withoutData((await ask(paged)).rows)).toEqual(all.slice(1, 3))
        const { rows } = await ask({ where_condition: where, order_by: [{ transaction_version: 'desc' }], limit: 5 })
        expect(rows!.map((one) => one.transaction_version)).toEqual(
          all
            .toReversed()
            .slice(0, 5)
            .map((one) => one.transaction_version),
        )
      }
    }
  })

  it('are those that getModuleEventsByEventType asks for', async () => {
    const module = expected.find(({ account_address }) => account_address === NO_ACCOUNT)
    for (const type of new Set([module?.type, expected[0]!.type].filter((one) => one !== undefined))) {
      const where = {
        account_address: { _eq: NO_ACCOUNT },
        creation_number: { _eq: '0' },
        sequence_number: { _eq: '0' },
        indexed_type: { _eq: type },
      }
      const all = expected.filter((one) => {
        const isModule = one.account_address === NO_ACCOUNT && one.creation_number === 0 && one.sequence_number === 0
        return isModule && one.type === type
      })
      const { rows } = await asks[0]!({ where_condition: where, limit: 10 })
      expect(withoutData(rows)).toEqual(all.slice(0, 10))
    }
  })

  it('can be filtered by stream, by account and type, and by version', async () => {
    const keyed = expected.find(({ account_address }) => account_address !== NO_ACCOUNT)!
    const { account_address: account, creation_number: number, type, transaction_version: version } = keyed
    const of = (test: (row: Row) => boolean) => expected.filter(test).slice(0, 100)
    for (const ask of asks) {
      const stream = { account_address: { _eq: account }, creation_number: { _eq: number } }
      const isOfStream = (row: Row) => row.account_address === account && row.creation_number === number
      expect(withoutData((await ask({ where_condition: stream })).rows)).toEqual(of(isOfStream))
      const typed = { account_address: { _eq: account }, indexed_type: { _eq: type } }
      const isTyped = (row: Row) => row.account_address === account && row.type === type
      expect(withoutData((await ask({ where_condition: typed })).rows)).toEqual(of(isTyped))
      const one = { transaction_version: { _eq: version } }
      expect(withoutData((await ask({ where_condition: one })).rows)).toEqual(
        of((row) => row.transaction_version === version),
      )
    }
  })

  it('are refused without a filter by which they are found, and by a store without transactions', async () => {
    const [ask] = asks as [Ask]
    expect((await ask({ where_condition: {} })).fault).toContain('its filter must name type, indexed_type')
    const account = { account_address: { _eq: NO_ACCOUNT } }
    expect((await ask({ where_condition: account })).fault).toContain('must also name creation_number')
    // Module events have this account and number, in no stream of their own.
    for (const address of ['0x0', NO_ACCOUNT]) {
      const modules = { account_address: { _in: ['0x1', address] }, creation_number: { _eq: 0 } }
      expect((await ask({ where_condition: modules })).fault).toContain('are found by type or transaction_version')
    }
    expect((await ask({ where_condition: { indexed_type: { _eq: 'no type' } } })).rows).toEqual([])
    expect((await ask({ where_condition: { transaction_version: { _eq: '99999999999' } } })).rows).toEqual([])
    expect((await ask({ where_condition: { transaction_version: { _eq: -1 } } })).rows).toEqual([])
    const engine = createMemoryEngine()
    await engine.commit([...assetLedger()], { chainId: 4n })
    const none = await asking(createLedger(engine))({ where_condition: { indexed_type: { _eq: '0x1::m::E' } } })
    expect(none.fault).toContain('the store keeps no transactions')
  })

  it('are filtered by time, and by nothing that is no time', async () => {
    const { type } = expected[0]!
    const listener = createRequestListener({
      ledger: createLedger((await createSignedTransactions({ seed: testSeed() })).engine),
    })
    const ask = async (filter: string) => {
      const query = `{ events(where: {type: {_eq: "${type}"}, transaction_timestamp: ${filter}}, limit: 1000) { transaction_timestamp } }`
      const { body } = await inject(listener, { method: 'POST', url: '/v1/graphql', payload: { query } })
      return JSON.parse(body) as { data?: { events: { transaction_timestamp: string }[] }; errors?: object[] }
    }
    const times = (await ask('{_gte: "1970-01-01"}')).data!.events.map((one) => one.transaction_timestamp)
    expect(times.length).toBe(expected.filter((one) => one.type === type).length)
    const [middle] = times.slice(Math.floor(times.length / 2)) as [string]
    for (const text of [middle, `${middle}Z`]) {
      expect((await ask(`{_lt: "${text}"}`)).data!.events.length).toBe(times.filter((one) => one < middle).length)
      expect((await ask(`{_gte: "${text}"}`)).data!.events.length).toBe(times.filter((one) => one >= middle).length)
    }
    expect((await ask('{_lt: "soon"}')).errors).toHaveLength(1)
  })
})
