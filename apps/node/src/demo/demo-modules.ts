import {
  ABILITY,
  type AssembledStruct,
  assembleModule,
  type ImportedStruct,
  type MoveModule,
  readModule,
  type SignatureToken,
} from '@ledger-state/move-module'
import { parseTypeTag } from '@ledger-state/type-tag'
import { HARBOUR } from './demo-addresses.js'
import { demoMarketBinary } from './demo-market.js'
import { moduleIdOf, OBJECT_GROUP, T0, typeTagToToken } from './demo-tokens.js'
import { demoFunctions } from './demo-views.js'

// The modules of the demonstration ledger: the framework types that accounts, balances, objects and strings need, with
// their fields on public networks, and a harbour with ships, berths and prices. Their functions are in demo-views.ts,
// and the market is in demo-market.ts.

const { copy, drop, store, key } = ABILITY
const VERSION = 7
/** Fields from `{ name: type text }`; a field with a type parameter in its type is given as a token. */
function fields(types: Readonly<Record<string, string | SignatureToken>>) {
  return Object.entries(types).map(([name, type]) => {
    return [name, typeof type === 'string' ? typeTagToToken(parseTypeTag(type)) : type] as const
  })
}

function struct(
  name: string,
  abilities: number,
  types: Parameters<typeof fields>[0],
  phantom: boolean[] = [],
): AssembledStruct {
  return { name, abilities, typeParameters: typeParameters(phantom), fields: fields(types) }
}

/** Name of a resource that is stored in the group of its object, like resources of the framework. */
function memberOfObject(definition: AssembledStruct): AssembledStruct {
  return { ...definition, group: OBJECT_GROUP }
}

function enumeration(
  name: string,
  variants: Readonly<Record<string, Parameters<typeof fields>[0]>>,
  phantom: boolean[] = [],
): AssembledStruct {
  return {
    name,
    abilities: copy | drop | store,
    typeParameters: typeParameters(phantom),
    variants: Object.entries(variants).map(([variant, types]) => ({ name: variant, fields: fields(types) })),
  }
}

function typeParameters(phantom: boolean[]) {
  return phantom.map((one) => ({ constraints: 0, phantom: one }))
}

function generic(text: string, argument: SignatureToken): SignatureToken {
  const token = typeTagToToken(parseTypeTag(text)) as SignatureToken & { kind: 'struct' }
  return { ...token, typeArguments: [argument] }
}

/** Fields that an empty struct has on chain. */
const EMPTY = { dummy_field: 'bool' }

const MODULES: Readonly<Record<string, readonly AssembledStruct[]>> = {
  '0x1::string': [struct('String', copy | drop | store, { bytes: 'vector<u8>' })],
  '0x1::option': [struct('Option', copy | drop | store, { vec: { kind: 'vector', element: T0 } }, [false])],
  '0x1::guid': [
    struct('ID', copy | drop | store, { creation_num: 'u64', addr: 'address' }),
    struct('GUID', drop | store, { id: '0x1::guid::ID' }),
  ],
  '0x1::event': [struct('EventHandle', store, { counter: 'u64', guid: '0x1::guid::GUID' }, [true])],
  '0x1::type_info': [
    struct('TypeInfo', copy | drop | store, {
      account_address: 'address',
      module_name: 'vector<u8>',
      struct_name: 'vector<u8>',
    }),
  ],
  '0x1::account': [
    struct('CoinRegisterEvent', drop | store, { type_info: '0x1::type_info::TypeInfo' }),
    struct('KeyRotationEvent', drop | store, {
      old_authentication_key: 'vector<u8>',
      new_authentication_key: 'vector<u8>',
    }),
    struct('RotationCapability', drop | store, { account: 'address' }),
    struct('SignerCapability', drop | store, { account: 'address' }),
    struct('CapabilityOffer', store, { for: '0x1::option::Option<address>' }, [true]),
    struct('Account', key | store, {
      authentication_key: 'vector<u8>',
      sequence_number: 'u64',
      guid_creation_num: 'u64',
      coin_register_events: '0x1::event::EventHandle<0x1::account::CoinRegisterEvent>',
      key_rotation_events: '0x1::event::EventHandle<0x1::account::KeyRotationEvent>',
      rotation_capability_offer: '0x1::account::CapabilityOffer<0x1::account::RotationCapability>',
      signer_capability_offer: '0x1::account::CapabilityOffer<0x1::account::SignerCapability>',
    }),
  ],
  '0x1::table': [struct('Table', store, { handle: 'address' }, [true, true])],
  '0x1::coin': [
    struct('Coin', store, { value: 'u64' }, [true]),
    struct('DepositEvent', drop | store, { amount: 'u64' }),
    struct('WithdrawEvent', drop | store, { amount: 'u64' }),
    struct(
      'CoinStore',
      key,
      {
        coin: generic('0x1::coin::Coin', T0),
        frozen: 'bool',
        deposit_events: '0x1::event::EventHandle<0x1::coin::DepositEvent>',
        withdraw_events: '0x1::event::EventHandle<0x1::coin::WithdrawEvent>',
      },
      [true],
    ),
    struct(
      'CoinInfo',
      key,
      {
        name: '0x1::string::String',
        symbol: '0x1::string::String',
        decimals: 'u8',
        supply: '0x1::option::Option<0x1::optional_aggregator::OptionalAggregator>',
      },
      [true],
    ),
    memberOfObject(struct('PairedCoinType', key, { type: '0x1::type_info::TypeInfo' })),
    struct('PairedFungibleAsset', key, { metadata: '0x1::object::Object<0x1::fungible_asset::Metadata>' }, [true]),
  ],
  '0x1::timestamp': [struct('CurrentTimeMicroseconds', key, { microseconds: 'u64' })],
  '0x1::chain_id': [struct('ChainId', key, { id: 'u8' })],
  '0x1::block': [
    struct('NewBlockEvent', drop | store, {
      hash: 'address',
      epoch: 'u64',
      round: 'u64',
      height: 'u64',
      previous_block_votes_bitvec: 'vector<u8>',
      proposer: 'address',
      failed_proposer_indices: 'vector<u64>',
      time_microseconds: 'u64',
    }),
    struct('UpdateEpochIntervalEvent', drop | store, { old_epoch_interval: 'u64', new_epoch_interval: 'u64' }),
    struct('BlockResource', key, {
      height: 'u64',
      epoch_interval: 'u64',
      new_block_events: '0x1::event::EventHandle<0x1::block::NewBlockEvent>',
      update_epoch_interval_events: '0x1::event::EventHandle<0x1::block::UpdateEpochIntervalEvent>',
    }),
  ],
  '0x1::primary_fungible_store': [],
  '0x1::gas_schedule': [
    struct('GasEntry', copy | drop | store, { key: '0x1::string::String', val: 'u64' }),
    struct('GasScheduleV2', key | copy | drop, {
      feature_version: 'u64',
      entries: 'vector<0x1::gas_schedule::GasEntry>',
    }),
  ],
  '0x1::aggregator': [struct('Aggregator', store, { handle: 'address', key: 'address', limit: 'u128' })],
  '0x1::optional_aggregator': [
    struct('Integer', store, { value: 'u128', limit: 'u128' }),
    struct('OptionalAggregator', store, {
      aggregator: '0x1::option::Option<0x1::aggregator::Aggregator>',
      integer: '0x1::option::Option<0x1::optional_aggregator::Integer>',
    }),
  ],
  '0x1::aptos_coin': [struct('AptosCoin', key, EMPTY)],
  '0x1::object': [
    struct('Object', copy | drop | store, { inner: 'address' }, [true]),
    memberOfObject(
      struct('ObjectCore', key, {
        guid_creation_num: 'u64',
        owner: 'address',
        allow_ungated_transfer: 'bool',
        transfer_events: '0x1::event::EventHandle<0x1::object::TransferEvent>',
      }),
    ),
    struct('TransferEvent', drop | store, { object: 'address', from: 'address', to: 'address' }),
    struct('ObjectGroup', 0, EMPTY),
  ],
  '0x1::aggregator_v2': [struct('Aggregator', drop | store, { value: T0, max_value: T0 }, [false])],
  '0x1::fungible_asset': [
    memberOfObject(
      struct('Metadata', key, {
        name: '0x1::string::String',
        symbol: '0x1::string::String',
        decimals: 'u8',
        icon_uri: '0x1::string::String',
        project_uri: '0x1::string::String',
      }),
    ),
    memberOfObject(
      struct('FungibleStore', key, {
        metadata: '0x1::object::Object<0x1::fungible_asset::Metadata>',
        balance: 'u64',
        frozen: 'bool',
      }),
    ),
    memberOfObject(struct('ConcurrentFungibleBalance', key, { balance: '0x1::aggregator_v2::Aggregator<u64>' })),
    memberOfObject(struct('Supply', key, { current: 'u128', maximum: '0x1::option::Option<u128>' })),
  ],
  '0x4::collection': [
    memberOfObject(
      struct('Collection', key, {
        creator: 'address',
        description: '0x1::string::String',
        name: '0x1::string::String',
        uri: '0x1::string::String',
        mutation_events: '0x1::event::EventHandle<0x4::collection::MutationEvent>',
      }),
    ),
    memberOfObject(
      struct('FixedSupply', key, {
        current_supply: 'u64',
        max_supply: 'u64',
        total_minted: 'u64',
        burn_events: '0x1::event::EventHandle<0x4::collection::BurnEvent>',
        mint_events: '0x1::event::EventHandle<0x4::collection::MintEvent>',
      }),
    ),
    struct('MutationEvent', drop | store, { mutated_field_name: '0x1::string::String' }),
    struct('BurnEvent', drop | store, { index: 'u64', token: 'address' }),
    struct('MintEvent', drop | store, { index: 'u64', token: 'address' }),
  ],
  '0x4::token': [
    memberOfObject(
      struct('Token', key, {
        collection: '0x1::object::Object<0x4::collection::Collection>',
        index: 'u64',
        description: '0x1::string::String',
        name: '0x1::string::String',
        uri: '0x1::string::String',
        mutation_events: '0x1::event::EventHandle<0x4::token::MutationEvent>',
      }),
    ),
    struct('MutationEvent', drop | store, {
      mutated_field_name: '0x1::string::String',
      old_value: '0x1::string::String',
      new_value: '0x1::string::String',
    }),
  ],
  [`${HARBOUR}::bean`]: [struct('Bean', key, EMPTY)],
  [`${HARBOUR}::harbour`]: [
    struct('Berth', copy | drop | store, { quay: 'u16', place: 'u32' }),
    enumeration('Cargo', {
      Empty: {},
      Containers: { count: 'u32' },
      Bulk: { good: '0x1::string::String', kilograms: 'u64' },
    }),
    enumeration('Good', { Coffee: {}, Tea: {}, Cocoa: {}, Blend: { parts: 'vector<u8>' } }),
    struct('Ship', copy | drop | store, {
      name: '0x1::string::String',
      owner: 'address',
      cargo: `${HARBOUR}::harbour::Cargo`,
      draught_millimetres: 'u64',
      next_port: '0x1::option::Option<0x1::string::String>',
    }),
    struct('Price', copy | drop | store, {
      amount: 'u128',
      currency: '0x1::object::Object<0x1::fungible_asset::Metadata>',
      change: 'i64',
    }),
    struct('Harbour', key, {
      visits: '0x1::table::Table<u64, 0x1::string::String>',
      berths: `0x1::table::Table<${HARBOUR}::harbour::Berth, ${HARBOUR}::harbour::Ship>`,
      prices: `0x1::table::Table<${HARBOUR}::harbour::Good, ${HARBOUR}::harbour::Price>`,
    }),
  ],
}

/** First version of modules with signed integers. */
const SIGNED_INTEGER_VERSION = 9

const IMPORTS: readonly ImportedStruct[] = Object.entries(MODULES).flatMap(([id, structs]) =>
  structs.map((one) => ({ ...one, module: moduleIdOf(id) })),
)

function binaryOf([id, structs]: readonly [string, readonly AssembledStruct[]]): Uint8Array {
  const [address, name] = id.split('::') as [string, string]
  const version = name === 'harbour' ? SIGNED_INTEGER_VERSION : VERSION
  return assembleModule({ version, address, name, structs, imports: IMPORTS, functions: demoFunctions(id) })
}

/** The modules of the demonstration ledger, with their bytes. */
export function demoModules(): { module: MoveModule; binary: Uint8Array }[] {
  const binaries = [...Object.entries(MODULES).map(binaryOf), demoMarketBinary()]
  return binaries.map((binary) => ({ module: readModule(binary), binary }))
}
