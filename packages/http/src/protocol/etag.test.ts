import { ByteWriter, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const COIN = '0x1::aptos_coin::AptosCoin'
const STORE = resourceKey(parseAddress('0xcafe'), parseStructTag(`0x1::coin::CoinStore<${COIN}>`))
const ACCEPTS = ['application/json', 'application/x-bcs'] as const

function coinStore(value: bigint): Uint8Array {
  const writer = new ByteWriter().u64(value).bool(false)
  for (let handle = 0; handle < 2; handle++) writer.u64(0n).u64(2n).bytes(parseAddress('0xcafe'))
  return writer.toBytes()
}

/** A ledger of chain 4 whose versions have these balances, beginning with 0, at the same times in every ledger. */
async function startChain(...balances: readonly bigint[]) {
  const engine = createMemoryEngine()
  const commit = (version: bigint, balance: bigint) =>
    engine.commit(
      [
        {
          version,
          block: { height: version, epoch: 0n, timestampUsec: version },
          writes: [[STORE, coinStore(balance)]],
        },
      ],
      { chainId: 4 },
    )
  for (const [version, balance] of balances.entries()) await commit(BigInt(version), balance)
  const listener = createRequestListener({ ledger: createLedger(engine) })
  const ask = async (accept: string, known?: string) => {
    const url = `/v1/accounts/0xcafe/balance/${COIN}?ledger_version=1`
    const headers = { accept, ...(known !== undefined && { 'if-none-match': known }) }
    const { statusCode, rawPayload, headers: answered } = await inject(listener, { url, headers })
    return { status: statusCode, hex: rawPayload.toString('hex'), etag: String(answered.etag) }
  }
  return { engine, commit, ask }
}

it.each(ACCEPTS)('a tag of another ledger with the same chain id is not the tag of this one: %s', async (accept) => {
  const [old, restarted, replica] = [await startChain(5n, 6n), await startChain(5n, 7n), await startChain(5n, 6n)]
  const { etag, hex } = await old.ask(accept)
  for (let round = 0; round < 2; round++) {
    expect(await replica.ask(accept, etag)).toEqual({ status: 304, hex: '', etag })
    const again = await restarted.ask(accept, etag)
    expect(again.status).toBe(200)
    expect(again.hex).not.toBe(hex)
    expect(await restarted.ask(accept, `${etag}, W/${again.etag}`)).toMatchObject({ status: 304 })
    expect(await old.ask(accept, again.etag)).toEqual({ status: 200, hex, etag })
  }
})

it.each(ACCEPTS)('a tag from before a truncation is not the tag of the new branch: %s', async (accept) => {
  const { engine, commit, ask } = await startChain(5n, 6n)
  const { etag } = await ask(accept)
  await engine.truncateTo(0n)
  await commit(1n, 7n)
  expect(await ask(accept, etag)).toMatchObject({ status: 200 })
  await engine.truncateTo(0n)
  await commit(1n, 6n)
  expect(await ask(accept, etag)).toMatchObject({ status: 304 })
})

it('a tag belongs to one format', async () => {
  const { ask } = await startChain(5n, 6n)
  const [json, bcs] = [await ask(ACCEPTS[0]), await ask(ACCEPTS[1])]
  expect(json.etag).not.toBe(bcs.etag)
  expect(await ask(ACCEPTS[1], json.etag)).toEqual({ ...bcs, status: 200 })
})
