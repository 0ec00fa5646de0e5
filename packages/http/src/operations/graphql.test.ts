import { setImmediate } from 'node:timers/promises'
import { bytesToHex, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createLedger, type Ledger } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { HoldingsModel, OWNERS, randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { LedgerHasher } from '@ledger-state/proof'
import { objectKey, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { describe, expect, it, vi } from 'vitest'
import {
  ALICE,
  ALICE_STORE,
  assetLedger,
  BOB,
  COIN,
  COLLECTION,
  CREATOR,
  collectionMembers,
  metadataMembers,
  objectWrite,
  SECOND_STORE,
  storeMember,
  TOKENS,
  tokenMembers,
} from '../../testing/asset-ledger.js'
import { MOST_FIELDS, MOST_LEVELS, MOST_ROWS, MOST_ROWS_READ } from '../graphql/limits.js'
import { CURRENT_TOKEN_DATAS } from '../graphql/tables/current-token-datas.js'
import { TABLES } from '../graphql/tables.js'
import { createRequestListener } from '../server/create-request-listener.js'

interface Reply {
  readonly status: number
  readonly data?: Record<string, never>
  readonly errors?: readonly { message: string; extensions: { path: string; code: string } }[]
  readonly version: unknown
}

type Ask = (query: string, variables?: object, options?: { url?: string; headers?: object }) => Promise<Reply>

function asking(ledger: Ledger, limits: { readonly maxAnswerBytes?: number } = {}): Ask {
  const listener = createRequestListener({ ledger, ...limits })
  return async (query, variables, { url = '/v1/graphql', headers = {} } = {}) => {
    const answer = await inject(listener, {
      method: 'POST',
      url,
      headers: { ...headers },
      payload: { query, variables },
    })
    const version = answer.headers['x-aptos-ledger-version']
    return { status: answer.statusCode, version, ...(JSON.parse(answer.body) as Omit<Reply, 'status' | 'version'>) }
  }
}

async function askAssets(): Promise<Ask> {
  const engine = createMemoryEngine()
  await engine.commit([...assetLedger()], { chainId: 4n })
  return asking(createLedger(engine))
}

/** The message of the only fault of a document. */
async function faultOf(reply: Promise<Reply>): Promise<string> {
  const { status, errors, data } = await reply
  expect([status, errors?.length, data]).toEqual([200, 1, undefined])
  return errors![0]!.message
}

/** Ten versions, of which the first five are pruned. */
async function prunedEngine(): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (let version = 0n; version < 10n; version++) {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    await engine.commit([{ version, block, writes: [] }], { chainId: 4n })
  }
  await engine.prune(5n)
  return engine
}

const balances = (args: string, fields = 'storage_id amount'): string =>
  `{ current_fungible_asset_balances${args && `(${args})`} { ${fields} } }`
const OF_ALICE = `where: {owner_address: {_eq: "0xa11ce"}}`

describe('POST /v1/graphql', () => {
  it('sorts by a column once, however often a variable names it', async () => {
    const engine = createMemoryEngine()
    await engine.commit([...assetLedger()], { chainId: 4n })
    const ask = asking(createLedger(engine), { maxAnswerBytes: 1 << 20 })
    const query = `query q($order: [current_fungible_asset_balances_order_by!]) {
      current_fungible_asset_balances(where: {owner_address: {_eq: "${ALICE}"}}, order_by: $order) { storage_id }
    }`
    const order = [{ owner_address: 'asc' }, { storage_id: 'desc' }]
    const [once, often] = [
      await ask(query, { order }),
      await ask(query, { order: [...Array.from({ length: 3_000 }, () => order[0]), order[1], { storage_id: 'asc' }] }),
    ]
    expect(once.status).toBe(200)
    expect(once.data).toBeDefined()
    expect(often).toEqual(once)
  })

  it('has the status of its error as an element of a batch, as it has alone', async () => {
    const listener = createRequestListener({ ledger: createLedger(await prunedEngine()) })
    const query = '{ledger_infos{chain_id}}'
    const versions = [7, 2, 99]
    const requests = versions.map((at) => ({ path: `/v1/graphql?ledger_version=${at}`, body: { query } }))
    const batch = await inject(listener, { method: 'POST', url: '/v1/batch', payload: { requests } })
    const results = JSON.parse(batch.body) as { status: number; value?: unknown; error?: unknown }[]
    for (const [at, { path, body }] of requests.entries()) {
      const alone = await inject(listener, { method: 'POST', url: path, payload: body })
      const { status, value, error } = results[at]!
      expect(status).toBe(alone.statusCode)
      expect(status === 200 ? value : error).toEqual(JSON.parse(alone.body))
    }
    expect(results.map(({ status }) => status)).toEqual([200, 410, 404])
  })

  it('gives the same answers as the model of random ledgers, at any version, in pages', async () => {
    const count = 60
    const generated = randomHoldings(createRandom(testSeed()), count)
    const model = new HoldingsModel(generated)
    const engine = createMemoryEngine()
    await engine.commit(withHoldings(generated.versions), { chainId: 4n })
    const ask = asking(createLedger(engine))
    const query = `query q($owner: String!, $offset: Int, $limit: Int) {
      current_fungible_asset_balances(where: {owner_address: {_eq: $owner}}, offset: $offset, limit: $limit) {
        asset_type owner_address storage_id is_primary is_frozen amount last_transaction_version
      }
      current_fungible_asset_balances_aggregate(where: {owner_address: {_eq: $owner}}) { aggregate { count } }
      current_objects(where: {owner_address: {_eq: $owner}}) { object_address last_transaction_version }
    }`
    for (const version of [10, 35, count - 1]) {
      for (const owner of OWNERS) {
        const expected = model.balances(owner, BigInt(version)).map((one) => ({
          asset_type: one.assetType,
          owner_address: one.owner,
          storage_id: one.storage,
          is_primary: one.isPrimary,
          is_frozen: one.isFrozen,
          amount: Number(one.amount),
          last_transaction_version: Number(one.version),
        }))
        const found: unknown[] = []
        for (let offset = 0; ; offset += 3) {
          const reply = await ask(query, { owner, offset, limit: 3, ledger_version: version })
          expect(reply, JSON.stringify(reply)).toMatchObject({
            status: 200,
            data: { current_fungible_asset_balances_aggregate: { aggregate: { count: expected.length } } },
          })
          const page = reply.data!.current_fungible_asset_balances as unknown as unknown[]
          found.push(...page)
          const objects = model.objects(BigInt(version)).filter(({ is }) => is.owner === owner)
          expect(reply.data!.current_objects).toEqual(
            objects.map(({ at, written }) => ({ object_address: at, last_transaction_version: Number(written) })),
          )
          if (page.length < 3) break
        }
        expect(found).toEqual(expected)
      }
    }
  })

  it.each([
    ['of the whole transactions', WHOLE_TRANSACTIONS_KEY, 'OTHER::', 'OTHER::'],
    ['of Aptos, if the store has none', undefined, undefined, 'APTOS::'],
  ])('hashes the keys of objects with the salt %s', async (_, key, stored, salt) => {
    const engine = createMemoryEngine()
    const [first, ...rest] = assetLedger()
    const writes = key ? [[key, new TextEncoder().encode(stored)] as const] : []
    await engine.commit([{ ...first!, writes: [...first!.writes, ...writes] }, ...rest], { chainId: 4n })
    const ask = asking(createLedger(engine))
    const { data } = await ask(
      `{ current_objects(where: {object_address: {_eq: "${ALICE_STORE}"}}) { state_key_hash } }`,
    )
    const hash = new LedgerHasher(salt).hash('StateKey', objectKey(parseAddress(ALICE_STORE)))
    expect(data).toEqual({ current_objects: [{ state_key_hash: bytesToHex(hash) }] })
  })

  it('reads the version of the query, of the header or of the variable, and refuses two', async () => {
    const ask = await askAssets()
    const query = `{ current_token_ownerships_v2_aggregate(${OF_ALICE}) { aggregate { count } } }`
    const countAt = async (...[variables, options]: [object?, object?]) => {
      const { data, errors } = await ask(query, variables, options)
      return (
        (data?.current_token_ownerships_v2_aggregate as unknown as { aggregate: { count: number } })?.aggregate.count ??
        errors
      )
    }
    expect(await countAt()).toBe(1)
    for (let round = 0; round < 2; round++) {
      expect(await countAt({ ledger_version: 0 })).toBe(2)
      expect(await countAt({ ledger_version: '0' })).toBe(2)
      expect(await countAt({}, { headers: { 'x-aptos-ledger-version': '0' } })).toBe(2)
      expect(await countAt({}, { headers: { 'x-svc-ledger-version': '0' } })).toBe(2)
      expect(await countAt({}, { url: '/v1/graphql?ledger_version=0' })).toBe(2)
      expect(await countAt({}, { url: '/v1/graphql?ledger_timestamp=1970-01-01T00:00:00Z' })).toBe(2)
      expect(await countAt({ ledger_version: 1 })).toBe(1)
    }
    const twice = await ask(query, { ledger_version: 0 }, { headers: { 'x-aptos-ledger-version': '0' } })
    expect([twice.status, twice.errors![0]!.message]).toEqual([
      400,
      expect.stringContaining('the version is given in several places'),
    ])
    const above = await ask(query, { ledger_version: 2 })
    expect([above.status, above.errors![0]!.extensions.code]).toEqual([404, 'version_not_found'])
    expect((await ask(query, { ledger_version: -1 })).status).toBe(400)
  })

  it('filters with all operators, which never match null', async () => {
    const ask = await askAssets()
    const storesWhere = async (where: string): Promise<unknown> => {
      const reply = await ask(
        balances(`where: {owner_address: {_eq: "${ALICE}"}, ${where}}, order_by: {amount: asc}`, 'amount'),
      )
      return (
        (reply.data?.current_fungible_asset_balances as unknown as { amount: number }[] | undefined)?.map(
          ({ amount }) => amount,
        ) ?? reply
      )
    }
    const most = Number(2n ** 63n - 7n)
    expect(await storesWhere('amount: {_gt: 0}')).toEqual([500, most])
    expect(await storesWhere('amount: {_gte: 500, _lt: "9223372036854775801"}')).toEqual([500])
    expect(await storesWhere('amount: {_lte: 9223372036854775801}')).toEqual([0, 500, most])
    expect(await storesWhere('amount: {_in: [0, 500]}')).toEqual([0, 500])
    expect(await storesWhere('amount: {_nin: [0, 500]}')).toEqual([most])
    expect(await storesWhere('amount: {_neq: 0}')).toEqual([500, most])
    expect(await storesWhere(`_or: [{asset_type: {_eq: "${COIN}"}}, {is_frozen: {_eq: true}}]`)).toEqual([0, 500])
    expect(await storesWhere('_not: {token_standard: {_eq: "v1"}}')).toEqual([0, most])
    expect(await storesWhere(`_and: [{is_primary: {_eq: true}}, {asset_type: {_eq: "0xfa1"}}]`)).toEqual([most])
    expect(await storesWhere('metadata: {symbol: {_eq: "GRN"}}')).toEqual([0, most])
    // The coin has no supply of the second standard: nothing is known of it, nor of the opposite.
    expect(await storesWhere('metadata: {supply_v2: {_gt: 0}}')).toEqual([0, most])
    expect(await storesWhere('metadata: {_not: {supply_v2: {_gt: 0}}}')).toEqual([])
    expect(await storesWhere('metadata: {supply_v2: {_is_null: true}}')).toEqual([500])
    expect(await storesWhere('_or: []')).toEqual([])
    expect(await storesWhere('_and: []')).toEqual([0, 500, most])
  })

  it('finds rows by a column that all branches of an _or name', async () => {
    const ask = await askAssets()
    const rowsOf = async (query: string): Promise<unknown> => Object.values((await ask(query)).data!)[0]
    const owners = (where: string) =>
      rowsOf(balances(`where: {${where}}, order_by: [{owner_address: asc}, {amount: asc}]`, 'owner_address amount'))
    const both = await owners(`owner_address: {_in: ["${ALICE}", "${BOB}"]}, amount: {_gt: 0}`)
    expect(both).toHaveLength(3)
    const [alice, bob] = [ALICE, BOB].map((owner) => `{owner_address: {_eq: "${owner}"}, amount: {_gt: 0}}`)
    expect(await owners(`_or: [${alice}, ${bob}, ${alice}]`)).toEqual(both)
    expect(await owners(`_or: [{_or: [${bob}]}, {_and: [${alice}]}]`)).toEqual(both)
    expect(await owners('_or: []')).toEqual([])
    const tokens = (where: string) =>
      rowsOf(
        `{ current_token_ownerships_v2(where: {${where}}, order_by: {token_data_id: asc}) { token_data_id owner_address } }`,
      )
    const ofCollection = `{collection_id: {_eq: "${COLLECTION}"}}`
    const all = await tokens(`current_token_data: ${ofCollection}`)
    expect(all).not.toEqual([])
    expect(await tokens(`current_token_data: {_or: [${ofCollection}, ${ofCollection}]}`)).toEqual(all)
    expect(
      await tokens(`_or: [{current_token_data: ${ofCollection}}, {current_token_data: {collection_id: {_eq: "0x1"}}}]`),
    ).toEqual(all)
  })

  it('sorts by several columns, and places null as requested', async () => {
    const ask = await askAssets()
    const sorted = async (orderBy: string, page = ''): Promise<unknown> => {
      const query = `{ fungible_asset_metadata(where: {creator_address: {_eq: "${CREATOR}"}}, order_by: ${orderBy}${page}) { symbol } }`
      const { data, errors } = await ask(query)
      return (
        (data?.fungible_asset_metadata as unknown as { symbol: string }[] | undefined)?.map(({ symbol }) => symbol) ??
        errors
      )
    }
    expect(await sorted('{name: asc}')).toEqual(['BEAN', 'GRN'])
    expect(await sorted('{name: desc}')).toEqual(['GRN', 'BEAN'])
    expect(await sorted('{supply_v2: asc}')).toEqual(['GRN', 'BEAN'])
    expect(await sorted('{supply_v2: asc_nulls_first}')).toEqual(['BEAN', 'GRN'])
    expect(await sorted('{supply_v2: desc}')).toEqual(['BEAN', 'GRN'])
    expect(await sorted('{supply_v2: desc_nulls_last}')).toEqual(['GRN', 'BEAN'])
    expect(await sorted('[{creator_address: desc}, {decimals: desc}]')).toEqual(['BEAN', 'GRN'])
    expect(await sorted('{decimals: asc}', ', limit: 1, offset: 1')).toEqual(['BEAN'])
  })

  it('finds rows by each column that it names', async () => {
    const ask = await askAssets()
    const found = async (query: string): Promise<unknown> => Object.values((await ask(query)).data ?? {})[0]
    expect(
      await found(
        `{ current_objects(where: {object_address: {_in: ["0x5ec0", "no address", "0xdead", "${SECOND_STORE}"]}}) { owner_address } }`,
      ),
    ).toEqual([{ owner_address: ALICE }])
    expect(
      await found(
        balances('where: {asset_type: {_eq: "0xfa1"}, amount: {_gt: 0}}, order_by: {amount: asc}', 'owner_address'),
      ),
    ).toEqual([{ owner_address: BOB }, { owner_address: ALICE }])
    expect(await found(balances(`where: {asset_type: {_eq: "${COIN}"}}`, 'owner_address'))).toEqual([
      { owner_address: ALICE },
    ])
    expect(await found(balances('where: {asset_type: {_eq: "::"}}'))).toEqual([])
    expect(await found(balances(`where: {storage_id: {_eq: "${ALICE}"}}`, 'asset_type'))).toEqual([
      { asset_type: COIN },
    ])
    expect(
      await found(
        `{ current_token_datas_v2(where: {collection_id: {_eq: "${COLLECTION}"}}, order_by: {token_name: asc}) { token_name } }`,
      ),
    ).toEqual([{ token_name: '#1' }, { token_name: '#2' }, { token_name: 'Seventh' }])
    const holders = `{ current_token_ownerships_v2(where: {current_token_data: {collection_id: {_eq: "${COLLECTION}"}}}, order_by: [{token_data_id: asc}]) { owner_address } }`
    expect(await found(holders)).toEqual([ALICE, BOB, BOB].map((owner) => ({ owner_address: owner })))
    expect(
      await found(`{ current_token_ownerships_v2(where: {token_data_id: {_eq: "${TOKENS[2]}"}}) { is_soulbound_v2 } }`),
    ).toEqual([{ is_soulbound_v2: true }])
    expect(await found('{ ledger_infos { chain_id } }')).toEqual([{ chain_id: 4 }])
  })

  it('answers aliases, fragments and directives', async () => {
    const ask = await askAssets()
    const query = `
      query ($with: Boolean!) {
        mine: current_fungible_asset_balances(where: {storage_id: {_eq: "${ALICE_STORE}"}}) {
          __typename
          ...Store
          ... on current_fungible_asset_balances { held: amount metadata { name } }
          is_frozen @include(if: $with)
          is_primary @skip(if: $with)
          metadata { code: symbol name }
        }
        type: __typename
      }
      fragment Store on current_fungible_asset_balances { storage_id }`
    expect(await ask(query, { with: false, ledger_version: 0 })).toEqual({
      status: 200,
      version: '1',
      data: {
        mine: [
          {
            __typename: 'current_fungible_asset_balances',
            storage_id: ALICE_STORE,
            held: Number(2n ** 63n),
            metadata: { name: 'Grain', code: 'GRN' },
            is_primary: true,
          },
        ],
        type: 'query_root',
      },
    })
    expect(Object.keys((await ask(query, { with: true })).data!.mine![0]!)).toContain('is_frozen')
  })

  it('reads each value of a row once, however often the document and its filter name it', async () => {
    const ask = await askAssets()
    const spies = [
      CURRENT_TOKEN_DATAS.relations!.current_collection!,
      CURRENT_TOKEN_DATAS.columns.token_properties!,
    ].map((part) => vi.spyOn(part, 'read'))
    const aliases = Array.from({ length: 90 }, (_, at) => `c${at}: current_collection { uri } p${at}: token_properties`)
    const filter = Array.from({ length: 12 }, () => '{current_collection: {collection_name: {_is_null: false}}}')
    const reply = await ask(
      `{ current_token_datas_v2(where: {token_data_id: {_in: ${JSON.stringify(TOKENS.slice(0, 2))}}, _and: [${filter.join()}]}, limit: 10) { ${aliases.join(' ')} } }`,
    )
    const rows = reply.data!.current_token_datas_v2 as unknown as object[]
    expect(rows.map((row) => Object.keys(row).length)).toEqual([180, 180])
    expect(spies.map(({ mock }) => mock.calls.length)).toEqual([2, 2])
    for (const spy of spies) spy.mockRestore()
  })

  it('says of tokens that are fungible, and of what a token or a collection does not have, what an indexer says', async () => {
    const engine = createMemoryEngine()
    const writes = [
      objectWrite(COLLECTION, CREATOR, false, collectionMembers().slice(0, 1)),
      objectWrite(TOKENS[0]!, ALICE, true, [...tokenMembers(0), ...metadataMembers()]),
      objectWrite(TOKENS[1]!, ALICE, true, tokenMembers(1)),
    ]
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit(withHoldings([{ version: 0n, block, writes }]), { chainId: 4n })
    const { data } = await asking(createLedger(engine))(
      `{ current_token_datas_v2(where: {collection_id: {_eq: "${COLLECTION}"}}) {
        is_fungible_v2 token_properties current_collection { current_supply max_supply total_minted_v2 }
      } }`,
    )
    const uncounted = { current_supply: 0, max_supply: null, total_minted_v2: null }
    expect(data!.current_token_datas_v2).toEqual([
      {
        is_fungible_v2: true,
        token_properties: { color: 'red', age: String(2n ** 60n) },
        current_collection: uncounted,
      },
      { is_fungible_v2: false, token_properties: null, current_collection: uncounted },
    ])
  })

  it('keeps all digits', async () => {
    const engine = createMemoryEngine()
    await engine.commit([...assetLedger()], { chainId: 4n })
    const listener = createRequestListener({ ledger: createLedger(engine) })
    const payload = { query: balances(`where: {storage_id: {_eq: "${ALICE_STORE}"}}`, 'amount') }
    const { body } = await inject(listener, { method: 'POST', url: '/v1/graphql', payload })
    expect(body).toBe('{"data":{"current_fungible_asset_balances":[{"amount":9223372036854775801}]}}')
  })

  it('is an element of a batch, at the version of the batch', async () => {
    const engine = createMemoryEngine()
    await engine.commit([...assetLedger()], { chainId: 4n })
    const listener = createRequestListener({ ledger: createLedger(engine) })
    const query = `{ current_token_ownerships_v2_aggregate(${OF_ALICE}) { aggregate { count } } }`
    const payload = {
      requests: [
        { path: '/v1/graphql', body: { query } },
        { path: '/v1/graphql', body: { query: '{ x }' } },
      ],
    }
    const { body } = await inject(listener, { method: 'POST', url: '/v1/batch?ledger_version=0', payload })
    expect(JSON.parse(body)).toMatchObject([
      { status: 200, value: { data: { current_token_ownerships_v2_aggregate: { aggregate: { count: 2 } } } } },
      { status: 200, value: { errors: [{ message: expect.stringContaining('field "x"') }] } },
    ])
  })

  it('needs the index of holdings, and says so', async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: [objectWrite(ALICE_STORE, ALICE, true, [storeMember(1n)])] }], {
      chainId: 4n,
    })
    const ask = asking(createLedger(engine))
    const reply = await ask(balances(OF_ALICE))
    expect(reply).toMatchObject({
      status: 403,
      error_code: 'api_disabled',
      errors: [{ extensions: { code: 'holdings_not_indexed' } }],
    })
    // An object is read by its address, without the index.
    expect(
      (await ask(`{ current_objects(where: {object_address: {_eq: "${ALICE_STORE}"}}) { owner_address } }`)).data,
    ).toEqual({
      current_objects: [{ owner_address: ALICE }],
    })
  })
})

describe('POST /v1/graphql refuses', () => {
  it('all fields that it does not answer, by name', async () => {
    const ask = await askAssets()
    const refused = 'it is not answered here: this service knows the state of the ledger, and no more'
    const reply = await ask(
      'query q($where: current_aptos_names_bool_exp) { current_aptos_names(where: $where) { domain } }',
    )
    expect(reply).toEqual({
      status: 200,
      version: '1',
      errors: [
        {
          message: `field "current_aptos_names": ${refused}`,
          extensions: { path: '$.selectionSet.current_aptos_names', code: 'validation-failed' },
        },
      ],
    })
    const faults: readonly (readonly [string, string | RegExp])[] = [
      ['{ __schema { types { name } } }', /^field "__schema": introspection is not answered/],
      ['{ __type(name: "a") { name } }', /^field "__type": introspection/],
      ['fragment F on query_root { __schema { types { name } } } { ...F }', /__schema/],
      ['mutation { x }', 'a mutation is not answered: this service only reads'],
      ['subscription { current_objects { owner_address } }', 'a subscription is not answered: this service only reads'],
      [balances(OF_ALICE, 'amonut'), /^Cannot query field "amonut" on type "current_fungible_asset_balances"/],
      [
        balances('where: {owner_address: {_ilike: "%"}}'),
        /"String_comparison_exp" not to include unknown field "_ilike"/,
      ],
      [balances('where: {last_transaction_timestamp: {_gt: "2024"}}'), /timestamp expects a time/],
      [balances('distinct_on: amount'), /Unknown argument "distinct_on"/],
      [
        balances(''),
        'field "current_fungible_asset_balances": its filter must name owner_address, storage_id or asset_type, with _eq or _in, and in all branches of an _or the same one',
      ],
      [balances('where: {owner_address: {_neq: "0x1"}}'), /its filter must name owner_address/],
      [
        balances('where: {_or: [{owner_address: {_eq: "0x1"}}, {amount: {_gt: 0}}]}'),
        /its filter must name owner_address/,
      ],
      [
        balances('where: {_or: [{owner_address: {_eq: "0x1"}}, {storage_id: {_eq: "0x1"}}]}'),
        /in all branches of an _or the same one/,
      ],
      [balances(`where: {owner_address: {_eq: null}}`), /unexpected null value for "owner_address"/],
      [balances(`${OF_ALICE}, limit: -1`), 'field "current_fungible_asset_balances": `limit` must not be negative'],
      [balances(`${OF_ALICE}, offset: ${MOST_ROWS_READ + 1}`), /an offset is at most 20000/],
      [balances(`${OF_ALICE}, order_by: {amount: sideways}`), /"sideways"/],
      ['query a { ledger_infos { chain_id } } query b { ledger_infos { chain_id } }', /several operations/],
      ['{ ledger_infos { chain_id } ledger_infos { chain_id } }', /it occurs twice/],
      ['{ current_objects { a: owner_address a: object_address } }', 'several fields have the key "a"'],
      [
        'fragment A on query_root { ...B } fragment B on query_root { ...A } { ...A }',
        /Cannot spread fragment "A" within itself/,
      ],
      ['{', /Syntax Error/],
      ['', /Syntax Error/],
      ['fragment F on ledger_infos { chain_id }', 'the document has no query'],
      ['{ ledger_infos { ...Missing } }', /Unknown fragment "Missing"/],
      ['query q($a: Nothing) { ledger_infos(where: $a) { chain_id } }', /Unknown type "Nothing"/],
    ]
    for (const [query, message] of faults) expect(await faultOf(ask(query)), query).toMatch(message)
    expect(await faultOf(ask('query q($n: Int) { current_objects(limit: $n) { owner_address } }', { n: 'x' }))).toMatch(
      /"\$n"/,
    )
    // A variable with a default may be null, where a directive allows no null.
    for (const directive of ['include', 'skip']) {
      for (const field of [`chain_id @${directive}(if: $x)`, `... @${directive}(if: $x) { chain_id }`]) {
        const query = `query q($x: Boolean = true) { ledger_infos { __typename ${field} } }`
        expect(await faultOf(ask(query, { x: null })), query).toMatch(/Argument "@\w+\(if:\)" has invalid value/)
        expect((await ask(query, {})).errors, query).toBeUndefined()
      }
    }
    const { status } = await ask(undefined as unknown as string)
    expect(status).toBe(400)
  })

  it('documents that are too large, too deep or too expensive, before it reads', async () => {
    const ask = await askAssets()
    const deep = (levels: number) => balances(`where: ${'{_and: ['.repeat(levels)}${']}'.repeat(levels)}`)
    expect(await faultOf(ask(deep(MOST_LEVELS)))).toBe(`a query has at most ${MOST_LEVELS} levels`)
    expect(await faultOf(ask(`{${'a{'.repeat(10_000)}`))).toBe(`a query has at most ${MOST_LEVELS} levels`)
    expect(await faultOf(ask(`{a(b:${'['.repeat(10_000)}`))).toBe(`a query has at most ${MOST_LEVELS} levels`)
    // A quote in a block of text that has a backslash before it does not end the block.
    const block = `{ current_objects(where: {object_address: {_eq: """a\\\\""" b """}}) { owner_address } } ${'['.repeat(900)}`
    expect(await faultOf(ask(block))).toBe(`a query has at most ${MOST_LEVELS} levels`)
    // Brackets in texts and comments are no levels.
    expect(
      (
        await ask(
          `# ${'{'.repeat(100)}\n{ current_objects(where: {object_address: {_eq: "${'['.repeat(100)}"}}) { owner_address } }`,
        )
      ).data,
    ).toEqual({ current_objects: [] })
    expect(await faultOf(ask(`{ ${'a '.repeat(2_000)} }`))).toMatch(/1000 tokens/)
    expect(await faultOf(ask(' '.repeat(40_000)))).toMatch(/at most 32768 characters/)

    const aliases = (count: number, field: string) =>
      Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ')
    expect(await faultOf(ask(balances(OF_ALICE, aliases(MOST_FIELDS, 'amount'))))).toBe(
      `a document has at most ${MOST_FIELDS} fields`,
    )
    const bomb = ['fragment F0 on ledger_infos { chain_id }']
    for (let at = 1; at < 30; at++) bomb.push(`fragment F${at} on ledger_infos { ...F${at - 1} ...F${at - 1} }`)
    expect(await faultOf(ask(`{ ledger_infos { ...F29 } } ${bomb.join(' ')}`))).toBe(
      `a document has at most ${MOST_FIELDS} fields`,
    )
    expect(await faultOf(ask(balances(`${OF_ALICE}, limit: ${MOST_ROWS}`, aliases(200, 'amount'))))).toMatch(
      /the answer may have 201000 values, and at most 100000 are given/,
    )

    const where = { owner_address: { _in: Array.from({ length: 200 }, (_, at) => `0x${at.toString(16)}`) } }
    const query = 'query q($where: current_objects_bool_exp) { current_objects(where: $where) { owner_address } }'
    expect(await faultOf(ask(query, { where }))).toMatch(/at most 100 conditions/)
    // Parts without a condition take time, too.
    const empty = { _or: Array.from({ length: 8_000 }, () => ({})) }
    expect(await faultOf(ask(query, { where: empty }))).toMatch(/at most 100 conditions/)
    let nested: object = {}
    for (let level = 0; level < 60; level++) nested = { _and: [nested] }
    expect(await faultOf(ask(query, { where: nested }))).toMatch(/levels/)
    const large = await ask(query, { where: { owner_address: { _eq: 'x'.repeat(300_000) } } })
    expect([large.status, large.errors!.length]).toEqual([413, 1])
    const digits = await ask(`query q($n: Int) { current_objects(limit: $n) { owner_address } }`, { n: 1e300 })
    expect(digits.errors).toHaveLength(1)
    const quoted = await ask('query q($n: Int) { current_objects(limit: $n) { owner_address } }', {
      n: 'y'.repeat(200_000),
    })
    expect(quoted.errors![0]!.message.length).toBeLessThan(1_100)
    const own = await ask(
      'query q($where: current_objects_bool_exp) { current_objects(where: $where) { owner_address } }',
      JSON.parse('{"where": {"__proto__": {"_eq": "0x1"}}}') as object,
    )
    expect(own.errors![0]!.message).toMatch(/__proto__/)
  })

  it('rows that would take too much memory while they are sorted', async () => {
    const engine = createMemoryEngine()
    const long: Parameters<typeof objectWrite>[3][number] = [
      '0x5::m::Long',
      (writer) => writer.bytes(new Uint8Array(1_000_000)),
    ]
    const writes = TOKENS.map((token) => objectWrite(token, ALICE, true, [long]))
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit(withHoldings([{ version: 0n, block, writes }]), { chainId: 4n })
    const ask = asking(createLedger(engine), { maxAnswerBytes: 2_500_000 })
    const listed = (orderBy: string) =>
      `{ current_objects(where: {owner_address: {_eq: "${ALICE}"}}${orderBy}) { object_address } }`
    for (let round = 0; round < 2; round++) {
      expect((await ask(listed(''))).data!.current_objects).toHaveLength(3)
      expect(await ask(listed(', order_by: {object_address: asc}'))).toMatchObject({ status: 503 })
    }
  })

  it('a list that needs too many rows, and lets other clients have their turns', async () => {
    const engine = createMemoryEngine()
    const count = MOST_ROWS_READ / 10 + 1
    const writes = Array.from({ length: count }, (_, at) =>
      objectWrite(`0x${(at + 1_000_000).toString(16)}`, ALICE, true, [storeMember(BigInt(at))]),
    )
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit(withHoldings([{ version: 0n, block, writes }]), { chainId: 4n })
    const listener = createRequestListener({ ledger: createLedger(engine) })
    const ask = asking(createLedger(engine))
    expect((await ask(balances(OF_ALICE))).data!.current_fungible_asset_balances).toHaveLength(100)
    expect((await ask(balances(`${OF_ALICE}, limit: 1000000`))).data!.current_fungible_asset_balances).toHaveLength(
      MOST_ROWS,
    )
    expect((await ask(balances(`${OF_ALICE}, limit: 0`))).data!.current_fungible_asset_balances).toEqual([])
    const field = `current_fungible_asset_balances_aggregate(${OF_ALICE}) { aggregate { count } }`
    const times = (number: number) => `{ ${Array.from({ length: number }, (_, at) => `a${at}: ${field}`).join(' ')} }`
    const [first] = Object.values((await ask(times(1))).data!)
    expect(first).toEqual({ aggregate: { count } })
    const counted = times(10)
    const long = inject(listener, { method: 'POST', url: '/v1/graphql', payload: { query: counted } })
    let isDone = false
    let between = 0
    void long.then(() => {
      isDone = true
    })
    while (!isDone) {
      await inject(listener, '/v1/-/healthy')
      await setImmediate()
      between++
    }
    expect(between).toBeGreaterThan(3)
    expect((await long).json()).toMatchObject({
      errors: [{ message: expect.stringMatching(/this needs more than 20000 rows/) }],
    })
    const limited = `{ current_fungible_asset_balances_aggregate(${OF_ALICE}, limit: 7, offset: 2) { aggregate { count } } }`
    expect((await ask(limited)).data).toEqual({
      current_fungible_asset_balances_aggregate: { aggregate: { count: 7 } },
    })
  })
})

it('each table needs columns that it has', () => {
  for (const { needs, columns, relations } of TABLES) {
    for (const name of needs === 'no column' ? [] : needs.split(/, | or /)) {
      const [first, second] = name.split('.')
      expect(second === undefined ? columns : relations![first!]!.shape.columns, name).toHaveProperty(second ?? first!)
    }
  }
})
