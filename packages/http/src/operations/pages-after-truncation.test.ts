// Every list in pages, on a ledger that reorganizes between two pages: versions that the first page depends on are cut
// off, and others take their place.
import { parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { ASSETS, COINS, COLLECTIONS, OWNERS, randomHoldings } from '@ledger-state/ledger/testing/random-holdings'
import { HELD, HOLDERS, u64, viewLedger } from '@ledger-state/ledger/testing/view-ledger'
import { createRandom } from '@ledger-state/testing/random'
import { moduleKey, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createLongTransactions, EVENT_TYPE } from '../../testing/long-transactions.ts'
import { createSignedTransactions } from '../../testing/signed-transactions.ts'
import { slicedLedger } from '../../testing/sliced-ledger.ts'
import { createOperations } from '../server/create-operations.js'
import { createRequestListener } from '../server/create-request-listener.js'

const SEED = 7

async function ledgerOfHoldings(): Promise<StateWriter> {
  const engine = createMemoryEngine()
  await engine.commit(withHoldings(randomHoldings(createRandom(SEED), 160).versions), { chainId: 4 })
  return engine
}

const TABLE = parseAddress('0x7')

/** The values 1 to 9 of resources and of two items of a table, and two modules. */
function ledgerOfValues(): Promise<StateWriter> {
  return viewLedger(
    0n,
    Array.from({ length: 9 }, (_, at): Write[] => [
      [resourceKey(HOLDERS[0]!, HELD), u64(at + 1)],
      [resourceKey(HOLDERS[1]!, HELD), u64(at + 1)],
      [tableItemKey(TABLE, u64(1)), u64(at + 1)],
      [tableItemKey(TABLE, u64(2)), u64(at + 1)],
      [moduleKey(TABLE, 'a'), u64(at + 1)],
      [moduleKey(TABLE, 'b'), u64(at + 1)],
    ]),
  )
}

const ledgerOfTransactions = async (): Promise<StateWriter> => (await createSignedTransactions({ seed: SEED })).engine

interface List {
  readonly operation: string
  readonly open: () => Promise<StateWriter>
  /** Paths for subjects; the first one with several pages counts. */
  readonly paths: readonly string[]
  readonly body?: object
  readonly isHistory?: boolean
  /** Whether the cursor is a fullnode's, which has no branch. */
  readonly isOfFullnode?: boolean
}

const of = (subjects: readonly string[], toPath: (subject: string) => string): string[] => subjects.map(toPath)
const holdings = (operation: string, paths: readonly string[], isHistory = false): List => {
  return { operation, open: ledgerOfHoldings, paths, isHistory }
}
const values = (operation: string, path: string, isHistory: boolean, body?: object): List => {
  return { operation, open: ledgerOfValues, paths: [path], isHistory, ...(body && { body }) }
}

const VIEW = { function: '0x42::main::value', type_arguments: [], arguments: ['0xa1'] }
const ITEM = { key_type: 'u64', value_type: 'u64', key: '1' }

const LISTS: readonly List[] = [
  holdings(
    'get_account_balances',
    of(OWNERS, (owner) => `/accounts/${owner}/balances?`),
  ),
  holdings(
    'get_account_objects',
    of(OWNERS, (owner) => `/accounts/${owner}/objects?`),
  ),
  holdings(
    'get_asset_holders',
    of(ASSETS, (asset) => `/assets/${asset}/holders?`),
  ),
  holdings(
    'get_asset_holders',
    of(ASSETS, (asset) => `/assets/${asset}/holders?order=amount`),
  ),
  holdings(
    'get_collection_tokens',
    of(COLLECTIONS, (collection) => `/collections/${collection}/tokens?`),
  ),
  holdings(
    'get_account_activities',
    of(OWNERS, (owner) => `/accounts/${owner}/activities?`),
    true,
  ),
  holdings(
    'get_account_balance_history',
    of(OWNERS, (owner) => `/accounts/${owner}/balance/${COINS[0]}/history?`),
    true,
  ),
  holdings(
    'get_account_changes',
    of(OWNERS, (owner) => `/accounts/${owner}/changes?from=0`),
  ),
  holdings('get_type_uses', ['/types/0x1::coin::CoinStore/uses?']),
  {
    ...holdings(
      'get_account_resources',
      of(OWNERS, (owner) => `/accounts/${owner}/resources?`),
    ),
    isOfFullnode: true,
  },
  { ...values('get_account_modules', '/accounts/0x7/modules?', false), isOfFullnode: true },
  values('get_account_resource_history', '/accounts/0xa1/resource/0x42::main::R/history?', true),
  values('get_table_items', '/tables/0x7/items?', false),
  values('get_table_item_history', '/tables/0x7/item/history?', true, ITEM),
  values('get_raw_table_item_history', '/tables/0x7/raw_item/history?', true, { key: '0x0100000000000000' }),
  values('get_view_history', '/view/history?', true, VIEW),
  values('get_view_history', '/view/history?samples=5', true, VIEW),
  values('get_view_history', '/view/history?every=1s', true, VIEW),
  {
    operation: 'get_affecting_transactions',
    open: ledgerOfTransactions,
    paths: ['/accounts/0x1/affecting_transactions?'],
    isHistory: true,
  },
  {
    operation: 'get_events_by_type',
    open: () => createLongTransactions(5),
    paths: [`/events/${EVENT_TYPE}?`],
    isHistory: true,
  },
  { operation: 'get_slice', open: slicedLedger, paths: ['/-/slice?'] },
]

interface Page {
  readonly status: number
  readonly body: string
  readonly cursor: string | undefined
}

type Ask = (path: string) => Promise<Page>

function clientOf(engine: StateWriter, body: object | undefined, accept = 'application/json'): Ask {
  const listener = createRequestListener({
    ledger: createLedger(engine),
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return async (path) => {
    const { statusCode, headers, payload } = await inject(listener, {
      url: `/v1${path}`,
      headers: { accept, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', payload: JSON.stringify(body) }),
    })
    const cursor = headers['x-svc-cursor']
    return { status: statusCode, body: payload, cursor: cursor === undefined ? undefined : String(cursor) }
  }
}

/** The first page of a list: the path of the next one, and the cursor. */
async function firstPage(
  ask: Ask,
  paths: readonly string[],
): Promise<{ readonly next: string; readonly cursor: string }> {
  for (const path of paths) {
    const page = await ask(`${path}&limit=1`)
    expect([page.status, page.body]).toEqual([200, expect.any(String)])
    const { cursor } = page
    if (cursor !== undefined) return { next: `${path}&limit=1&start=`, cursor }
  }
  throw new Error(`no list has a second page: ${paths.join(' ')}`)
}

/** Adds versions without writes, each a block. */
async function grow(engine: StateWriter, to: bigint): Promise<void> {
  const { latestVersion, latestBlock } = engine.ledger!
  for (let version = latestVersion + 1n, more = 1n; version <= to; version++, more++) {
    const { height, epoch, timestampUsec } = latestBlock
    const block = { height: height + more, epoch, timestampUsec: timestampUsec + more }
    await engine.commit([{ version, block, writes: [] }], { chainId: engine.ledger!.chainId })
  }
}

const cases = LISTS.flatMap((list) =>
  (list.isHistory ? ['&order=asc', '&order=desc'] : ['']).map((order) => {
    const paths = list.paths.map((path) => `${path}${order}`)
    return { ...list, paths, name: `${list.operation} ${paths[0]}`, order }
  }),
)

describe('the next page of a list', () => {
  it('is checked of every operation that has pages', async () => {
    const paged = createOperations('svc', undefined, 1n, undefined, undefined).filter(({ isPaged }) => isPaged)
    expect([...new Set(LISTS.map(({ operation }) => operation))].toSorted()).toEqual(
      paged.map(({ id }) => id).toSorted(),
    )
  })

  it.each(cases.filter(({ isOfFullnode }) => !isOfFullnode))(
    'is 404 after a truncation below the first one, and never mixes two branches: $name',
    async ({ open, paths, body, order }) => {
      const engine = await open()
      const ask = clientOf(engine, body)
      const { latestVersion } = engine.ledger!
      const { next, cursor } = await firstPage(ask, paths)
      const [, branch, newest] = cursor.split('.')
      const expected = await ask(`${next}${cursor}`)
      expect([expected.status, branch]).toEqual([200, '0'])

      await grow(engine, latestVersion + 2n)
      await engine.truncateTo(latestVersion)
      const same = await ask(`${next}${cursor}`)
      expect([same.status, same.body]).toEqual([200, expected.body])

      expect((await ask(`${next}${cursor.replace('.0.', '.2.')}`)).status).toBe(404)

      const seen = BigInt(newest!)
      if (order !== '&order=asc') expect(seen).toBe(latestVersion)
      await engine.truncateTo(seen)
      expect((await ask(`${next}${cursor}`)).status).toBe(200)
      await engine.truncateTo(seen - 1n)
      await grow(engine, latestVersion + 2n)
      const refused = await ask(`${next}${cursor}`)
      expect([refused.status, refused.body]).toEqual([404, expect.stringContaining('version_not_found')])
    },
  )

  it.each(cases.filter(({ isOfFullnode }) => isOfFullnode))(
    'has the cursor of a fullnode: $name',
    async ({ open, paths, body }) => {
      const { cursor } = await firstPage(clientOf(await open(), body, 'application/x-bcs'), paths)
      expect(cursor).toMatch(/^00[0-9a-f]+$/)
    },
  )
})
