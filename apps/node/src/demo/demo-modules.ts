import { parseAddress } from '@ledger-state/core'
import {
  ABILITY,
  type FieldDefinition,
  type MoveModule,
  readModule,
  type SignatureToken,
  type StructDefinition,
  writeModule,
} from '@ledger-state/move-module'
import { parseStructTag, parseTypeTag, type TypeTag } from '@ledger-state/type-tag'
import { demoMarketBinary } from './demo-market.js'

// The modules of the demonstration ledger: the few framework types that accounts, balances and strings need, with their
// fields on public networks, and a harbour with ships, berths and prices. The module with code is in demo-market.ts.

const { copy, drop, store, key } = ABILITY
const VERSION = 7
const T0: SignatureToken = { kind: 'typeParameter', index: 0 }

function typeTagToToken(tag: TypeTag): SignatureToken {
  switch (tag.kind) {
    case 'vector':
      return { kind: 'vector', element: typeTagToToken(tag.element) }
    case 'struct': {
      const { address, module: name } = tag
      return {
        kind: 'struct',
        module: { address, name },
        name: tag.name,
        typeArguments: tag.typeArguments.map(typeTagToToken),
      }
    }
    case 'function':
      throw new TypeError('the demonstration has no function types')
    default:
      return tag
  }
}

/** Fields from `{ name: type text }`; a field with a type parameter in its type is given as a token. */
function fields(types: Readonly<Record<string, string | SignatureToken>>): FieldDefinition[] {
  return Object.entries(types).map(([name, type]) => ({
    name,
    type: typeof type === 'string' ? typeTagToToken(parseTypeTag(type)) : type,
  }))
}

function struct(
  name: string,
  abilities: number,
  types: Parameters<typeof fields>[0],
  phantom: boolean[] = [],
): StructDefinition {
  return { kind: 'struct', name, abilities, typeParameters: typeParameters(phantom), fields: fields(types) }
}

/** Name of a resource that is stored in the group of its object, like resources of the framework. */
function memberOfObject(definition: StructDefinition): StructDefinition {
  return { ...definition, resourceGroup: parseStructTag('0x1::object::ObjectGroup') }
}

function enumeration(
  name: string,
  variants: Readonly<Record<string, Parameters<typeof fields>[0]>>,
  phantom: boolean[] = [],
): StructDefinition {
  return {
    kind: 'enum',
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

const MODULES: Readonly<Record<string, readonly StructDefinition[]>> = {
  '0x1::string': [struct('String', copy | drop | store, { bytes: 'vector<u8>' })],
  '0x1::option': [enumeration('Option', { None: {}, Some: { e: T0 } }, [false])],
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
  ],
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
  ],
  '0x4::collection': [memberOfObject(struct('Collection', key, { creator: 'address', name: '0x1::string::String' }))],
  '0x4::token': [
    memberOfObject(
      struct('Token', key, {
        collection: '0x1::object::Object<0x4::collection::Collection>',
        index: 'u64',
        name: '0x1::string::String',
      }),
    ),
  ],
  '0xdecaf::bean': [struct('Bean', key, EMPTY)],
  '0xdecaf::harbour': [
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
      cargo: '0xdecaf::harbour::Cargo',
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
      berths: '0x1::table::Table<0xdecaf::harbour::Berth, 0xdecaf::harbour::Ship>',
      prices: '0x1::table::Table<0xdecaf::harbour::Good, 0xdecaf::harbour::Price>',
    }),
  ],
}

/** First version of modules with signed integers. */
const SIGNED_INTEGER_VERSION = 9

const TYPES: readonly MoveModule[] = Object.entries(MODULES).map(([id, structs]) => {
  const [address, name] = id.split('::') as [string, string]
  return {
    address: parseAddress(address),
    name,
    version: name === 'harbour' ? SIGNED_INTEGER_VERSION : VERSION,
    structs,
  }
})

/** The modules of the demonstration ledger, with their bytes. */
export function demoModules(): { module: MoveModule; binary: Uint8Array }[] {
  const binaries = [...TYPES.map(writeModule), demoMarketBinary()]
  return binaries.map((binary) => ({ module: readModule(binary), binary }))
}
