import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk5 from '@aptos-labs/ts-sdk'
import type { Write } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { AptosClient, CoinClient, FungibleAssetClient, HexString, Provider } from 'aptos'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NAME, nameServiceWrites } from '../../testing/name-service.js'

// The SDK as its users have it. Only the address is ours.

const COIN = '0x1::aptos_coin::AptosCoin'
/** Account that has had 200,000,000 of the coin on mainnet since the genesis. */
const HOLDER = '0x000000007c9f6724cfc3ead36713389148bbeb48a310dacd43a767b52ada4be7'
/** Table with the supply of AptosCoin as an item, which every network has since its genesis. */
const SUPPLY_TABLE = '0x1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca'
const SUPPLY = {
  key_type: 'address',
  value_type: 'u128',
  key: '0x619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935',
}

const DEVNET_CHAIN_ID = 243

const folder = mkdtempSync(join(tmpdir(), 'clients-'))
const closing: (() => Promise<void>)[] = []

/** Serves a source and, with `laterWrites`, one version after devnet's genesis. Returns the address of the API. */
async function serve(source: string, laterWrites?: readonly Write[]): Promise<string> {
  const engine = openStateEngine({ path: join(folder, String(closing.length)) })
  await ingestSource(engine, await openSource(sharedPath(source)))
  if (laterWrites) {
    const block = { height: 1n, epoch: 1n, timestampUsec: 1_700_000_000_000_000n }
    await engine.commit([{ version: 1n, block, writes: laterWrites }], { chainId: DEVNET_CHAIN_ID })
  }
  const server = createHttpServer({ ledger: createLedger(engine) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await engine.close()
  })
  return `http://127.0.0.1:${port}/v1`
}

afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

/** Both versions of the SDK; the tests use functions that have the same form in both. */
const SDKS = [
  ['5.2.1', sdk5],
  ['7.3.0', sdk7 as unknown as typeof sdk5],
] as const

describe.skipIf(!hasSharedData).each(SDKS)('@aptos-labs/ts-sdk %s', (_, sdk) => {
  const { Aptos, AptosApiError, AptosConfig, getAptosFullNode, Network } = sdk
  // Version 7 remembers the chain id of a network by its name, for all clients of a process.
  const sdkFor = (fullnode: string, network = Network.CUSTOM) => new Aptos(new AptosConfig({ network, fullnode }))
  let testnet: sdk5.Aptos
  let mainnet: sdk5.Aptos
  let devnet: sdk5.Aptos
  let named: sdk5.Aptos
  beforeAll(async () => {
    testnet = sdkFor(await serve('data/testnet-0-3.feed.ndjson.gz'), Network.TESTNET)
    mainnet = sdkFor(await serve('data/genesis/mainnet.genesis.blob'), Network.MAINNET)
    devnet = sdkFor(await serve('data/genesis/devnet.genesis.blob'))
    named = sdkFor(await serve('data/genesis/devnet.genesis.blob', nameServiceWrites()), Network.LOCAL)
  })

  it('reads table items, at the latest version and at old ones', async () => {
    expect(await mainnet.table.getTableItem({ handle: SUPPLY_TABLE, data: SUPPLY })).toBe('100000000000000000')
    const supplies = await Promise.all(
      [0, 1, 2, 3].map((ledgerVersion) =>
        testnet.table.getTableItem<string>({ handle: SUPPLY_TABLE, data: SUPPLY, options: { ledgerVersion } }),
      ),
    )
    expect(supplies[0]).toBe('18448344073709551615')
    expect(supplies.every((supply) => /^\d+$/.test(supply))).toBe(true)
  })

  it('reads balances of coins and fungible assets', async () => {
    expect(await mainnet.account.getBalance({ accountAddress: HOLDER, asset: COIN })).toBe(200_000_000)
    expect(await mainnet.account.getBalance({ accountAddress: HOLDER, asset: '0xa' })).toBe(0)
    const { data } = await getAptosFullNode<object, number>({
      aptosConfig: testnet.config,
      originMethod: 'test',
      path: `accounts/0xa550c18/balance/${COIN}`,
      params: { ledger_version: 1 },
    })
    expect(data).toBe(Number(18446744073709551615n))
  })

  it('reads the ledger info', async () => {
    expect(await testnet.getLedgerInfo()).toMatchObject({ chain_id: 2, ledger_version: '3', block_height: '2' })
    expect(await mainnet.getLedgerInfo()).toMatchObject({ chain_id: 1 })
    expect(await devnet.getChainId()).toBe(DEVNET_CHAIN_ID)
  })

  it('reads balances by view functions, in BCS and in JSON', async () => {
    // The SDK calls in BCS whatever the ABI says is a view.
    const accountAddress = `0x${'a550c18'.padStart(64, '0')}`
    const balance = await devnet.account.getBalance({ accountAddress, asset: COIN })
    expect(balance).toBeGreaterThan(0)
    expect(await devnet.account.getAccountAPTAmount({ accountAddress })).toBe(balance)
    expect(await devnet.account.getAccountCoinAmount({ accountAddress, coinType: COIN })).toBe(balance)
    expect(await devnet.account.getAccountCoinAmount({ accountAddress, faMetadataAddress: '0xa' })).toBe(
      await devnet.account.getBalance({ accountAddress, asset: '0xa' }),
    )
    const payloadOf = (owner: string): sdk5.InputViewFunctionJsonData => ({
      function: '0x1::coin::balance',
      typeArguments: [COIN],
      functionArguments: [owner],
    })
    const [viewed] = await devnet.viewJson<[string]>({ payload: payloadOf(accountAddress) })
    expect(Number(viewed)).toBe(balance)
    // The genesis of mainnet is older than views.
    await expect(mainnet.viewJson({ payload: payloadOf(HOLDER) })).rejects.toMatchObject({
      status: 400,
      data: { message: 'function not marked as view function', vm_error_code: 1011 },
    })
  })

  it('resolves names by the views of the name service', async () => {
    const name = `${NAME.subdomain}.${NAME.domain}.apt`
    const unknown = `${NAME.domain}.apt`
    expect((await named.getOwnerAddress({ name }))!.toString()).toBe(NAME.owner)
    expect((await named.getTargetAddress({ name }))!.toString()).toBe(NAME.target)
    expect(await named.getExpiration({ name })).toBe(NAME.expirationSeconds * 1_000)
    expect(await named.getPrimaryName({ address: NAME.owner })).toBe(`${NAME.subdomain}.${NAME.domain}`)
    expect(await named.getOwnerAddress({ name: unknown })).toBe(undefined)
    expect(await named.getTargetAddress({ name: unknown })).toBe(undefined)
    expect(await named.getExpiration({ name: unknown })).toBe(undefined)
    expect(await named.getPrimaryName({ address: NAME.target })).toBe(undefined)
  })

  it('reads accounts, including those that on devnet need no stored resource', async () => {
    expect(await mainnet.getAccountInfo({ accountAddress: '0x1' })).toEqual({
      sequence_number: '0',
      authentication_key: `0x${'1'.padStart(64, '0')}`,
    })
    const stateless = `0x${'5a'.repeat(32)}`
    expect(await devnet.getAccountInfo({ accountAddress: stateless })).toEqual({
      sequence_number: '0',
      authentication_key: stateless,
    })
    await expect(mainnet.getAccountInfo({ accountAddress: stateless })).rejects.toMatchObject({
      status: 404,
      data: { error_code: 'account_not_found' },
    })
  })

  it('reads resources, one and all, including those of groups', async () => {
    const all = await mainnet.getAccountResources({ accountAddress: '0x1' })
    expect(all.length).toBeGreaterThan(30)
    expect(all.map(({ type }) => type)).toContain('0x1::block::BlockResource')
    for (const { type, data } of all) {
      expect(await mainnet.getAccountResource({ accountAddress: '0x1', resourceType: type as never })).toEqual(data)
    }
    const members = await devnet.getAccountResources({ accountAddress: '0xa' })
    expect(members.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['0x1::fungible_asset::Metadata', '0x1::object::ObjectCore']),
    )
    for (const { type, data } of members) {
      expect(await devnet.getAccountResource({ accountAddress: '0xa', resourceType: type as never })).toEqual(data)
    }
  })

  it('follows the cursor through pages of its own size, and comes to the same', async () => {
    const whole = await devnet.getAccountResources({ accountAddress: '0x1' })
    const paged: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await devnet.account.getAccountResourcesPage({
        accountAddress: '0x1',
        options: { limit: 5, ...(cursor !== undefined && { cursor }) },
      })
      paged.push(...page.resources)
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(paged).toEqual(whole)
  })

  it('reads modules, one and all, with the ABI that its transaction builder needs', async () => {
    const all = await devnet.getAccountModules({ accountAddress: '0x1' })
    expect(all.length).toBeGreaterThan(100)
    expect(all.every(({ abi }) => abi)).toBe(true)
    const stake = await devnet.getAccountModule({ accountAddress: '0x1', moduleName: 'stake' })
    expect(stake).toEqual(all.find(({ abi }) => abi!.name === 'stake'))
    const transaction = await devnet.transaction.build.simple({
      sender: '0x1',
      data: { function: '0x1::aptos_account::transfer', functionArguments: ['0x2', 1] },
      options: { accountSequenceNumber: 0, gasUnitPrice: 100 },
    })
    expect(transaction.rawTransaction.chain_id.chainId).toBe(DEVNET_CHAIN_ID)
  })

  it('builds a transaction from only the ledger: gas price, sequence number and chain id', async () => {
    const transaction = await devnet.transaction.build.simple({
      sender: '0x1',
      data: { function: '0x1::aptos_account::transfer', functionArguments: ['0x2', 1] },
    })
    const { gas_unit_price, sequence_number, chain_id } = transaction.rawTransaction
    expect([gas_unit_price, sequence_number, chain_id.chainId]).toEqual([100n, 0n, DEVNET_CHAIN_ID])
    const estimate = { deprioritized_gas_estimate: 100, gas_estimate: 100, prioritized_gas_estimate: 100 }
    expect(await mainnet.getGasPriceEstimation()).toEqual(estimate)
  })

  it('is answered that transactions are not served, and does not wait for one', async () => {
    const transactionHash = `0x${'0a'.repeat(32)}`
    const refusal = { status: 403, data: { error_code: 'api_disabled' } }
    await expect(testnet.transaction.isPendingTransaction({ transactionHash })).rejects.toMatchObject(refusal)
    await expect(testnet.waitForTransaction({ transactionHash })).rejects.toMatchObject(refusal)
  })

  it('reads blocks', async () => {
    expect(await testnet.getBlockByHeight({ blockHeight: 2 })).toMatchObject({ first_version: '2', last_version: '3' })
    expect(await testnet.getBlockByVersion({ ledgerVersion: 3 })).toMatchObject({ block_height: '2' })
  })

  it('maps our errors to its own', async () => {
    const failing = [
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: SUPPLY, options: { ledgerVersion: 4 } }),
        404,
        'version_not_found',
      ],
      [() => testnet.table.getTableItem({ handle: '0x1', data: SUPPLY }), 404, 'table_item_not_found'],
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: { ...SUPPLY, key: 'zz' } }),
        400,
        'invalid_input',
      ],
      [
        () => testnet.table.getTableItem({ handle: SUPPLY_TABLE, data: { ...SUPPLY, value_type: 'bool' } }),
        400,
        'invalid_input',
      ],
      [
        () => testnet.account.getBalance({ accountAddress: '0x1', asset: '0x1::nonsense' as never }),
        400,
        'web_framework_error',
      ],
    ] as const
    for (const [call, status, code] of failing) {
      const error = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(AptosApiError)
      expect(error).toMatchObject({ status, data: { error_code: code, message: expect.any(String) } })
    }
  })
})

describe.skipIf(!hasSharedData)('aptos 1.22.1', () => {
  let devnetUrl: string
  let mainnet: AptosClient
  beforeAll(async () => {
    devnetUrl = await serve('data/genesis/devnet.genesis.blob')
    mainnet = new AptosClient(await serve('data/genesis/mainnet.genesis.blob'))
  })

  it('reads accounts, resources, modules and blocks', async () => {
    expect(await mainnet.getAccount('0x1')).toMatchObject({ sequence_number: '0' })
    const resources = await mainnet.getAccountResources('0x1')
    const coinInfo = `0x1::coin::CoinInfo<${COIN}>`
    expect(await mainnet.getAccountResource('0x1', coinInfo)).toEqual(resources.find(({ type }) => type === coinInfo))
    const modules = await mainnet.getAccountModules('0x1')
    expect(modules.length).toBeGreaterThan(50)
    expect(await mainnet.getAccountModule(new HexString('0x1'), 'coin')).toEqual(
      modules.find(({ abi }) => abi!.name === 'coin'),
    )
    expect(await mainnet.getBlockByHeight(0)).toMatchObject({ first_version: '0', last_version: '0' })
    expect(await mainnet.getBlockByVersion(0)).toMatchObject({ block_height: '0' })
  })

  it('reads balances of coins and fungible assets', async () => {
    expect(await new CoinClient(mainnet).checkBalance(new HexString(HOLDER))).toBe(200_000_000n)
    // Uses a view function, which the genesis of mainnet does not have yet.
    const provider = new Provider({ fullnodeUrl: devnetUrl, indexerUrl: devnetUrl })
    expect(await new FungibleAssetClient(provider).getPrimaryBalance(HOLDER, '0xa')).toBe(0n)
  })
})
