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

/** Resources by type: each page of them is in an order of its own. */
function byType(resources: readonly object[]): object[] {
  const typeOf = (one: object) => (one as { type: string }).type
  return resources.toSorted((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1))
}

const GET_EVENTS = `
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
}
    `

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

    it('can be filtered by account', async () => {
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

    it('have events, which are found by type as getModuleEventsByEventType finds them', async () => {
      // Earlier versions of the SDK have this helper; it sends this document.
      const indexer = `${urls.gallery}/graphql`
      const aptos = new sdk.Aptos(new sdk.AptosConfig({ network: sdk.Network.CUSTOM, fullnode: urls.gallery, indexer }))
      const eventsOf = async (where_condition: object, limit: number) => {
        const variables = { where_condition, offset: 0, limit, order_by: [{ transaction_version: 'desc' }] }
        return (await aptos.queryIndexer<{ events: object[] }>({ query: { query: GET_EVENTS, variables } })).events
      }
      const newest = (await aptos.getTransactions({ options: { limit: 100 } })).toReversed()
      const all = newest.flatMap((transaction) => {
        const { version, events = [] } = transaction as { version: string; events?: sdk5.Event[] }
        return events.map((event, index) => ({ version, index, ...event }))
      })
      const types = new Set(all.map(({ type }) => type))
      expect(types.size).toBeGreaterThan(5)
      for (const type of types) {
        const where = {
          account_address: { _eq: `0x${'0'.repeat(64)}` },
          creation_number: { _eq: '0' },
          sequence_number: { _eq: '0' },
          indexed_type: { _eq: type },
        }
        const expected = all.filter((event) => event.type === type && event.guid.account_address === '0x0')
        const found = (await eventsOf(where, 25)) as { transaction_version: number; data: object; type: string }[]
        const [first] = expected
        if (!first) expect(found).toEqual([])
        else {
          expect(found[0]).toMatchObject({ transaction_version: Number(first.version), type })
          const sameVersion = expected
            .filter(({ version }) => version === first.version)
            .map(({ data }) => data as object)
          expect(sameVersion).toContainEqual(found[0]!.data)
        }
      }
    })

    it('are read by the calls of the DefiLlama SDK, at an old version', async () => {
      // Its requests by hand: it calls the fullnode's API directly, and ts-sdk for accounts, resources and views.
      const aptos = clientOf(urls.gallery)
      const fullnode = urls.gallery
      const ask = async (path: string, body?: object) => {
        const how = body && {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }
        const answer = await fetch(`${fullnode}${path}`, how)
        return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never }
      }
      const ledgerVersion = 5
      const at = `ledger_version=${ledgerVersion}`
      const coinInfo = '0x1::coin::CoinInfo<0x1::aptos_coin::AptosCoin>' as const
      const accountAddress = '0x1'
      expect((await ask(`/accounts/0x1?${at}`)).body).toEqual(await aptos.getAccountInfo({ accountAddress }))
      const resources: object[] = []
      for (let start = ''; ; ) {
        const page = await ask(`/accounts/0x1/resources?${at}&limit=7${start && `&start=${start}`}`)
        expect(page.status).toBe(200)
        resources.push(...(page.body as object[]))
        start = page.headers.get('x-aptos-cursor') ?? ''
        if (!start) break
      }
      // Only one call of ts-sdk sends the version: the one for a resource.
      expect(byType(resources)).toEqual(byType((await ask(`/accounts/0x1/resources?${at}&limit=999`)).body as object[]))
      const resource = (await ask(`/accounts/0x1/resource/${encodeURIComponent(coinInfo)}?${at}`)).body as {
        data: object
      }
      expect(resources).toContainEqual(resource)
      const read = { accountAddress, resourceType: coinInfo, options: { ledgerVersion } }
      expect(await aptos.getAccountResource(read)).toEqual(resource.data)
      expect((await ask(`/accounts/0x1/module/coin?${at}`)).status).toBe(200)
      const coin = ['0x1::aptos_coin::AptosCoin']
      const supply = { function: '0x1::coin::supply', type_arguments: coin, arguments: [] }
      const [{ vec }] = (await ask(`/view?${at}`, supply)).body as [{ vec: [string] }]
      expect(vec[0]).toMatch(/^\d+$/)
      const shown = (await ask('/transactions?start=1&limit=100')).body as {
        version: string
        changes: { type: string; handle: string; data: Record<string, unknown> | null }[]
      }[]
      const items = shown.flatMap(({ version, changes }) => changes.map((change) => ({ version, ...change })))
      const known = items.filter(({ type, data }) => type === 'write_table_item' && data)
      expect(known.length).toBeGreaterThan(5)
      for (const { version, handle, data } of known) {
        const { value, ...asked } = data!
        expect((await ask(`/tables/${handle}/item?ledger_version=${version}`, asked)).body).toEqual(value)
      }
      const balance = { function: '0x1::coin::balance', type_arguments: coin, arguments: ['0xa550c18'] }
      const [held] = (await ask(`/view?${at}`, balance)).body as [string]
      expect((await ask(`/accounts/0xa550c18/balance/0x1::aptos_coin::AptosCoin?${at}`)).body).toBe(Number(held))
      const payload = {
        function: '0x1::coin::balance',
        typeArguments: coin,
        functionArguments: [`0x${'a550c18'.padStart(64, '0')}`],
      } satisfies sdk5.InputViewFunctionData
      expect(await aptos.view({ payload, options: { ledgerVersion } })).toEqual([held])
      const byVersion = (await ask(`/blocks/by_version/${ledgerVersion}`)).body as { block_height: string }
      for (const query of ['', '?with_transactions=true']) {
        const byHeight = await ask(`/blocks/by_height/${byVersion.block_height}${query}`)
        expect(byHeight.body).toEqual((await ask(`/blocks/by_version/${ledgerVersion}${query}`)).body)
      }
      const handlePath = '/accounts/0x1/events/0x1::block::BlockResource/new_block_events?start=1&limit=3'
      const events = (await ask(handlePath)).body as { guid: { creation_number: string } }[]
      expect(events).toHaveLength(3)
      const { creation_number } = events[0]!.guid
      expect((await ask(`/accounts/0x1/events/${creation_number}?start=1&limit=3`)).body).toEqual(events)
      const older = (await ask(`/accounts/0x1/events/${creation_number}?${at}`)).body as { version: string }[]
      expect(older.every(({ version }) => Number(version) <= ledgerVersion)).toBe(true)
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
