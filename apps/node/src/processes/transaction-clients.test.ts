import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { AptosClient } from 'aptos'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// The SDK as its users have it, on a store that keeps whole transactions. Only the address is ours.

const KIT = 'conformance/transactions'

const folder = mkdtempSync(join(tmpdir(), 'transaction-clients-'))
const closing: (() => Promise<void>)[] = []

/** Ingests sources with their transactions and serves them. Returns the address of the API. */
async function serve(name: string, sources: readonly string[]): Promise<string> {
  const engine = openStateEngine({ path: join(folder, name) })
  for (const path of sources) {
    const source = await openSource(sharedPath(path), { thread: false, unsigned: true })
    await ingestSource(engine, source, { keepTransactions: 'whole' })
    await source.close()
  }
  const server = createHttpServer({ ledger: createLedger(engine) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await engine.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const SDKS = [
  ['5.2.1', sdk5],
  ['7.3.0', sdk7 as unknown as typeof sdk5],
] as const

// These need the shared folder.
describe.runIf(hasSharedData)('transactions by @aptos-labs/ts-sdk', () => {
  let urls: { readonly testnet: string; readonly gallery: string }
  beforeAll(async () => {
    urls = {
      testnet: await serve('testnet', ['data/genesis/testnet.genesis.blob', `${KIT}/testnet`]),
      gallery: await serve('gallery', ['data/genesis/devnet.genesis.blob', `${KIT}/gallery`]),
    }
  })
  afterAll(async () => {
    for (const close of closing) await close()
    rmSync(folder, { recursive: true, force: true })
  })

  describe.each(SDKS)('%s', (_, sdk) => {
    const clientOf = (fullnode: string) => new sdk.Aptos(new sdk.AptosConfig({ network: sdk.Network.CUSTOM, fullnode }))

    it('are listed, and found by version and by hash', async () => {
      const aptos = clientOf(urls.testnet)
      const all = (await aptos.getTransactions()) as sdk5.CommittedTransactionResponse[]
      expect(all.map(({ version }) => version)).toEqual(['0', '1', '2', '3'])
      expect(await aptos.getTransactions({ options: { offset: 1, limit: 2 } })).toEqual(all.slice(1, 3))
      for (const transaction of all) {
        const { version, hash: transactionHash } = transaction
        expect(await aptos.getTransactionByVersion({ ledgerVersion: Number(version) })).toEqual(transaction)
        expect(await aptos.getTransactionByHash({ transactionHash })).toEqual(transaction)
      }
    })

    it('are waited for, whether they succeeded or failed', async () => {
      const aptos = clientOf(urls.gallery)
      const { ledger_version } = await aptos.getLedgerInfo()
      let [succeeded, failed] = [0, 0]
      for (let offset = 0; offset <= Number(ledger_version); offset += 100) {
        for (const transaction of await aptos.getTransactions({ options: { offset, limit: 100 } })) {
          if (!sdk.isUserTransactionResponse(transaction)) continue
          const { hash: transactionHash, success } = transaction
          expect(await aptos.isPendingTransaction({ transactionHash })).toBe(false)
          const waiting = aptos.waitForTransaction({ transactionHash })
          if (success) {
            succeeded++
            expect(await waiting).toEqual(transaction)
          } else {
            failed++
            await expect(waiting).rejects.toThrow(transaction.vm_status)
            const unchecked = { transactionHash, options: { checkSuccess: false } }
            expect(await aptos.waitForTransaction(unchecked)).toEqual(transaction)
          }
        }
      }
      expect(succeeded).toBeGreaterThan(10)
      expect(failed).toBeGreaterThan(0)
    })

    it('are those of an account', async () => {
      const aptos = clientOf(urls.gallery)
      const newest = await aptos.getTransactions({ options: { limit: 100 } })
      const sent = newest.filter(sdk.isUserTransactionResponse)
      expect(sent.length).toBeGreaterThan(0)
      for (const transaction of sent) {
        const { sender: accountAddress, sequence_number } = transaction
        if (BigInt(sequence_number) === 2n ** 64n - 1n) continue
        const options = { offset: BigInt(sequence_number), limit: 1 }
        const [found] = await aptos.getAccountTransactions({ accountAddress, options })
        expect(found).toEqual(transaction)
      }
      expect(await aptos.getAccountTransactions({ accountAddress: `0x${'5a'.repeat(32)}` })).toEqual([])
    })

    it('are in their blocks', async () => {
      const aptos = clientOf(urls.testnet)
      const all = await aptos.getTransactions()
      const options = { withTransactions: true }
      const second = await aptos.getBlockByHeight({ blockHeight: 2, options })
      expect(second.transactions).toEqual(all.slice(2))
      expect(second.block_hash).toBe((all[2] as sdk5.BlockMetadataTransactionResponse).id)
      expect(await aptos.getBlockByVersion({ ledgerVersion: 3, options })).toEqual(second)
      const { transactions } = await aptos.getBlockByVersion({ ledgerVersion: 3 })
      expect(transactions ?? null).toBe(null)
      expect((await aptos.getBlockByHeight({ blockHeight: 0, options })).transactions).toEqual(all.slice(0, 1))
    })

    it('have events, which are read by creation number and by handle', async () => {
      const { config } = clientOf(urls.testnet)
      const read = async (path: string, params?: Record<string, number>) => {
        const { getAptosFullNode } = sdk
        const asked = { aptosConfig: config, originMethod: 'test', path, ...(params && { params }) }
        return (await getAptosFullNode<object, sdk5.Event[]>(asked)).data
      }
      const stream = await read('accounts/0x1/events/3')
      expect(stream.map(({ type }) => type)).toEqual(stream.map(() => '0x1::block::NewBlockEvent'))
      const transactions = await clientOf(urls.testnet).getTransactions()
      const inTransactions = (transactions as { events?: sdk5.Event[] }[]).flatMap(({ events = [] }) => events)
      const blocks = inTransactions.filter(({ type }) => type === '0x1::block::NewBlockEvent')
      expect(stream).toEqual(blocks.map((event) => expect.objectContaining(event)))
      expect(await read('accounts/0x1/events/0x1::block::BlockResource/new_block_events')).toEqual(stream)
      expect(await read('accounts/0x1/events/3', { start: 1, limit: 1 })).toEqual(stream.slice(1, 2))
    })

    it('that are unknown are answered 404', async () => {
      const aptos = clientOf(urls.testnet)
      const refusal = { status: 404, data: { error_code: 'transaction_not_found' } }
      await expect(aptos.getTransactionByHash({ transactionHash: `0x${'0a'.repeat(32)}` })).rejects.toMatchObject(
        refusal,
      )
      await expect(aptos.getTransactionByVersion({ ledgerVersion: 4 })).rejects.toMatchObject(refusal)
    })
  })

  it('and their events are read by aptos 1.22.1', async () => {
    const client = new AptosClient(urls.testnet)
    const stream = await client.getEventsByCreationNumber('0x1', 3)
    expect(stream.length).toBeGreaterThan(1)
    const [block, field] = ['0x1::block::BlockResource', 'new_block_events']
    expect(await client.getEventsByEventHandle('0x1', block, field)).toEqual(stream)
    expect(await client.getEventsByEventHandle('0x1', block, field, { start: 1, limit: 1 })).toEqual(stream.slice(1, 2))
    const [, first] = await client.getTransactions()
    expect(await client.getTransactionByVersion(1)).toEqual(first)
    expect(await client.getTransactionByHash(first!.hash)).toEqual(first)
    expect(await client.waitForTransactionWithResult(first!.hash)).toEqual(first)
  })
})
