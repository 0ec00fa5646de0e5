import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import {
  ALICE,
  ALICE_STORE,
  ASSET,
  assetLedger,
  BOB,
  COIN,
  COLLECTION,
  COLLECTION_NAME,
  CREATOR,
  SECOND_STORE,
  SUPPLY_TABLE,
  TOKENS,
} from '@ledger-state/http/testing/asset-ledger'
import { createLedger } from '@ledger-state/ledger'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// The helpers of the SDK that ask an indexer, as their users have them. Only the addresses are ours.

const SDKS = [
  ['5.2.1', sdk5],
  ['7.3.0', sdk7 as unknown as typeof sdk5],
] as const

let server: Server
let fullnode: string
beforeAll(async () => {
  const engine = createMemoryEngine()
  await engine.commit([...assetLedger()], { chainId: 4n })
  server = createHttpServer({ ledger: createLedger(engine) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  fullnode = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const VERSION_1 = '2023-11-14T22:13:20.123456'

describe.each(SDKS)('@aptos-labs/ts-sdk %s', (name, sdk) => {
  /** A client, by default of the newest version. */
  function clientAt(version?: number): sdk5.Aptos {
    const { Aptos, AptosConfig, Network } = sdk
    const HEADERS = version === undefined ? {} : { 'x-aptos-ledger-version': String(version) }
    const indexer = `${fullnode}/graphql`
    return new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode, indexer, indexerConfig: { HEADERS } }))
  }

  it('reads balances of coins and fungible assets with their metadata', async () => {
    const aptos = clientAt()
    const metadata = {
      asset_type: ASSET,
      creator_address: CREATOR,
      decimals: 6,
      icon_uri: 'https://grain.example/icon',
      last_transaction_timestamp: '1970-01-01T00:00:00',
      last_transaction_version: 0,
      name: 'Grain',
      project_uri: 'https://grain.example',
      supply_aggregator_table_handle_v1: null,
      supply_aggregator_table_key_v1: null,
      symbol: 'GRN',
      token_standard: 'v2',
    }
    const primary = {
      amount: Number(2n ** 63n - 7n),
      asset_type: ASSET,
      is_frozen: false,
      is_primary: true,
      last_transaction_timestamp: VERSION_1,
      last_transaction_version: 1,
      owner_address: ALICE,
      storage_id: ALICE_STORE,
      token_standard: 'v2',
    }
    const data = await aptos.getAccountCoinsData({ accountAddress: ALICE })
    expect(data).toHaveLength(3)
    expect(data).toContainEqual({ ...primary, metadata })
    expect(data).toContainEqual(
      expect.objectContaining({
        amount: 500,
        asset_type: COIN,
        token_standard: 'v1',
        metadata: expect.objectContaining({
          symbol: 'BEAN',
          creator_address: CREATOR,
          supply_aggregator_table_handle_v1: SUPPLY_TABLE,
        }),
      }),
    )
    expect(await aptos.getAccountCoinsCount({ accountAddress: ALICE })).toBe(3)
    expect(await aptos.getAccountCoinsCount({ accountAddress: CREATOR })).toBe(0)
    const balancesOf = (where: object) => aptos.getCurrentFungibleAssetBalances({ options: { where } })
    expect(await balancesOf({ owner_address: { _eq: ALICE }, asset_type: { _eq: ASSET }, amount: { _gt: 0 } })).toEqual(
      [primary],
    )
    const ordered = await aptos.getAccountCoinsData({
      accountAddress: ALICE,
      options: { orderBy: [{ amount: 'desc' }], limit: 2, offset: 1 },
    })
    expect(ordered.map(({ amount, storage_id }) => [amount, storage_id])).toEqual([
      [500, ALICE],
      [0, SECOND_STORE],
    ])
  })

  it('reads a version of the past, which no indexer can', async () => {
    const [first, second] = await Promise.all(
      [0, 1].map((version) =>
        clientAt(version).getCurrentFungibleAssetBalances({ options: { where: { storage_id: { _eq: ALICE_STORE } } } }),
      ),
    )
    expect([first![0]!.last_transaction_version, second![0]!.last_transaction_version]).toEqual([0, 1])
    expect(await clientAt(0).getAccountTokensCount({ accountAddress: ALICE })).toBe(2)
    expect(await clientAt(1).getAccountTokensCount({ accountAddress: ALICE })).toBe(1)
    await expect(clientAt(2).getAccountTokensCount({ accountAddress: ALICE })).rejects.toMatchObject({ status: 404 })
  })

  it('reads the metadata of assets', async () => {
    const aptos = clientAt()
    const grain = await aptos.getFungibleAssetMetadataByAssetType({ assetType: ASSET })
    expect(grain).toMatchObject({ name: 'Grain', supply_v2: Number(2n ** 65n), maximum_v2: null })
    expect(await aptos.getFungibleAssetMetadata({ options: { where: { asset_type: { _eq: COIN } } } })).toMatchObject([
      { name: 'Bean', supply_v2: null },
    ])
    const created = await aptos.getFungibleAssetMetadataByCreatorAddress({ creatorAddress: CREATOR })
    expect(created.map(({ symbol }) => symbol).sort()).toEqual(['BEAN', 'GRN'])
    await expect(aptos.getFungibleAssetMetadata()).rejects.toThrow(/its filter must name asset_type or creator_address/)
  })

  it('reads objects', async () => {
    const aptos = clientAt()
    const owned = await aptos.getAccountOwnedObjects({ accountAddress: ALICE })
    expect(owned.map(({ object_address }) => object_address).sort()).toEqual(
      [ALICE_STORE, SECOND_STORE, TOKENS[0]].sort(),
    )
    const object = await aptos.object.getObjectDataByObjectAddress({ objectAddress: SECOND_STORE })
    expect(object).toEqual({
      allow_ungated_transfer: true,
      is_deleted: false,
      last_guid_creation_num: 1_125_899_906_842_624,
      last_transaction_version: 0,
      object_address: SECOND_STORE,
      owner_address: ALICE,
      state_key_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
  })

  it('reads tokens, their collections and their owners', async () => {
    const aptos = clientAt()
    const off = name === '5.2.1' ? { cdn_asset_uris: null } : {}
    const collection = {
      collection_id: COLLECTION,
      collection_name: COLLECTION_NAME,
      creator_address: CREATOR,
      current_supply: 3,
      description: 'Seen there',
      last_transaction_timestamp: '1970-01-01T00:00:00',
      last_transaction_version: 0,
      max_supply: 10,
      mutable_description: true,
      mutable_uri: false,
      table_handle_v1: null,
      token_standard: 'v2',
      total_minted_v2: 4,
      uri: 'https://birds.example',
    }
    expect(await aptos.getCollectionDataByCollectionId({ collectionId: COLLECTION })).toEqual({ ...collection, ...off })
    const named = { creatorAddress: CREATOR, collectionName: COLLECTION_NAME }
    expect(await aptos.getCollectionData(named)).toEqual({ ...collection, ...off })
    expect(await aptos.getCollectionDataByCreatorAddress(named)).toEqual({ ...collection, ...off })
    expect(await aptos.getCollectionId({ creatorAddress: CREATOR, collectionName: COLLECTION_NAME })).toBe(COLLECTION)

    const token = await aptos.getDigitalAssetData({ digitalAssetAddress: TOKENS[0]! })
    expect(token).toEqual({
      collection_id: COLLECTION,
      current_collection: collection,
      decimals: 0,
      description: 'Bird 0',
      is_fungible_v2: false,
      largest_property_version_v1: null,
      last_transaction_timestamp: '1970-01-01T00:00:00',
      last_transaction_version: 0,
      maximum: null,
      supply: 0,
      token_data_id: TOKENS[0],
      token_name: 'Seventh',
      token_properties: { color: 'red', age: String(2n ** 60n) },
      token_standard: 'v2',
      token_uri: 'ipfs://0',
    })
    const owned = await aptos.getOwnedDigitalAssets({ ownerAddress: BOB })
    expect(owned).toMatchObject([
      {
        token_data_id: TOKENS[1],
        is_soulbound_v2: false,
        current_token_data: { token_name: '#1', description: 'Bird 1' },
      },
      { token_data_id: TOKENS[2], is_soulbound_v2: true, amount: 1, storage_id: TOKENS[2] },
    ])
    expect(await aptos.getAccountOwnedTokens({ accountAddress: BOB, options: { tokenStandard: 'v2' } })).toEqual(owned)
    expect(await aptos.getAccountOwnedTokens({ accountAddress: BOB, options: { tokenStandard: 'v1' } })).toEqual([])
    expect(
      await aptos.getAccountOwnedTokensFromCollectionAddress({ accountAddress: BOB, collectionAddress: COLLECTION }),
    ).toEqual(owned)
    expect(await aptos.getCurrentDigitalAssetOwnership({ digitalAssetAddress: TOKENS[1]! })).toMatchObject({
      owner_address: BOB,
    })
    expect(await aptos.getAccountTokensCount({ accountAddress: BOB })).toBe(2)
    expect(await aptos.getAccountCollectionsWithOwnedTokens({ accountAddress: BOB })).toEqual([
      {
        collection_id: COLLECTION,
        collection_name: COLLECTION_NAME,
        collection_uri: 'https://birds.example',
        creator_address: CREATOR,
        current_collection: collection,
        distinct_tokens: 2,
        last_transaction_version: 1,
        owner_address: BOB,
        single_token_uri: 'ipfs://1',
      },
    ])
  })

  it('reads how far the tables are', async () => {
    const aptos = clientAt()
    expect(await aptos.getIndexerLastSuccessVersion()).toBe(1n)
    const status = await aptos.getProcessorStatus(sdk.ProcessorType.FUNGIBLE_ASSET_PROCESSOR)
    expect(status).toEqual({ last_success_version: 1, last_updated: VERSION_1, processor: 'fungible_asset_processor' })
    const waited = { accountAddress: ALICE, minimumLedgerVersion: 1 }
    expect(await aptos.getAccountCoinsCount(waited)).toBe(3)
    expect(await aptos.getAccountOwnedObjects(waited)).toHaveLength(3)
    expect(await aptos.getAccountOwnedTokens(waited)).toHaveLength(1)
  })

  it('gets a refusal that names the field where the state does not know the answer', async () => {
    const aptos = clientAt()
    const address = { accountAddress: ALICE }
    const asked: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['account_transactions_aggregate', () => aptos.getAccountTransactionsCount(address)],
      ['user_transactions', () => aptos.getChainTopUserTransactions({ limit: 1 })],
      ['fungible_asset_activities', () => aptos.getFungibleAssetActivities()],
      ['token_activities_v2', () => aptos.getDigitalAssetActivity({ digitalAssetAddress: TOKENS[0]! })],
      ['num_active_delegator_per_pool', () => aptos.getNumberOfDelegators({ poolAddress: ALICE })],
      [
        'delegated_staking_activities',
        () => aptos.staking.getDelegatedStakingActivities({ delegatorAddress: ALICE, poolAddress: ALICE }),
      ],
      ['table_items', () => aptos.table.getTableItemsData({ options: { where: {} } })],
      ['table_metadatas', () => aptos.table.getTableItemsMetadata({ options: { where: {} } })],
    ]
    for (const [field, ask] of asked) {
      await expect(ask(), field).rejects.toThrow(new RegExp(`field ."?${field}.*not answered here`))
    }
  })
})
