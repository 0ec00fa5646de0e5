// Parameters of operations on transactions and events: each is read before the state, so its fault comes first.
import { createLedger } from '@ledger-state/ledger'
import { testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSignedTransactions } from '../../testing/signed-transactions.js'
import { createRequestListener } from '../server/create-request-listener.js'

describe('a fault of a parameter', () => {
  let listener: ReturnType<typeof createRequestListener>
  let withoutBcs: ReturnType<typeof createRequestListener>
  beforeAll(async () => {
    const ledger = createLedger((await createSignedTransactions({ seed: testSeed() })).engine)
    listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    const output = { json: true, bcs: false }
    withoutBcs = createRequestListener({ ledger, output, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  })

  it.each([
    '/v1/transactions/by_version/99999999?proof=maybe',
    `/v1/transactions/by_hash/${'ab'.repeat(32)}?proof=maybe`,
    `/v1/transactions/wait_by_hash/${'ab'.repeat(32)}?proof=maybe`,
  ])('comes before the look-up: %s', async (url) => {
    const { statusCode, body } = await inject(listener, url)
    expect([statusCode, body]).toEqual([400, expect.stringContaining('proof')])
  })

  it.each([
    '/v1/transactions?',
    '/v1/transactions/by_version/1?',
    `/v1/transactions/by_hash/${'ab'.repeat(32)}?`,
    '/v1/transactions/auxiliary_info?start_version=1&',
    '/v1/accounts/0x1/transactions?',
    '/v1/accounts/0x1/transaction_summaries?',
    '/v1/accounts/0x1/events/0?',
    '/v1/accounts/0x1/events/0x1::a::B/field?',
  ])('comes before the check of the output: %s', async (path) => {
    const headers = { accept: 'application/x-bcs' }
    for (const name of ['ledger_version', 'ledger_timestamp']) {
      const { statusCode, body } = await inject(withoutBcs, { url: `${path}${name}=x`, headers })
      expect([statusCode, body]).toEqual([400, expect.stringContaining(name)])
    }
    expect((await inject(withoutBcs, { url: path.slice(0, -1), headers })).statusCode).toBe(403)
  })

  it('does not come from a version that is encoded twice, as the reference decodes twice', async () => {
    const read = async (text: string) => inject(listener, `/v1/transactions/auxiliary_info?start_version=${text}`)
    expect((await read('%2535')).body).toBe((await read('5')).body)
    expect((await read('%2535')).statusCode).toBe(200)
  })
})

describe('a cursor whose version was pruned since', () => {
  it.each(['asc', 'desc'])('is 410, in the order %s: the next page would leave versions out', async (order) => {
    const { engine } = await createSignedTransactions({ seed: testSeed() })
    const listener = createRequestListener({
      ledger: createLedger(engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const { latestVersion } = engine.ledger!
    await engine.prune(latestVersion / 2n)
    const { oldestVersion } = engine.ledger!
    for (const path of ['/v1/events/0x1::block::NewBlockEvent', '/v1/accounts/0x1/affecting_transactions']) {
      const statusOf = async (version: bigint) =>
        (await inject(listener, `${path}?order=${order}&start=${version}-0`)).statusCode
      for (let again = 0; again < 2; again++) {
        expect(await statusOf(oldestVersion - 1n)).toBe(410)
        expect(await statusOf(oldestVersion)).toBe(200)
      }
      expect((await inject(listener, `${path}?order=${order}`)).statusCode).toBe(200)
    }
  })
})
