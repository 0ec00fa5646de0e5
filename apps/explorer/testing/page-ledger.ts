// A small ledger that has something for each view of the page, and text that would do harm if the page drew it as HTML.
import { gzipSync } from 'node:zlib'
import { codecOf, parseJson } from '@ledger-state/bcs'
import {
  addressToLongHex,
  ByteWriter,
  bytesToHex,
  parseAddress,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import {
  ABILITY,
  type Assembly,
  assembleModule,
  layoutOf,
  readModule,
  type SignatureToken,
} from '@ledger-state/move-module'
import {
  moduleKey,
  parseStructTag,
  parseTypeTag,
  resourceGroupKey,
  resourceKey,
  type TypeTag,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'

export const ALICE = '0xa11ce'
export const SHOP = '0xcafe'
export const SHOP_TYPE = '0xcafe::shop::Shop'
export const BEAN = '0xcafe::bean::Bean'
/** An account with only hostile texts. */
export const MALLORY = '0xbad'
/** An account with a shop with a hostile title. */
export const CROOK = '0xbad1'
/** A coin of Mallory's. */
export const EVIL = '0xbad::evil::Evil'
/** A fungible asset of Mallory's. */
export const ASSET = '0xa55e7'
/** A fungible asset, whose supply grows, with a store of Alice's. */
export const TEA = '0x7ea'
const TEA_STORE = '0x7ea1'
/** A collection of Alice's, with a token. */
export const CUPS = '0xc0b5'
export const CUP = '0xc0b51'
/** A token with a hostile name, of Mallory's. */
const EVIL_CUP = '0xc0b52'
export const TABLE = '0x7ab1e2'
export const HOSTILE_TABLE = '0x7ab1e3'
export const HOSTILE = '<img src=x onerror="hurt=1"><b>bold</b>'
export const HOSTILE_SOURCE = `module 0xbad::evil { /* </pre>${HOSTILE} */ }`
export const OLDEST = 3n
export const LATEST = 8n
/** Version from which the shop's module has one more struct. */
const UPGRADED = 5n

const CHAIN_ID = 94n
const START_USEC = 1_735_689_600_000_000n
const TABLE_TYPE = '0x1::table::Table<u64, 0x1::string::String>'
const GROUP = '0x1::object::ObjectGroup'
const { key, store } = ABILITY
const T0: SignatureToken = { kind: 'typeParameter', index: 0 }
const U64: SignatureToken = { kind: 'u64' }

type Fields = Readonly<Record<string, string | SignatureToken>>

function toToken(tag: TypeTag): SignatureToken {
  if (tag.kind === 'vector') return { kind: 'vector', element: toToken(tag.element) }
  if (tag.kind === 'function') throw new TypeError('the ledger of the tests has no function types')
  if (tag.kind !== 'struct') return tag
  const module = { address: tag.address, name: tag.module }
  return { kind: 'struct', module, name: tag.name, typeArguments: tag.typeArguments.map(toToken) }
}

function struct(name: string, fields: Fields, more: { readonly phantoms?: number; readonly group?: string } = {}) {
  const typeParameters = Array.from({ length: more.phantoms ?? 0 }, () => ({ constraints: 0, phantom: true }))
  const members = Object.entries(fields).map(([member, type]) => {
    return [member, typeof type === 'string' ? toToken(parseTypeTag(type)) : type] as const
  })
  return { name, abilities: key | store, typeParameters, fields: members, ...(more.group && { group: more.group }) }
}

const COIN: SignatureToken = {
  kind: 'struct',
  module: { address: parseAddress('0x1'), name: 'coin' },
  name: 'Coin',
  typeArguments: [T0],
}

const FRAMEWORK: Readonly<Record<string, readonly ReturnType<typeof struct>[]>> = {
  string: [struct('String', { bytes: 'vector<u8>' })],
  table: [struct('Table', { handle: 'address' }, { phantoms: 2 })],
  option: [
    {
      ...struct('Option', { vec: { kind: 'vector', element: T0 } }),
      typeParameters: [{ constraints: 0, phantom: false }],
    },
  ],
  guid: [struct('ID', { creation_num: 'u64', addr: 'address' }), struct('GUID', { id: '0x1::guid::ID' })],
  event: [struct('EventHandle', { counter: 'u64', guid: '0x1::guid::GUID' }, { phantoms: 1 })],
  account: [
    struct('CapabilityOffer', { for: '0x1::option::Option<address>' }, { phantoms: 1 }),
    struct('Account', {
      authentication_key: 'vector<u8>',
      sequence_number: 'u64',
      guid_creation_num: 'u64',
      coin_register_events: '0x1::event::EventHandle<u8>',
      key_rotation_events: '0x1::event::EventHandle<u8>',
      rotation_capability_offer: '0x1::account::CapabilityOffer<u8>',
      signer_capability_offer: '0x1::account::CapabilityOffer<u8>',
    }),
  ],
  coin: [
    struct('Coin', { value: 'u64' }, { phantoms: 1 }),
    struct(
      'CoinStore',
      {
        coin: COIN,
        frozen: 'bool',
        deposit_events: '0x1::event::EventHandle<u8>',
        withdraw_events: '0x1::event::EventHandle<u8>',
      },
      { phantoms: 1 },
    ),
    struct('CoinInfo', { name: '0x1::string::String', symbol: '0x1::string::String', decimals: 'u8' }, { phantoms: 1 }),
    struct('PairedCoinType', { type: '0x1::type_info::TypeInfo' }, { group: GROUP }),
  ],
  type_info: [struct('TypeInfo', { account_address: 'address', module_name: 'vector<u8>', struct_name: 'vector<u8>' })],
  gas_schedule: [
    struct('GasEntry', { key: '0x1::string::String', val: 'u64' }),
    struct('GasScheduleV2', { feature_version: 'u64', entries: 'vector<0x1::gas_schedule::GasEntry>' }),
  ],
  object: [
    struct('ObjectGroup', { dummy_field: 'bool' }),
    struct(
      'ObjectCore',
      {
        guid_creation_num: 'u64',
        owner: 'address',
        allow_ungated_transfer: 'bool',
        transfer_events: '0x1::event::EventHandle<u8>',
      },
      { group: GROUP },
    ),
    struct('Object', { inner: 'address' }, { phantoms: 1 }),
  ],
  fungible_asset: [
    struct(
      'Metadata',
      {
        name: '0x1::string::String',
        symbol: '0x1::string::String',
        decimals: 'u8',
        icon_uri: '0x1::string::String',
        project_uri: '0x1::string::String',
      },
      { group: GROUP },
    ),
    struct('Supply', { current: 'u128', maximum: '0x1::option::Option<u128>' }, { group: GROUP }),
    struct(
      'FungibleStore',
      { metadata: '0x1::object::Object<0x1::fungible_asset::Metadata>', balance: 'u64', frozen: 'bool' },
      { group: GROUP },
    ),
  ],
  aggregator_v2: [
    {
      ...struct('Aggregator', { value: T0, max_value: T0 }),
      typeParameters: [{ constraints: 0, phantom: false }],
    },
  ],
  code: [
    struct('UpgradePolicy', { policy: 'u8' }),
    struct('PackageDep', { account: 'address', package_name: '0x1::string::String' }),
    struct('ModuleMetadata', { name: '0x1::string::String', source: 'vector<u8>' }),
    struct('PackageMetadata', {
      name: '0x1::string::String',
      upgrade_policy: '0x1::code::UpgradePolicy',
      upgrade_number: 'u64',
      modules: 'vector<0x1::code::ModuleMetadata>',
      deps: 'vector<0x1::code::PackageDep>',
    }),
    struct('PackageRegistry', { packages: 'vector<0x1::code::PackageMetadata>' }),
  ],
}

const TOKENS: readonly Assembly[] = [
  {
    version: 7,
    address: '0x4',
    name: 'collection',
    structs: [
      struct('Collection', { creator: 'address', name: '0x1::string::String' }, { group: GROUP }),
      struct(
        'ConcurrentSupply',
        { current_supply: '0x1::aggregator_v2::Aggregator<u64>', total_minted: '0x1::aggregator_v2::Aggregator<u64>' },
        { group: GROUP },
      ),
    ],
    functions: [],
  },
  {
    version: 7,
    address: '0x4',
    name: 'token',
    structs: [
      struct(
        'Token',
        { collection: '0x1::object::Object<0x4::collection::Collection>', name: '0x1::string::String' },
        { group: GROUP },
      ),
    ],
    functions: [],
  },
]

const SHOP_STRUCT = struct('Shop', { title: '0x1::string::String', price: 'u64', items: TABLE_TYPE })

/** The module of the shop; its view `price` fails with code 7 while the price is 103. */
function shopModule(more: readonly ReturnType<typeof struct>[] = []): Assembly {
  return {
    version: 7,
    address: SHOP,
    name: 'shop',
    structs: [SHOP_STRUCT, ...more],
    functions: [
      {
        name: 'price',
        results: [U64],
        locals: [U64],
        code: [
          ['ld_const', { constant: parseAddress(SHOP), type: { kind: 'address' } }],
          ['imm_borrow_global', 'Shop'],
          ['imm_borrow_field', 'Shop.price'],
          ['read_ref'],
          ['st_loc', 0],
          ['copy_loc', 0],
          ['ld_u64', 103],
          ['neq'],
          ['br_true', 'sound'],
          ['ld_u64', 7],
          ['abort'],
          { label: 'sound' },
          ['move_loc', 0],
          ['ret'],
        ],
      },
    ],
    errors: [[7n, 'ECLOSED', HOSTILE]],
  }
}

const MODULES: readonly Assembly[] = [
  ...Object.entries(FRAMEWORK).map(([name, structs]) => ({ version: 7, address: '0x1', name, structs, functions: [] })),
  ...TOKENS,
  { version: 7, address: SHOP, name: 'bean', structs: [struct('Bean', { dummy_field: 'bool' })], functions: [] },
  { version: 7, address: MALLORY, name: 'evil', structs: [struct('Evil', { dummy_field: 'bool' })], functions: [] },
  shopModule(),
]
const BINARIES = MODULES.map(assembleModule)
const READ = new Map(BINARIES.map(readModule).map((one) => [`${addressToLongHex(one.address)}::${one.name}`, one]))

function encode(type: string, value: unknown): Uint8Array {
  const layout = layoutOf(parseTypeTag(type), ({ address, name }) => READ.get(`${addressToLongHex(address)}::${name}`))
  return codecOf(layout).jsonToBytes(parseJson(JSON.stringify(value)))
}

function resource(address: string, type: string, value: unknown): Write {
  return [resourceKey(parseAddress(address), parseStructTag(type)), encode(type, value)]
}

export function item(handle: string, at: number, text: string): Write {
  return [tableItemKey(parseAddress(handle), encode('u64', String(at))), encode('0x1::string::String', text)]
}

export function object(address: string, members: Readonly<Record<string, unknown>>): Write {
  const writer = new ByteWriter().uleb128(Object.keys(members).length)
  for (const [type, value] of Object.entries(members)) {
    writeStructTag(writer, parseStructTag(type))
    writer.byteString(encode(type, value))
  }
  return [resourceGroupKey(parseAddress(address), parseStructTag(GROUP)), writer.toBytes()]
}

export function packages(address: string, name: string, module: string, source: string): Write {
  const listed = { name: module, source: bytesToHex(gzipSync(source)) }
  const one = { name, upgrade_policy: { policy: 1 }, upgrade_number: '4', modules: [listed], deps: [] }
  return resource(address, '0x1::code::PackageRegistry', {
    packages: [{ ...one, deps: [{ account: '0x1', package_name: name === HOSTILE ? HOSTILE : 'Framework' }] }],
  })
}

const EVENTS = { counter: '0', guid: { id: { creation_num: '0', addr: ALICE } } }

export const coinStore = (address: string, coin: string, value: bigint): Write =>
  resource(address, `0x1::coin::CoinStore<${coin}>`, {
    coin: { value: String(value) },
    frozen: false,
    deposit_events: EVENTS,
    withdraw_events: EVENTS,
  })

const shop = (address: string, title: string, price: bigint, handle: string): Write =>
  resource(address, SHOP_TYPE, { title, price: String(price), items: { handle } })

export const core = (owner: string) => ({
  guid_creation_num: '1',
  owner,
  allow_ungated_transfer: true,
  transfer_events: EVENTS,
})

/** Supply of the tea at a version, and the part of it that Alice holds, in the smallest unit. */
const teaAt = (version: bigint): bigint => 1_000n * (version + 1n)
const teaOfAliceAt = (version: bigint): bigint => teaAt(version) / 4n

interface TeaStore {
  readonly owner: string
  readonly balance: bigint
  readonly isFrozen?: boolean
}

/** A store of the tea at an address. */
export function teaStore(address: string, { owner, balance, isFrozen = false }: TeaStore): Write {
  return object(address, {
    '0x1::object::ObjectCore': core(owner),
    '0x1::fungible_asset::FungibleStore': { metadata: { inner: TEA }, balance: String(balance), frozen: isFrozen },
  })
}

/** A collection of Alice's at an address. */
export function collection(address: string, name: string, further: Readonly<Record<string, unknown>> = {}): Write {
  return object(address, {
    '0x1::object::ObjectCore': core(ALICE),
    '0x4::collection::Collection': { creator: ALICE, name },
    ...further,
  })
}

interface CollectionToken {
  readonly owner: string
  readonly collection: string
  readonly name: string
}

/** A token of a collection at an address. */
export function token(address: string, { owner, collection: inner, name }: CollectionToken): Write {
  return object(address, {
    '0x1::object::ObjectCore': core(owner),
    '0x4::token::Token': { collection: { inner }, name },
  })
}

const teaWrites = (version: bigint): readonly Write[] => [
  object(TEA, {
    '0x1::object::ObjectCore': core(SHOP),
    '0x1::fungible_asset::Supply': { current: String(teaAt(version)), maximum: { vec: ['90000'] } },
    '0x1::fungible_asset::Metadata': { name: 'Tea', symbol: 'TEA', decimals: 1, icon_uri: '', project_uri: '' },
  }),
  teaStore(TEA_STORE, { owner: ALICE, balance: teaOfAliceAt(version) }),
]

const GENESIS: readonly Write[] = [
  ...BINARIES.map((binary, at): Write => {
    return [moduleKey(parseAddress(MODULES[at]!.address!), MODULES[at]!.name), binary]
  }),
  resource('0x1', '0x1::gas_schedule::GasScheduleV2', {
    feature_version: '45',
    entries: [{ key: 'txn.min_price_per_gas_unit', val: '100' }],
  }),
  resource(ALICE, '0x1::account::Account', {
    authentication_key: '0x00',
    sequence_number: '41',
    guid_creation_num: '4',
    coin_register_events: EVENTS,
    key_rotation_events: EVENTS,
    rotation_capability_offer: { for: { vec: [] } },
    signer_capability_offer: { for: { vec: [] } },
  }),
  resource(SHOP, `0x1::coin::CoinInfo<${BEAN}>`, { name: 'Bean', symbol: 'BEAN', decimals: 2 }),
  resource(MALLORY, `0x1::coin::CoinInfo<${EVIL}>`, { name: HOSTILE, symbol: '<i>evil</i>', decimals: 0 }),
  coinStore(MALLORY, EVIL, 5n),
  shop(CROOK, HOSTILE, 1n, HOSTILE_TABLE),
  packages(SHOP, 'Corner', 'shop', 'module 0xcafe::shop { struct Shop has key {} }'),
  packages(MALLORY, HOSTILE, 'evil', HOSTILE_SOURCE),
  collection(CUPS, 'Cups'),
  token(CUP, { owner: ALICE, collection: CUPS, name: 'Cup 1' }),
  token(EVIL_CUP, { owner: MALLORY, collection: CUPS, name: HOSTILE }),
  object(ASSET, {
    '0x1::object::ObjectCore': core(MALLORY),
    '0x1::fungible_asset::Metadata': { name: HOSTILE, symbol: 'EVL', decimals: 3, icon_uri: HOSTILE, project_uri: '' },
  }),
  item(TABLE, 1, 'a teapot'),
  item(TABLE, 2, 'a cup'),
  item(HOSTILE_TABLE, 1, HOSTILE),
]

/** A module with a view and nothing else. */
export function viewModule(address: string, name: string, view: string, typeParameters: readonly number[] = []): Write {
  const functions = [{ name: view, typeParameters, results: [U64], code: [['ld_u64', 7], ['ret']] }] as const
  const binary = assembleModule({ version: 7, address, name, structs: [], functions })
  return [moduleKey(parseAddress(address), name), binary]
}

/** Price of the shop at a version. */
export const priceAt = (version: bigint): bigint => 100n + version

/** Alice's balance of the coin at a version, in its smallest unit. */
const beansAt = (version: bigint): bigint => 100_000n * (version + 1n)

/** Writes versions 0 to 8, one for each block, then further ones, and prunes versions older than 3. */
export async function createPageEngine(further: readonly (readonly Write[])[] = []): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const versions: VersionWrites[] = []
  for (let version = 0n; version <= LATEST; version++) {
    const writes: Write[] = version === 0n ? [...GENESIS] : []
    writes.push(shop(SHOP, 'Corner shop', priceAt(version), TABLE), coinStore(ALICE, BEAN, beansAt(version)))
    writes.push(...teaWrites(version))
    if (version === UPGRADED) {
      const upgraded = assembleModule(shopModule([struct('Till', { cash: 'u64' })]))
      writes.push([moduleKey(parseAddress(SHOP), 'shop'), upgraded], item(TABLE, 2, 'a saucer'))
    }
    const block = { height: version, epoch: 1n, timestampUsec: version === 0n ? 0n : START_USEC + version * 4_000_000n }
    versions.push({ version, block, writes })
  }
  for (const writes of further) {
    const version = BigInt(versions.length)
    versions.push({
      version,
      block: { height: version, epoch: 1n, timestampUsec: START_USEC + version * 4_000_000n },
      writes,
    })
  }
  for (const one of withHoldings(versions)) await engine.commit([one], { chainId: CHAIN_ID })
  await engine.prune(LATEST - OLDEST + 1n + BigInt(further.length))
  return engine
}
