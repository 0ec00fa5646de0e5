import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer, FORWARD_KINDS } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterEach, describe, expect, it } from 'vitest'
import { startTransferChain, TRANSFER_CHAIN_ID } from '../../testing/transfer-chain.ts'
import { transferAndRead } from '../../testing/transfer-client.ts'

const CHAIN = { chainId: TRANSFER_CHAIN_ID }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A service that gets each version of a chain some time after the chain has it. */
async function serveBehind(lagMs: number) {
  const chain = await startTransferChain()
  closing.push(() => chain.close())
  const engine = createMemoryEngine()
  let last = engine.commit([chain.versions[0]!], CHAIN)
  chain.onVersion = (version) => {
    setTimeout(() => {
      last = last.then(() => engine.commit([version], CHAIN))
    }, lagMs)
  }
  await last
  const server = createHttpServer({
    ledger: createLedger(engine),
    forward: { upstreams: Object.fromEntries(FORWARD_KINDS.map((kind) => [kind, chain.url])) },
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { chain, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

describe('a program that has one address for all', () => {
  it.each([
    [0, '5.2.1', sdk5],
    [150, '5.2.1', sdk5],
    [100, '7.3.0', sdk7 as unknown as typeof sdk5],
  ])('sees its own writes if the state comes %i ms after the transactions, by ts-sdk %s', async (lagMs, _, sdk) => {
    const { chain, url } = await serveBehind(lagMs)
    expect(await transferAndRead(sdk, url, chain.privateKey, 5)).toEqual([])
    expect(chain.versions.length).toBe(6)
    // Reads of state were answered here. The SDK remembers gas prices, and waits only for later versions.
    const asked = new Set(chain.asked.map((line) => line.replace(/0x[0-9a-f]+/, 'HASH')))
    for (const sometimes of ['estimate_gas_price', 'transactions/wait_by_hash/HASH'])
      asked.delete(`GET /v1/${sometimes}`)
    expect([...asked].sort()).toEqual(['GET /v1', 'GET /v1/transactions/by_hash/HASH', 'POST /v1/transactions'])
  })

  it("passes on the fullnode's reason for refusing a transaction", async () => {
    const { chain, url } = await serveBehind(0)
    const { Account, Aptos, AptosConfig, Ed25519PrivateKey, Network } = sdk5
    const aptos = new Aptos(new AptosConfig({ network: Network.LOCAL, fullnode: url }))
    const signer = Account.fromPrivateKey({ privateKey: new Ed25519PrivateKey(chain.privateKey) })
    const transaction = await aptos.transaction.build.simple({
      sender: signer.accountAddress,
      data: {
        function: '0x1::aptos_account::transfer',
        functionArguments: [],
        abi: { typeParameters: [], parameters: [] },
      },
      options: { accountSequenceNumber: 7 },
    })
    await expect(aptos.signAndSubmitTransaction({ signer, transaction })).rejects.toMatchObject({
      status: 400,
      data: { error_code: 'vm_error', vm_error_code: 3 },
    })
  })
})
