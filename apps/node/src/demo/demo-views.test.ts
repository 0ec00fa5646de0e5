import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { addressToShortHex, bytesToHex, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger, primaryStoreAddress } from '@ledger-state/ledger'
import { readModuleCode } from '@ledger-state/move-module'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ACCOUNTS,
  APTOS_COIN,
  BEAN,
  FIGUREHEAD_TOKENS,
  FIGUREHEADS,
  HARBOUR,
  PRICES,
  VAULTS,
} from './demo-addresses.js'
import { DEMO_CHAIN_ID, DEMO_WINDOW, openDemoLedger } from './demo-ledger.js'
import { demoModules } from './demo-modules.js'

const engine = createMemoryEngine()
const server = createHttpServer({ ledger: createLedger(engine) })
let url: string

beforeAll(async () => {
  await ingestSource(engine, openDemoLedger(), { retain: DEMO_WINDOW })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const [alice] = ACCOUNTS
const METADATA = '0x1::fungible_asset::Metadata'
const STORE = '0x1::fungible_asset::FungibleStore'
const storeOf = (account: string) => bytesToHex(primaryStoreAddress(parseAddress(account), parseAddress('0xa')))

async function view(name: string, typeArguments: readonly string[], args: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ function: name, type_arguments: typeArguments, arguments: args })
  const answer = await fetch(`${url}/view`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  return await answer.json()
}

async function balanceOf(account: string, asset: string): Promise<string> {
  return await (await fetch(`${url}/accounts/${account}/balance/${asset}`)).text()
}

describe.each([
  ['5.2.1', sdk5],
  ['7.3.0', sdk7 as unknown as typeof sdk5],
] as const)(
  'the first calls of a program with @aptos-labs/ts-sdk %s',
  (_, { Aptos, AptosConfig, Network, AccountAddress }) => {
    const aptos = () => new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: url }))

    it('find balances, resources, views, modules and blocks', async () => {
      const client = aptos()
      const aptosOfAlice = Number(await balanceOf(alice, '0xa'))
      expect(aptosOfAlice).toBeGreaterThan(0)
      expect(await client.getAccountAPTAmount({ accountAddress: alice })).toBe(aptosOfAlice)
      expect(await client.getBalance({ accountAddress: alice, asset: APTOS_COIN })).toBe(aptosOfAlice)
      expect(await client.getBalance({ accountAddress: alice, asset: '0xa' })).toBe(aptosOfAlice)
      expect(await client.getAccountCoinAmount({ accountAddress: alice, faMetadataAddress: '0xa' })).toBe(aptosOfAlice)
      const beans = await client.getAccountCoinAmount({
        accountAddress: alice,
        coinType: BEAN as `${string}::bean::Bean`,
      })
      expect(String(beans)).toBe(await balanceOf(alice, BEAN))
      const { height } = await client.getAccountResource<{ height: string }>({
        accountAddress: '0x1',
        resourceType: '0x1::block::BlockResource',
      })
      // The SDK remembers the ledger info of the last node of any test of this process.
      const info = (await (await fetch(url)).json()) as { readonly block_height: string; readonly chain_id: number }
      expect([height, info.chain_id]).toEqual([info.block_height, DEMO_CHAIN_ID])
      const account = await client.getAccountInfo({ accountAddress: alice })
      expect(Number(account.sequence_number)).toBeGreaterThan(0)
      expect(account.authentication_key).toBe(alice)
      expect(
        await client.view({ payload: { function: '0x1::object::is_object', functionArguments: ['0xa'] } }),
      ).toEqual([true])
      const symbol = { function: '0x1::fungible_asset::symbol', typeArguments: [METADATA], functionArguments: ['0xa'] }
      expect(await client.view({ payload: symbol as never })).toEqual(['APT'])
      const coinBalance = { function: '0x1::coin::balance', typeArguments: [APTOS_COIN], functionArguments: [alice] }
      expect(await client.view({ payload: coinBalance as never })).toEqual([String(aptosOfAlice)])
      expect((await client.getAccountModule({ accountAddress: HARBOUR, moduleName: 'market' })).abi?.name).toBe(
        'market',
      )
      const types = { key_type: `${HARBOUR}::harbour::Good`, value_type: `${HARBOUR}::harbour::Price` }
      const item = { ...types, key: { Tea: {} } } as never
      expect(await client.getTableItem({ handle: PRICES, data: item as never })).toBeDefined()
      for (const address of [...ACCOUNTS, HARBOUR, FIGUREHEADS, ...FIGUREHEAD_TOKENS, ...VAULTS]) {
        expect(AccountAddress.from(address).toString()).toBe(address)
      }
    })
  },
)

describe('each view of the framework modules', () => {
  const amount = () => balanceOf(alice, '0xa')
  const info = {
    account_address: '0x1',
    module_name: `0x${Buffer.from('aptos_coin').toString('hex')}`,
    struct_name: `0x${Buffer.from('AptosCoin').toString('hex')}`,
  }
  const SUPPLY = { vec: [expect.stringMatching(/^\d+$/)] }
  const NOBODY = `0x${'77'.repeat(32)}`
  const CASES: readonly (readonly [string, readonly string[], readonly unknown[], unknown])[] = [
    ['0x1::object::is_object', [], [NOBODY], false],
    ['0x1::object::object_exists', [METADATA], ['0xa'], true],
    ['0x1::object::object_exists', [STORE], ['0xa'], false],
    ['0x1::object::owner', [STORE], [storeOf(alice)], alice],
    ['0x1::object::is_owner', [STORE], [storeOf(alice), alice], true],
    ['0x1::object::is_owner', [STORE], [storeOf(alice), HARBOUR], false],
    ['0x1::object::ungated_transfer_allowed', [STORE], [VAULTS[0]], true],
    ['0x1::fungible_asset::name', [METADATA], ['0xa'], 'Aptos Coin'],
    ['0x1::fungible_asset::decimals', [METADATA], ['0xa'], 8],
    ['0x1::fungible_asset::icon_uri', [METADATA], ['0xa'], ''],
    ['0x1::fungible_asset::project_uri', [METADATA], ['0xa'], ''],
    ['0x1::fungible_asset::supply', [METADATA], ['0xa'], SUPPLY],
    ['0x1::fungible_asset::supply', [STORE], [VAULTS[0]], { vec: [] }],
    ['0x1::fungible_asset::maximum', [METADATA], ['0xa'], { vec: [] }],
    ['0x1::fungible_asset::store_exists', [], [VAULTS[0]], true],
    ['0x1::fungible_asset::store_exists', [], [NOBODY], false],
    ['0x1::fungible_asset::store_metadata', [STORE], [VAULTS[0]], { inner: '0xa' }],
    ['0x1::fungible_asset::balance', [STORE], [storeOf(alice)], amount],
    [
      '0x1::fungible_asset::balance',
      ['0x1::object::ObjectCore'],
      [storeOf(ACCOUNTS[1])],
      () => balanceOf(ACCOUNTS[1], '0xa'),
    ],
    ['0x1::fungible_asset::balance', [METADATA], ['0xa'], '0'],
    ['0x1::fungible_asset::is_frozen', [STORE], [VAULTS[0]], false],
    ['0x1::fungible_asset::is_frozen', [METADATA], ['0xa'], false],
    ['0x1::primary_fungible_store::primary_store_address', [METADATA], [alice, '0xa'], storeOf(alice)],
    ['0x1::primary_fungible_store::primary_store_exists', [METADATA], [alice, '0xa'], true],
    ['0x1::primary_fungible_store::primary_store_exists', [METADATA], [NOBODY, '0xa'], false],
    ['0x1::primary_fungible_store::primary_store', [METADATA], [alice, '0xa'], { inner: storeOf(alice) }],
    ['0x1::primary_fungible_store::balance', [METADATA], [alice, '0xa'], amount],
    ['0x1::primary_fungible_store::balance', [METADATA], [NOBODY, '0xa'], '0'],
    ['0x1::primary_fungible_store::is_frozen', [METADATA], [alice, '0xa'], false],
    ['0x1::primary_fungible_store::is_frozen', [METADATA], [NOBODY, '0xa'], false],
    ['0x1::coin::name', [APTOS_COIN], [], 'Aptos Coin'],
    ['0x1::coin::symbol', [BEAN], [], 'BEAN'],
    ['0x1::coin::decimals', [BEAN], [], 3],
    ['0x1::coin::supply', [APTOS_COIN], [], SUPPLY],
    ['0x1::coin::balance', [BEAN], [alice], () => balanceOf(alice, BEAN)],
    ['0x1::coin::balance', [APTOS_COIN], [NOBODY], '0'],
    ['0x1::coin::is_balance_at_least', [BEAN], [alice, '1'], true],
    ['0x1::coin::is_balance_at_least', [BEAN], [NOBODY, '1'], false],
    ['0x1::coin::is_coin_initialized', [BEAN], [], true],
    ['0x1::coin::is_coin_initialized', ['0x1::string::String'], [], false],
    ['0x1::coin::is_account_registered', [BEAN], [alice], true],
    ['0x1::coin::is_account_registered', [BEAN], [NOBODY], false],
    ['0x1::coin::is_account_registered', [APTOS_COIN], [alice], true],
    ['0x1::coin::is_account_registered', [APTOS_COIN], [NOBODY], false],
    ['0x1::coin::paired_metadata', [APTOS_COIN], [], { vec: [{ inner: '0xa' }] }],
    ['0x1::coin::paired_metadata', [BEAN], [], { vec: [] }],
    ['0x1::coin::paired_coin', [], ['0xa'], { vec: [info] }],
    ['0x1::account::exists_at', [], [alice], true],
    ['0x1::account::exists_at', [], [NOBODY], false],
    ['0x1::account::get_sequence_number', [], [alice], expect.stringMatching(/^[1-9]\d*$/)],
    ['0x1::account::get_sequence_number', [], [NOBODY], '0'],
    ['0x1::account::get_guid_next_creation_num', [], [alice], '4'],
    ['0x1::account::get_authentication_key', [], [alice], alice],
    ['0x1::block::get_current_block_height', [], [], expect.stringMatching(/^\d+$/)],
    ['0x1::block::get_epoch_interval_secs', [], [], '240'],
    ['0x1::timestamp::now_microseconds', [], [], expect.stringMatching(/^1735\d{12}$/)],
    ['0x1::timestamp::now_seconds', [], [], expect.stringMatching(/^1735\d{6}$/)],
    ['0x1::chain_id::get', [], [], DEMO_CHAIN_ID],
    ['0x4::collection::name', ['0x4::collection::Collection'], [FIGUREHEADS], 'Figureheads'],
    ['0x4::collection::creator', ['0x4::collection::Collection'], [FIGUREHEADS], HARBOUR],
    ['0x4::token::name', ['0x4::token::Token'], [FIGUREHEAD_TOKENS[0]], 'Aurora'],
    ['0x4::token::index', ['0x4::token::Token'], [FIGUREHEAD_TOKENS[0]], '1'],
    ['0x4::token::collection_object', ['0x4::token::Token'], [FIGUREHEAD_TOKENS[0]], { inner: FIGUREHEADS }],
    ['0x1::fungible_asset::symbol', [METADATA], ['0xa'], 'APT'],
  ]

  // Twice: cold, and with loaded modules.
  it.each([...CASES, ...CASES])('%s<%s>(%s)', async (name, typeArguments, args, expected) => {
    const wanted = typeof expected === 'function' ? await (expected as () => Promise<string>)() : expected
    expect(await view(name, typeArguments, args)).toEqual([wanted])
  })

  it('is called above', () => {
    const called = new Set(CASES.map(([name]) => name))
    const views = demoModules().flatMap(({ module, binary }) =>
      [...readModuleCode(binary).views].map((name) => `${addressToShortHex(module.address)}::${module.name}::${name}`),
    )
    expect([...called].sort()).toEqual(views.filter((name) => !name.includes('::market::')).sort())
  })

  it('refuses an object that is not there', async () => {
    const answer = await view('0x1::fungible_asset::name', [METADATA], [NOBODY])
    expect(answer).toMatchObject({ error_code: 'invalid_input', vm_error_code: expect.any(Number) })
  })
})

it('stores, tokens and the price of the pool change', async () => {
  const history = async (path: string) => {
    const answer = await fetch(`${url}${path}`)
    return new Set(((await answer.json()) as { value?: unknown }[]).map(({ value }) => JSON.stringify(value)))
  }
  const owners = async (address: string) =>
    await history(`/accounts/${address}/resource/0x1::object::ObjectCore/history?limit=50`)
  for (const address of [VAULTS[0]!, FIGUREHEAD_TOKENS[0]!]) expect((await owners(address)).size).toBeGreaterThan(3)
  const pool = await history(`/accounts/${HARBOUR}/resource/${HARBOUR}::market::Pool/history?limit=50`)
  expect(pool.size).toBe(50)
})
