import { ByteWriter, hexToBytes, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createLedger } from '@ledger-state/ledger'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey, parseTypeTag, typeTagToText, writeTypeTag } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const COIN_BALANCE = {
  function: '0x1::coin::balance',
  type_arguments: ['0x1::aptos_coin::AptosCoin'],
  arguments: ['0x1'],
}
const JSON_TYPE = 'application/json'
const BCS_TYPE = 'application/x.aptos.view_function+bcs'

async function emptyLedger() {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4n })
  return createLedger(engine)
}

function ask(listener: ReturnType<typeof createRequestListener>) {
  return async (payload: string | Buffer, contentType = JSON_TYPE, accept = JSON_TYPE, query = '') => {
    const headers = { 'content-type': contentType, accept }
    return inject(listener, { method: 'POST', url: `/v1/view${query}`, headers, payload })
  }
}

/** The BCS of a call, as clients send it. */
function callToBcs(module: string, name: string, types: readonly string[], values: readonly Uint8Array[]): Buffer {
  const writer = new ByteWriter().bytes(parseAddress('0x1')).string(module).string(name).uleb128(types.length)
  for (const type of types) writeTypeTag(writer, parseTypeTag(type))
  writer.uleb128(values.length)
  for (const value of values) writer.byteString(value)
  return Buffer.from(writer.toBytes())
}

describe('POST /v1/view', () => {
  it('answers in JSON and in BCS', async () => {
    const post = ask(createRequestListener({ ledger: await emptyLedger() }))
    const json = await post(JSON.stringify(COIN_BALANCE))
    expect([json.statusCode, json.body]).toEqual([200, '["0"]'])
    const bcs = await post(JSON.stringify(COIN_BALANCE), JSON_TYPE, 'application/x-bcs')
    expect(bcs.rawPayload.toString('hex')).toBe('010000000000000000')
    const call = callToBcs('coin', 'balance', COIN_BALANCE.type_arguments, [parseAddress('0x1')])
    expect((await post(call, BCS_TYPE)).body).toBe('["0"]')
    const long = { ...COIN_BALANCE, function: `0x${'1'.padStart(64, '0')}::coin::balance` }
    expect((await post(JSON.stringify(long))).body).toBe('["0"]')
  })

  it('names what is served, and who serves more, to calls of other functions', async () => {
    const archivalEndpoint = 'https://archive.example/v1'
    const post = ask(createRequestListener({ ledger: await emptyLedger(), archivalEndpoint }))
    const { statusCode, body } = await post(JSON.stringify({ ...COIN_BALANCE, function: '0x1::coin::supply' }))
    expect([statusCode, JSON.parse(body)]).toEqual([
      403,
      {
        message: expect.stringMatching(
          /0x1::coin::supply.*0x1::coin::balance and 0x1::primary_fungible_store::balance/,
        ),
        error_code: 'api_disabled',
        archival_endpoint: archivalEndpoint,
      },
    ])
  })

  it.each([
    ['{}', JSON_TYPE, 400, 'web_framework_error'],
    ['[]', JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...COIN_BALANCE, arguments: 'x' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...COIN_BALANCE, type_arguments: [1] }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...COIN_BALANCE, function: 'coin::balance' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...COIN_BALANCE, function: 'zz::coin::balance' }), JSON_TYPE, 400, 'web_framework_error'],
    [JSON.stringify({ ...COIN_BALANCE, type_arguments: ['u9'] }), JSON_TYPE, 400, 'invalid_input'],
    [JSON.stringify({ ...COIN_BALANCE, type_arguments: [] }), JSON_TYPE, 400, 'invalid_input'],
    [JSON.stringify({ ...COIN_BALANCE, arguments: ['zz'] }), JSON_TYPE, 400, 'invalid_input'],
    ['', BCS_TYPE, 400, 'web_framework_error'],
    ['ff'.repeat(100), BCS_TYPE, 400, 'web_framework_error'],
    ['00'.repeat(300_000), BCS_TYPE, 413, 'web_framework_error'],
    [JSON.stringify(COIN_BALANCE), 'text/plain', 415, 'web_framework_error'],
  ])('refuses %.60j as %s: %i %s', async (payload, contentType, status, code) => {
    const post = ask(createRequestListener({ ledger: await emptyLedger() }))
    const { statusCode, body } = await post(
      contentType === BCS_TYPE ? Buffer.from(hexToBytes(payload)) : payload,
      contentType,
    )
    expect([statusCode, JSON.parse(body)]).toMatchObject([status, { error_code: code }])
  })

  it.skipIf(!hasSharedData)('says what the balance read says, of all coins of a genesis', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('data/genesis/mainnet.genesis.blob'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    const listener = createRequestListener({ ledger: createLedger(engine) })
    const post = ask(listener)
    let compared = 0
    for (const { key } of engine.at().scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if (decoded.kind !== 'resource' || decoded.tag.name !== 'CoinStore') continue
      if (++compared > 100) break
      const owner = `0x${Buffer.from(decoded.address).toString('hex')}`
      const coin = typeTagToText(decoded.tag.typeArguments[0]!)
      const balance = await inject(listener, `/v1/accounts/${owner}/balance/${encodeURIComponent(coin)}`)
      const call = JSON.stringify({ ...COIN_BALANCE, type_arguments: [coin], arguments: [owner] })
      expect((await post(call)).body).toBe(`["${balance.body}"]`)
      expect((await post(callToBcs('coin', 'balance', [coin], [decoded.address]), BCS_TYPE)).body).toBe(
        `["${balance.body}"]`,
      )
    }
    expect(compared).toBeGreaterThan(50)
  })
})
