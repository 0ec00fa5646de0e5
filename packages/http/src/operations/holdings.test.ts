import { bytesToHex } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import {
  ASSETS,
  COINS,
  COLLECTIONS,
  type ExpectedActivity,
  type ExpectedHolding,
  HoldingsModel,
  OWNERS,
  randomHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import { TRANSACTIONS_KEY, transactionKey, transactionToBytes } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const COUNT = 60
const generated = randomHoldings(createRandom(testSeed()), COUNT)
const model = new HoldingsModel(generated)
const hash = new Uint8Array(32).fill(7)

async function serve({ isIndexed = true, keepsTransactions = false } = {}) {
  const engine = createMemoryEngine()
  const versions = isIndexed ? withHoldings(generated.versions) : generated.versions
  const kept = transactionToBytes({ kind: 'genesis', hash, isSuccess: true })
  const records = versions.map((record) => {
    if (!keepsTransactions) return record
    const since = record.version === 0n ? [[TRANSACTIONS_KEY, new Uint8Array(0)] as const] : []
    return { ...record, writes: [...record.writes, ...since, [transactionKey(record.version), kept] as const] }
  })
  await engine.commit(records, { chainId: 4 })
  const listener = createRequestListener({ ledger: createLedger(engine) })
  return (url: string, accept?: string, payload?: object) =>
    inject(listener, { url, headers: accept ? { accept } : {}, ...(payload && { method: 'POST', payload }) })
}

/** An address as answers have it. */
const shown = (address: string): string => {
  const number = BigInt(address)
  return number < 16n ? `0x${number.toString(16)}` : address
}
const assetShown = (asset: string): string => (asset.includes('::') ? asset : shown(asset))

function holdingShown({ assetType, owner, storage, isPrimary, isFrozen, amount, version }: ExpectedHolding) {
  return {
    asset_type: assetShown(assetType),
    token_standard: assetType.includes('::') ? 'v1' : 'v2',
    owner_address: shown(owner),
    storage_id: shown(storage),
    is_primary: isPrimary,
    is_frozen: isFrozen,
    amount: String(amount),
    last_transaction_version: String(version),
  }
}

function activityShown({ version, assetType, storage, before, after }: ExpectedActivity) {
  const record = generated.versions.findLast((one) => one.block && one.version <= version)!
  return {
    version: String(version),
    timestamp: String(record.block!.timestampUsec),
    asset_type: assetShown(assetType),
    token_standard: assetType.includes('::') ? 'v1' : 'v2',
    storage_id: shown(storage),
    before: String(before),
    after: String(after),
    change: String(after - before),
  }
}

type Ask = Awaited<ReturnType<typeof serve>>

/** All items of a list, in pages. */
async function pages(ask: Ask, path: string, limit: number): Promise<unknown[]> {
  const found: unknown[] = []
  for (let start = ''; ; ) {
    const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${start}`)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.headers['x-svc-ledger-version']).toBe(String(COUNT - 1))
    const items = JSON.parse(answer.body) as unknown[]
    expect(items.length).toBeLessThanOrEqual(limit)
    found.push(...items)
    const cursor = answer.headers['x-svc-cursor']
    expect(answer.headers['x-aptos-cursor']).toBe(cursor)
    if (cursor === undefined) return found
    start = `&start=${encodeURIComponent(cursor as string)}`
  }
}

describe('the operations on holdings', () => {
  it('list the same entries as a plain model', async () => {
    const ask = await serve()
    for (const version of [10n, 35n, BigInt(COUNT - 1)]) {
      const at = `ledger_version=${version}`
      for (const limit of [1, 7, 1_000]) {
        for (const owner of OWNERS) {
          const balances = model.balances(owner, version).map(holdingShown)
          expect(await pages(ask, `/v1/accounts/${owner}/balances?${at}`, limit)).toEqual(balances)
          const objects = model.objects(version).filter(({ is }) => is.owner === owner)
          expect(await pages(ask, `/v1/accounts/${owner}/objects?${at}`, limit)).toEqual(
            objects.map(({ at: address, is, written }) => ({
              object_address: shown(address),
              owner_address: shown(is.owner),
              allow_ungated_transfer: is.isUngated,
              resources: expect.arrayContaining(['0x1::object::ObjectCore']),
              last_transaction_version: String(written),
            })),
          )
        }
        for (const asset of [...ASSETS, ...COINS]) {
          const path = `/v1/assets/${encodeURIComponent(asset)}/holders?${at}`
          const holders = model.holders(asset, version).map(holdingShown)
          expect(await pages(ask, path, limit)).toEqual(holders)
          const sorted = (await pages(ask, `${path}&order=amount`, limit)) as typeof holders
          expect(sorted.map(({ amount }) => BigInt(amount))).toEqual(
            holders.map(({ amount }) => BigInt(amount)).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0)),
          )
        }
        for (const collection of COLLECTIONS) {
          const tokens = model.objects(version).filter(({ is }) => is.collection === collection)
          expect(await pages(ask, `/v1/collections/${collection}/tokens?${at}`, limit)).toEqual(
            tokens.map(({ at: address, is, written }) => ({
              token_address: shown(address),
              owner_address: shown(is.owner),
              last_transaction_version: String(written),
            })),
          )
        }
      }
    }
  })

  it('list the activities of a plain model in both orders, as JSON and as CSV', async () => {
    const ask = await serve({ keepsTransactions: true })
    for (const owner of OWNERS) {
      const path = `/v1/accounts/${owner}/activities`
      const expected = model.activities(owner, 5n, 50n).map(activityShown)
      const withHash = expected.map((one) => ({ ...one, transaction_hash: bytesToHex(hash) }))
      const list = (query: string, limit: number) => pages(ask, `${path}?from=5&to=50${query}`, limit)
      for (const limit of [1, 7, 1_000]) {
        expect(await list('&order=asc', limit)).toEqual(withHash)
        expect(await list('', limit)).toEqual(withHash.toReversed())
      }
      const csv = await ask(`${path}?from=5&to=50&order=asc&limit=1000`, 'text/csv')
      expect(csv.headers['content-type']).toMatch(/^text\/csv/)
      const [head, ...rows] = csv.body.split('\r\n')
      expect(head).toBe(
        'version,timestamp,time,transaction_hash,asset_type,token_standard,storage_id,before,after,change',
      )
      expect(rows.length - 1).toBe(expected.length)
      expect(csv.headers['x-svc-complete']).toBe('true')
    }
  })

  it('are complete without `from` in a pruned store, and not from a version before the first known change', async () => {
    const engine = createMemoryEngine()
    await engine.commit(withHoldings(generated.versions), { chainId: 4 })
    await engine.prune(20n)
    const listener = createRequestListener({ ledger: createLedger(engine) })
    const oldest = engine.ledger!.oldestVersion
    const isComplete = async (query: string) => {
      const { headers } = await inject(listener, `/v1/accounts/${OWNERS[0]}/activities${query}`)
      return headers['x-svc-complete']
    }
    expect(await isComplete('')).toBe('true')
    expect(await isComplete(`?from=${oldest + 1n}`)).toBe('true')
    expect(await isComplete(`?from=${oldest}`)).toBe('false')
  })

  it('are elements of a batch, and have CSV', async () => {
    const ask = await serve()
    const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
    expect((await inject(listener, `/v1/accounts/${OWNERS[0]}/balances`)).statusCode).toBe(503)
    // Some owners of a made-up ledger have no activity.
    const counts = await Promise.all(
      OWNERS.map(async (one) => {
        const { body } = await ask(`/v1/accounts/${one}/activities?limit=1000`)
        return (JSON.parse(body) as unknown[]).length
      }),
    )
    const owner = OWNERS[counts.indexOf(Math.max(...counts))]!
    const path = `/v1/accounts/${owner}/balances?limit=1000`
    const one = await ask(path)
    const requests = [{ path }, { path: `/v1/accounts/${owner}/activities?limit=1` }]
    const batch = JSON.parse((await ask('/v1/batch', undefined, { requests })).body) as object[]
    expect(batch).toEqual([
      { status: 200, value: JSON.parse(one.body) },
      expect.objectContaining({ status: 200, value: [expect.anything()], cursor: expect.any(String), complete: true }),
    ])
    const csv = await ask(`/v1/accounts/${owner}/balances?limit=1000&with_metadata=true`, 'text/csv')
    const rows = csv.body.trim().split('\r\n')
    expect(rows[0]).toBe(
      'asset_type,token_standard,owner_address,storage_id,is_primary,is_frozen,amount,last_transaction_version,name,symbol,decimals',
    )
    expect(rows.length - 1).toBe((JSON.parse(one.body) as unknown[]).length)
    const withMetadata = await ask(`/v1/accounts/${owner}/balances?limit=1000&with_metadata=true`)
    for (const item of JSON.parse(withMetadata.body) as object[]) expect(item).toHaveProperty('metadata', null)
  })

  it('are 403 where the store has no index, and name the way to have one', async () => {
    const ask = await serve({ isIndexed: false })
    for (const path of [
      '/v1/accounts/0x7/balances',
      '/v1/accounts/0x7/objects',
      '/v1/accounts/0x7/activities',
      '/v1/assets/0xa/holders',
      '/v1/assets/0xa/holders?order=amount',
      '/v1/collections/0x7/tokens',
    ]) {
      const { statusCode, body } = await ask(path)
      expect([statusCode, JSON.parse(body)]).toEqual([
        403,
        expect.objectContaining({ error_code: 'api_disabled', message: expect.stringContaining('`ledger-state ') }),
      ])
    }
  })

  it.each([
    ['/v1/accounts/0xzz/balances', 'address'],
    ['/v1/accounts/0x7/balances?asset_type=1x', 'asset_type'],
    ['/v1/accounts/0x7/balances?nonzero=yes', 'nonzero'],
    ['/v1/accounts/0x7/balances?with_metadata=1', 'with_metadata'],
    ['/v1/accounts/0x7/balances?start=0x00', 'start'],
    [`/v1/accounts/0x7/balances?start=${'00'.repeat(5_000)}`, 'start'],
    ['/v1/accounts/0x7/objects?limit=0', 'limit'],
    ['/v1/accounts/0x7/activities?start=1-2-3', 'start'],
    ['/v1/accounts/0x7/activities?order=up', 'order'],
    ['/v1/accounts/0x7/activities?from=9&to=5', 'from'],
    ['/v1/assets/coin/holders', 'asset_type'],
    ['/v1/assets/0xa/holders?order=desc', 'order'],
    ['/v1/collections/0xzz/tokens', 'address'],
  ])('refuse %s', async (path, part) => {
    const { statusCode, body } = await (await serve())(path)
    expect([statusCode, body]).toEqual([400, expect.stringContaining(part)])
  })

  it('read any start, whether or not it is a cursor', async () => {
    const ask = await serve()
    for (const start of ['', '00', '01', '02ff', 'ff'.repeat(40), '00'.repeat(32)]) {
      for (const path of [
        'accounts/0x7/balances',
        'accounts/0x7/objects',
        'assets/0xa/holders?order=amount',
        'assets/0xa/holders',
      ]) {
        const { statusCode, body } = await ask(`/v1/${path}${path.includes('?') ? '&' : '?'}start=${start}`)
        expect([statusCode, Array.isArray(JSON.parse(body))], `${path} ${start}`).toEqual([200, true])
      }
    }
    for (const start of ['0', '18446744073709551615', '5-999999999', '99999']) {
      expect((await ask(`/v1/accounts/0x7/activities?start=${start}`)).statusCode).toBe(200)
    }
  })

  it('of an account with many stores let other requests pass', async () => {
    const stores = 3_000
    const engine = createMemoryEngine()
    const { versions } = randomHoldings(createRandom(testSeed()), 3, stores)
    await engine.commit(withHoldings(versions), { chainId: 4 })
    const listener = createRequestListener({
      ledger: createLedger(engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const answered: string[] = []
    const ask = async (url: string): Promise<void> => {
      const { statusCode } = await inject(listener, url)
      answered.push(`${statusCode} ${url}`)
    }
    for (const long of [
      `/v1/accounts/${OWNERS[0]}/activities?limit=1`,
      `/v1/accounts/${OWNERS[0]}/activities?limit=1&order=asc&asset_type=0xa`,
      '/v1/assets/0xa/holders?order=amount&limit=1',
    ]) {
      answered.length = 0
      const page = ask(long)
      await ask('/v1')
      await page
      expect(answered).toEqual(['200 /v1', `200 ${long}`])
    }
  })
})
