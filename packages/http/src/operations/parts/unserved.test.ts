import { ByteWriter, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../../server/create-request-listener.js'
import type { RequestListenerOptions } from '../../server/request-listener-options.js'

const ARCHIVE = 'https://archive.example/v1'

async function listenerWith(name: string, schedule: Uint8Array, options: Partial<RequestListenerOptions> = {}) {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 5n }
  const key = resourceKey(parseAddress('0x1'), parseStructTag(`0x1::gas_schedule::${name}`))
  await engine.commit([{ version: 0n, block, writes: [[key, schedule]] }], { chainId: 4n })
  return createRequestListener({ ledger: createLedger(engine), ...options })
}

const entries = (out: ByteWriter) =>
  out
    .uleb128(2)
    .byteString(Buffer.from('instr.nop'))
    .u64(7n)
    .byteString(Buffer.from('txn.min_price_per_gas_unit'))
    .u64(100n)
const SCHEDULE = entries(new ByteWriter().u64(12n)).toBytes()

describe('an operation of the reference that is not served', () => {
  it.each([
    ['GET', '/v1/transactions?limit=1'],
    ['POST', '/v1/transactions'],
    ['POST', '/v1/transactions/simulate?estimate_gas_unit_price=true'],
    ['GET', '/v1/transactions/by_hash/0x01'],
    ['GET', '/v1/transactions/wait_by_hash/0x01'],
    ['GET', '/v1/transactions/by_version/7'],
    ['GET', '/v1/accounts/0x1/transactions'],
    ['GET', '/v1/accounts/0x1/events/0'],
    ['GET', '/v1/accounts/0x1/events/0x1::block::BlockResource/new_block_events'],
  ] as const)('is 403 with the reason: %s %s', async (method, url) => {
    const listener = await listenerWith('GasScheduleV2', SCHEDULE, { archivalEndpoint: ARCHIVE })
    const { statusCode, body, headers } = await inject(listener, { method, url })
    expect([statusCode, headers['x-svc-ledger-version']]).toEqual([403, '0'])
    expect(JSON.parse(body)).toEqual({
      error_code: 'api_disabled',
      message: expect.stringMatching(/is not served: this service (keeps the state|does not keep)/),
      archival_endpoint: ARCHIVE,
    })
  })

  it('is 403 in a batch, too, and a typing error is 404 as before', async () => {
    const listener = await listenerWith('GasScheduleV2', SCHEDULE)
    const paths = ['/v1/transactions/by_version/7', '/v1/transaction']
    const { body } = await inject(listener, {
      method: 'POST',
      url: '/v1/batch',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ requests: paths.map((path) => ({ path })) }),
    })
    expect((JSON.parse(body) as { status: number }[]).map(({ status }) => status)).toEqual([403, 404])
    expect((await inject(listener, { url: '/v1/transaction' })).statusCode).toBe(404)
    expect((await inject(listener, { method: 'POST', url: '/v1/transactions/by_version/7' })).statusCode).toBe(405)
  })
})

describe('GET /v1/estimate_gas_price', () => {
  const estimate = async (listener: Awaited<ReturnType<typeof listenerWith>>) =>
    JSON.parse((await inject(listener, { url: '/v1/estimate_gas_price' })).body) as unknown
  const all = (price: number) => ({
    deprioritized_gas_estimate: price,
    gas_estimate: price,
    prioritized_gas_estimate: price,
  })

  it('answers with the least price of the schedule, even in its older form', async () => {
    expect(await estimate(await listenerWith('GasScheduleV2', SCHEDULE))).toEqual(all(100))
    expect(await estimate(await listenerWith('GasSchedule', entries(new ByteWriter()).toBytes()))).toEqual(all(100))
  })

  it('answers with the price that the operator set if that is higher', async () => {
    expect(await estimate(await listenerWith('GasScheduleV2', SCHEDULE, { leastGasEstimate: 150n }))).toEqual(all(150))
    expect(await estimate(await listenerWith('GasScheduleV2', SCHEDULE, { leastGasEstimate: 50n }))).toEqual(all(100))
  })

  it('answers in BCS with two options around a u64', async () => {
    const { rawPayload } = await inject(await listenerWith('GasScheduleV2', SCHEDULE), {
      url: '/v1/estimate_gas_price',
      headers: { accept: 'application/x-bcs' },
    })
    const u64 = '6400000000000000'
    expect(rawPayload.toString('hex')).toBe(`01${u64}${u64}01${u64}`)
  })

  it('answers with the price that the operator set if there is no schedule, and with 500 if the schedule is cut short', async () => {
    expect(await estimate(await listenerWith('Other', SCHEDULE))).toEqual(all(0))
    expect(await estimate(await listenerWith('Other', SCHEDULE, { leastGasEstimate: 50n }))).toEqual(all(50))
    const cut = await inject(await listenerWith('GasScheduleV2', SCHEDULE.subarray(0, 20)), {
      url: '/v1/estimate_gas_price',
    })
    expect([cut.statusCode, JSON.parse(cut.body)]).toMatchObject([500, { error_code: 'internal_error' }])
  })
})

it('GET /v1/info names the chain and the versions', async () => {
  const { body } = await inject(await listenerWith('GasScheduleV2', SCHEDULE), { url: '/v1/info' })
  expect(JSON.parse(body)).toEqual({
    software: 'ledger-state',
    chain_id: 4,
    oldest_ledger_version: '0',
    ledger_version: '0',
    base: 'genesis',
    base_version: '0',
    transactions_since: null,
    whole_transactions_since: null,
  })
})
