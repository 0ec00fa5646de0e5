import { parseAddress } from '@ledger-state/core'
import {
  ABILITY,
  type AssembledField,
  type AssembledFunction,
  type AssemblyLine,
  type Callee,
  type SignatureToken,
} from '@ledger-state/move-module'
import { moduleIdOf, structOf, T0, tokenOf } from './demo-tokens.js'

// The functions of the demonstration's framework modules: the views that helpers of SDKs call, with the names,
// parameters and results of public networks, and the functions that they need. The code is ours.

const bool: SignatureToken = { kind: 'bool' }
const u8: SignatureToken = { kind: 'u8' }
const u64: SignatureToken = { kind: 'u64' }
const u128: SignatureToken = { kind: 'u128' }
const address: SignatureToken = { kind: 'address' }
const STRING = tokenOf('0x1::string::String')
const TYPE_INFO = tokenOf('0x1::type_info::TypeInfo')
const OBJECT_OF_T0 = structOf('0x1::object::Object', T0)
const METADATA = tokenOf('0x1::fungible_asset::Metadata')
const FUNGIBLE_STORE = tokenOf('0x1::fungible_asset::FungibleStore')
const OBJECT_OF_METADATA = structOf('0x1::object::Object', METADATA)
const COIN_INFO = structOf('0x1::coin::CoinInfo', T0)
const COIN_STORE = structOf('0x1::coin::CoinStore', T0)
const PAIRED_ASSET = structOf('0x1::coin::PairedFungibleAsset', T0)

const optionOf = (type: SignatureToken): SignatureToken => structOf('0x1::option::Option', type)
const referenceTo = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: false, to })

/** Error codes of the framework's objects. */
const E_NO_OBJECT = 0x6_0002n
const E_NO_RESOURCE = 0x6_0007n

interface Signature {
  readonly parameters?: readonly SignatureToken[]
  readonly results: readonly SignatureToken[]
  /** Abilities that an argument of each type parameter has. */
  readonly typeParameters?: readonly number[]
}

const SIGNATURES = {
  '0x1::option::none': { results: [optionOf(T0)], typeParameters: [0] },
  '0x1::option::some': { parameters: [T0], results: [optionOf(T0)], typeParameters: [0] },
  '0x1::option::is_some': { parameters: [referenceTo(optionOf(T0))], results: [bool], typeParameters: [0] },
  '0x1::option::borrow': { parameters: [referenceTo(optionOf(T0))], results: [referenceTo(T0)], typeParameters: [0] },
  '0x1::type_info::type_of': { results: [TYPE_INFO], typeParameters: [0] },
  '0x1::type_info::account_address': { parameters: [referenceTo(TYPE_INFO)], results: [address] },
  '0x1::aggregator_v2::read': {
    parameters: [referenceTo(structOf('0x1::aggregator_v2::Aggregator', T0))],
    results: [T0],
    typeParameters: [0],
  },
  '0x1::optional_aggregator::read': {
    parameters: [referenceTo(tokenOf('0x1::optional_aggregator::OptionalAggregator'))],
    results: [u128],
  },
  '0x1::object::exists_at': { parameters: [address], results: [bool], typeParameters: [ABILITY.key] },
  '0x1::object::create_user_derived_object_address_impl': { parameters: [address, address], results: [address] },
  '0x1::object::create_user_derived_object_address': { parameters: [address, address], results: [address] },
  '0x1::object::address_to_object': {
    parameters: [address],
    results: [OBJECT_OF_T0],
    typeParameters: [ABILITY.key],
  },
  '0x1::object::object_address': {
    parameters: [referenceTo(OBJECT_OF_T0)],
    results: [address],
    typeParameters: [ABILITY.key],
  },
  '0x1::object::is_object': { parameters: [address], results: [bool] },
  '0x1::object::object_exists': { parameters: [address], results: [bool], typeParameters: [ABILITY.key] },
  '0x1::object::owner': { parameters: [OBJECT_OF_T0], results: [address], typeParameters: [ABILITY.key] },
  '0x1::object::is_owner': { parameters: [OBJECT_OF_T0, address], results: [bool], typeParameters: [ABILITY.key] },
  '0x1::object::ungated_transfer_allowed': ofObject(bool),
  '0x1::fungible_asset::name': ofObject(STRING),
  '0x1::fungible_asset::symbol': ofObject(STRING),
  '0x1::fungible_asset::decimals': ofObject(u8),
  '0x1::fungible_asset::icon_uri': ofObject(STRING),
  '0x1::fungible_asset::project_uri': ofObject(STRING),
  '0x1::fungible_asset::supply': ofObject(optionOf(u128)),
  '0x1::fungible_asset::maximum': ofObject(optionOf(u128)),
  '0x1::fungible_asset::store_exists': { parameters: [address], results: [bool] },
  '0x1::fungible_asset::store_metadata': ofObject(OBJECT_OF_METADATA),
  '0x1::fungible_asset::balance': ofObject(u64),
  '0x1::fungible_asset::is_frozen': ofObject(bool),
  '0x1::primary_fungible_store::primary_store_address': ofAccountAndObject(address),
  '0x1::primary_fungible_store::primary_store_exists': ofAccountAndObject(bool),
  '0x1::primary_fungible_store::primary_store': ofAccountAndObject(structOf('0x1::object::Object', FUNGIBLE_STORE)),
  '0x1::primary_fungible_store::balance': ofAccountAndObject(u64),
  '0x1::primary_fungible_store::is_frozen': ofAccountAndObject(bool),
  '0x1::coin::coin_address': { results: [address], typeParameters: [0] },
  '0x1::coin::name': { results: [STRING], typeParameters: [0] },
  '0x1::coin::symbol': { results: [STRING], typeParameters: [0] },
  '0x1::coin::decimals': { results: [u8], typeParameters: [0] },
  '0x1::coin::supply': { results: [optionOf(u128)], typeParameters: [0] },
  '0x1::coin::balance': { parameters: [address], results: [u64], typeParameters: [0] },
  '0x1::coin::is_balance_at_least': { parameters: [address, u64], results: [bool], typeParameters: [0] },
  '0x1::coin::is_coin_initialized': { results: [bool], typeParameters: [0] },
  '0x1::coin::is_account_registered': { parameters: [address], results: [bool], typeParameters: [0] },
  '0x1::coin::paired_metadata': { results: [optionOf(OBJECT_OF_METADATA)], typeParameters: [0] },
  '0x1::coin::paired_coin': { parameters: [OBJECT_OF_METADATA], results: [optionOf(TYPE_INFO)] },
  '0x1::account::exists_at': { parameters: [address], results: [bool] },
  '0x1::account::get_sequence_number': { parameters: [address], results: [u64] },
  '0x1::account::get_guid_next_creation_num': { parameters: [address], results: [u64] },
  '0x1::account::get_authentication_key': {
    parameters: [address],
    results: [{ kind: 'vector', element: u8 }],
  },
  '0x1::block::get_current_block_height': { results: [u64] },
  '0x1::block::get_epoch_interval_secs': { results: [u64] },
  '0x1::timestamp::now_microseconds': { results: [u64] },
  '0x1::timestamp::now_seconds': { results: [u64] },
  '0x1::chain_id::get': { results: [u8] },
  '0x4::collection::name': ofObject(STRING),
  '0x4::collection::creator': ofObject(address),
  '0x4::token::name': ofObject(STRING),
  '0x4::token::index': ofObject(u64),
  '0x4::token::collection_object': ofObject(structOf('0x1::object::Object', tokenOf('0x4::collection::Collection'))),
} as const satisfies Record<string, Signature>

type FunctionId = keyof typeof SIGNATURES

function ofObject(result: SignatureToken) {
  return { parameters: [OBJECT_OF_T0], results: [result], typeParameters: [ABILITY.key] }
}

function ofAccountAndObject(result: SignatureToken) {
  return { parameters: [address, OBJECT_OF_T0], results: [result], typeParameters: [ABILITY.key] }
}

/** Calls a function; with a type argument if it has a type parameter. */
function call(id: FunctionId, typeArgument?: SignatureToken): AssemblyLine {
  const [at, module, name] = id.split('::') as [string, string, string]
  const callee: Callee = { module: moduleIdOf(`${at}::${module}`), name, ...SIGNATURES[id] }
  return typeArgument ? ['call_generic', { ...callee, typeArguments: [typeArgument] }] : ['call', callee]
}

const FRAMEWORK: AssemblyLine = ['ld_const', { constant: parseAddress('0x1'), type: address }]
const ofT0 = (field: string): AssembledField => ({ field, typeArguments: [T0] })

/** Loads the address of the object in a local. */
const objectIn = (local: number): AssemblyLine[] => [['imm_borrow_loc', local], call('0x1::object::object_address', T0)]
/** Reads a field, which can be copied, of the resource at the address on the stack. */
const fieldOf = (struct: string, field: string): AssemblyLine[] => [
  ['imm_borrow_global', struct],
  ['imm_borrow_field', `${struct}.${field}`],
  ['read_ref'],
]
/** Returns a field of a resource of the object that is the only argument. */
const returnFieldOf = (struct: string, field: string): AssemblyLine[] => [
  ...objectIn(0),
  ...fieldOf(struct, field),
  ['ret'],
]
/** Runs `there` if the bool on the stack is true, otherwise `absent`. Both end with a return. */
const choose = (there: readonly AssemblyLine[], absent: readonly AssemblyLine[]): AssemblyLine[] => [
  ['br_true', 'there'],
  ...absent,
  { label: 'there' },
  ...there,
]
const none = (type: SignatureToken): AssemblyLine[] => [call('0x1::option::none', type), ['ret']]
const some = (type: SignatureToken): AssemblyLine[] => [call('0x1::option::some', type), ['ret']]

type Body = Pick<AssembledFunction, 'isNative' | 'isView' | 'locals' | 'code' | 'visibility'>

/** A function that is no view. */
const helper = (...code: AssemblyLine[]): Body => ({ isView: false, code })
const view = (...code: AssemblyLine[]): Body => ({ code })
/** A view that asks `of` of the primary store of an account, or returns `absent` if the account has none. */
const ofPrimaryStore = (of: FunctionId, absent: AssemblyLine): Body =>
  view(
    ['copy_loc', 0],
    ['copy_loc', 1],
    call('0x1::primary_fungible_store::primary_store_exists', T0),
    ...choose(
      [
        ['move_loc', 0],
        ['move_loc', 1],
        call('0x1::primary_fungible_store::primary_store', T0),
        call(of, FUNGIBLE_STORE),
        ['ret'],
      ],
      [absent, ['ret']],
    ),
  )
const NATIVE: Body = { isView: false, isNative: true }
const PRIVATE_NATIVE: Body = { ...NATIVE, visibility: 'private' }

const BODIES: Readonly<Record<FunctionId, Body>> = {
  '0x1::option::none': helper(['vec_pack', T0, 0], ['pack_generic', structOf('0x1::option::Option', T0)], ['ret']),
  '0x1::option::some': helper(
    ['move_loc', 0],
    ['vec_pack', T0, 1],
    ['pack_generic', structOf('0x1::option::Option', T0)],
    ['ret'],
  ),
  '0x1::option::is_some': helper(
    ['move_loc', 0],
    ['imm_borrow_field_generic', ofT0('Option.vec')],
    ['vec_len', T0],
    ['ld_u64', 0],
    ['neq'],
    ['ret'],
  ),
  '0x1::option::borrow': helper(
    ['move_loc', 0],
    ['imm_borrow_field_generic', ofT0('Option.vec')],
    ['ld_u64', 0],
    ['vec_imm_borrow', T0],
    ['ret'],
  ),
  '0x1::type_info::type_of': NATIVE,
  '0x1::type_info::account_address': helper(
    ['move_loc', 0],
    ['imm_borrow_field', 'TypeInfo.account_address'],
    ['read_ref'],
    ['ret'],
  ),
  '0x1::aggregator_v2::read': NATIVE,
  '0x1::optional_aggregator::read': helper(
    ['move_loc', 0],
    ['imm_borrow_field', 'OptionalAggregator.integer'],
    call('0x1::option::borrow', tokenOf('0x1::optional_aggregator::Integer')),
    ['imm_borrow_field', 'Integer.value'],
    ['read_ref'],
    ['ret'],
  ),
  '0x1::object::exists_at': PRIVATE_NATIVE,
  '0x1::object::create_user_derived_object_address_impl': PRIVATE_NATIVE,
  '0x1::object::create_user_derived_object_address': helper(
    ['move_loc', 0],
    ['move_loc', 1],
    call('0x1::object::create_user_derived_object_address_impl'),
    ['ret'],
  ),
  '0x1::object::address_to_object': helper(
    ['copy_loc', 0],
    ['exists', 'ObjectCore'],
    ['br_true', 'object'],
    ['ld_u64', E_NO_OBJECT],
    ['abort'],
    { label: 'object' },
    ['copy_loc', 0],
    call('0x1::object::exists_at', T0),
    ['br_true', 'resource'],
    ['ld_u64', E_NO_RESOURCE],
    ['abort'],
    { label: 'resource' },
    ['move_loc', 0],
    ['pack_generic', OBJECT_OF_T0],
    ['ret'],
  ),
  '0x1::object::object_address': helper(
    ['move_loc', 0],
    ['imm_borrow_field_generic', ofT0('Object.inner')],
    ['read_ref'],
    ['ret'],
  ),
  '0x1::object::is_object': view(['move_loc', 0], ['exists', 'ObjectCore'], ['ret']),
  '0x1::object::object_exists': view(
    ['copy_loc', 0],
    ['exists', 'ObjectCore'],
    ['move_loc', 0],
    call('0x1::object::exists_at', T0),
    ['and'],
    ['ret'],
  ),
  '0x1::object::owner': view(...returnFieldOf('ObjectCore', 'owner')),
  '0x1::object::is_owner': view(['move_loc', 0], call('0x1::object::owner', T0), ['move_loc', 1], ['eq'], ['ret']),
  '0x1::object::ungated_transfer_allowed': view(...returnFieldOf('ObjectCore', 'allow_ungated_transfer')),
  '0x1::fungible_asset::name': view(...returnFieldOf('Metadata', 'name')),
  '0x1::fungible_asset::symbol': view(...returnFieldOf('Metadata', 'symbol')),
  '0x1::fungible_asset::decimals': view(...returnFieldOf('Metadata', 'decimals')),
  '0x1::fungible_asset::icon_uri': view(...returnFieldOf('Metadata', 'icon_uri')),
  '0x1::fungible_asset::project_uri': view(...returnFieldOf('Metadata', 'project_uri')),
  '0x1::fungible_asset::supply': view(
    ...objectIn(0),
    ['exists', 'Supply'],
    ...choose([...objectIn(0), ...fieldOf('Supply', 'current'), ...some(u128)], none(u128)),
  ),
  '0x1::fungible_asset::maximum': view(
    ...objectIn(0),
    ['exists', 'Supply'],
    ...choose([...objectIn(0), ...fieldOf('Supply', 'maximum'), ['ret']], none(u128)),
  ),
  '0x1::fungible_asset::store_exists': view(['move_loc', 0], ['exists', 'FungibleStore'], ['ret']),
  '0x1::fungible_asset::store_metadata': view(...returnFieldOf('FungibleStore', 'metadata')),
  // A store whose own balance is 0 may have a concurrent one.
  '0x1::fungible_asset::balance': {
    locals: [u64],
    code: [
      ...objectIn(0),
      ['exists', 'FungibleStore'],
      ['br_true', 'there'],
      ['ld_u64', 0],
      ['ret'],
      { label: 'there' },
      ...objectIn(0),
      ...fieldOf('FungibleStore', 'balance'),
      ['st_loc', 1],
      ['copy_loc', 1],
      ['ld_u64', 0],
      ['neq'],
      ['br_true', 'own'],
      ...objectIn(0),
      ['exists', 'ConcurrentFungibleBalance'],
      ['br_false', 'own'],
      ...objectIn(0),
      ['imm_borrow_global', 'ConcurrentFungibleBalance'],
      ['imm_borrow_field', 'ConcurrentFungibleBalance.balance'],
      call('0x1::aggregator_v2::read', u64),
      ['ret'],
      { label: 'own' },
      ['move_loc', 1],
      ['ret'],
    ],
  },
  '0x1::fungible_asset::is_frozen': view(
    ...objectIn(0),
    ['exists', 'FungibleStore'],
    ...choose(returnFieldOf('FungibleStore', 'frozen'), [['ld_false'], ['ret']]),
  ),
  '0x1::primary_fungible_store::primary_store_address': view(
    ['move_loc', 0],
    ...objectIn(1),
    call('0x1::object::create_user_derived_object_address'),
    ['ret'],
  ),
  '0x1::primary_fungible_store::primary_store_exists': view(
    ['move_loc', 0],
    ['move_loc', 1],
    call('0x1::primary_fungible_store::primary_store_address', T0),
    call('0x1::fungible_asset::store_exists'),
    ['ret'],
  ),
  '0x1::primary_fungible_store::primary_store': view(
    ['move_loc', 0],
    ['move_loc', 1],
    call('0x1::primary_fungible_store::primary_store_address', T0),
    call('0x1::object::address_to_object', FUNGIBLE_STORE),
    ['ret'],
  ),
  '0x1::primary_fungible_store::balance': ofPrimaryStore('0x1::fungible_asset::balance', ['ld_u64', 0]),
  '0x1::primary_fungible_store::is_frozen': ofPrimaryStore('0x1::fungible_asset::is_frozen', ['ld_false']),
  '0x1::coin::coin_address': {
    isView: false,
    visibility: 'private',
    locals: [TYPE_INFO],
    code: [
      call('0x1::type_info::type_of', T0),
      ['st_loc', 0],
      ['imm_borrow_loc', 0],
      call('0x1::type_info::account_address'),
      ['ret'],
    ],
  },
  '0x1::coin::name': view(...coinFact('name')),
  '0x1::coin::symbol': view(...coinFact('symbol')),
  '0x1::coin::decimals': view(...coinFact('decimals')),
  '0x1::coin::supply': {
    locals: [referenceTo(optionOf(tokenOf('0x1::optional_aggregator::OptionalAggregator')))],
    code: [
      call('0x1::coin::coin_address', T0),
      ['imm_borrow_global_generic', COIN_INFO],
      ['imm_borrow_field_generic', ofT0('CoinInfo.supply')],
      ['st_loc', 0],
      ['copy_loc', 0],
      call('0x1::option::is_some', tokenOf('0x1::optional_aggregator::OptionalAggregator')),
      ...choose(
        [
          ['move_loc', 0],
          call('0x1::option::borrow', tokenOf('0x1::optional_aggregator::OptionalAggregator')),
          call('0x1::optional_aggregator::read'),
          ...some(u128),
        ],
        none(u128),
      ),
    ],
  },
  '0x1::coin::balance': {
    locals: [u64],
    code: [
      ['ld_u64', 0],
      ['st_loc', 1],
      ['copy_loc', 0],
      ['exists_generic', COIN_STORE],
      ['br_false', 'paired'],
      ['copy_loc', 0],
      ['imm_borrow_global_generic', COIN_STORE],
      ['imm_borrow_field_generic', ofT0('CoinStore.coin')],
      ['imm_borrow_field_generic', ofT0('Coin.value')],
      ['read_ref'],
      ['st_loc', 1],
      { label: 'paired' },
      FRAMEWORK,
      ['exists_generic', PAIRED_ASSET],
      ...choose(
        [
          ['move_loc', 1],
          ['move_loc', 0],
          ...pairedMetadata(),
          call('0x1::primary_fungible_store::balance', METADATA),
          ['add'],
          ['ret'],
        ],
        [['move_loc', 1], ['ret']],
      ),
    ],
  },
  '0x1::coin::is_balance_at_least': view(
    ['move_loc', 0],
    call('0x1::coin::balance', T0),
    ['move_loc', 1],
    ['ge'],
    ['ret'],
  ),
  '0x1::coin::is_coin_initialized': view(call('0x1::coin::coin_address', T0), ['exists_generic', COIN_INFO], ['ret']),
  '0x1::coin::is_account_registered': view(
    ['copy_loc', 0],
    ['exists_generic', COIN_STORE],
    ['br_true', 'registered'],
    FRAMEWORK,
    ['exists_generic', PAIRED_ASSET],
    ...choose(
      [
        ['move_loc', 0],
        ...pairedMetadata(),
        call('0x1::primary_fungible_store::primary_store_exists', METADATA),
        ['ret'],
      ],
      [['ld_false'], ['ret']],
    ),
    { label: 'registered' },
    ['ld_true'],
    ['ret'],
  ),
  '0x1::coin::paired_metadata': view(
    FRAMEWORK,
    ['exists_generic', PAIRED_ASSET],
    ...choose([...pairedMetadata(), ...some(OBJECT_OF_METADATA)], none(OBJECT_OF_METADATA)),
  ),
  '0x1::coin::paired_coin': view(
    ['imm_borrow_loc', 0],
    call('0x1::object::object_address', METADATA),
    ['exists', 'PairedCoinType'],
    ...choose(
      [
        ['imm_borrow_loc', 0],
        call('0x1::object::object_address', METADATA),
        ...fieldOf('PairedCoinType', 'type'),
        ...some(TYPE_INFO),
      ],
      none(TYPE_INFO),
    ),
  ),
  '0x1::account::exists_at': view(['move_loc', 0], ['exists', 'Account'], ['ret']),
  '0x1::account::get_sequence_number': view(
    ['copy_loc', 0],
    ['exists', 'Account'],
    ...choose([['move_loc', 0], ...fieldOf('Account', 'sequence_number'), ['ret']], [['ld_u64', 0], ['ret']]),
  ),
  '0x1::account::get_guid_next_creation_num': view(['move_loc', 0], ...fieldOf('Account', 'guid_creation_num'), [
    'ret',
  ]),
  '0x1::account::get_authentication_key': view(['move_loc', 0], ...fieldOf('Account', 'authentication_key'), ['ret']),
  '0x1::block::get_current_block_height': view(FRAMEWORK, ...fieldOf('BlockResource', 'height'), ['ret']),
  '0x1::block::get_epoch_interval_secs': view(
    FRAMEWORK,
    ...fieldOf('BlockResource', 'epoch_interval'),
    ['ld_u64', 1_000_000],
    ['div'],
    ['ret'],
  ),
  '0x1::timestamp::now_microseconds': view(FRAMEWORK, ...fieldOf('CurrentTimeMicroseconds', 'microseconds'), ['ret']),
  '0x1::timestamp::now_seconds': view(
    call('0x1::timestamp::now_microseconds'),
    ['ld_u64', 1_000_000],
    ['div'],
    ['ret'],
  ),
  '0x1::chain_id::get': view(FRAMEWORK, ...fieldOf('ChainId', 'id'), ['ret']),
  '0x4::collection::name': view(...returnFieldOf('Collection', 'name')),
  '0x4::collection::creator': view(...returnFieldOf('Collection', 'creator')),
  '0x4::token::name': view(...returnFieldOf('Token', 'name')),
  '0x4::token::index': view(...returnFieldOf('Token', 'index')),
  '0x4::token::collection_object': view(...returnFieldOf('Token', 'collection')),
}

/** Returns a field of the facts of the coin `T0`. */
function coinFact(field: string): AssemblyLine[] {
  return [
    call('0x1::coin::coin_address', T0),
    ['imm_borrow_global_generic', COIN_INFO],
    ['imm_borrow_field_generic', ofT0(`CoinInfo.${field}`)],
    ['read_ref'],
    ['ret'],
  ]
}

/** Loads the metadata of the fungible asset that the coin `T0` is paired with. */
function pairedMetadata(): AssemblyLine[] {
  return [
    FRAMEWORK,
    ['imm_borrow_global_generic', PAIRED_ASSET],
    ['imm_borrow_field_generic', ofT0('PairedFungibleAsset.metadata')],
    ['read_ref'],
  ]
}

/** The functions of a module. */
export function demoFunctions(module: string): AssembledFunction[] {
  return Object.entries(BODIES)
    .filter(([id]) => id.startsWith(`${module}::`))
    .map(([id, body]) => ({ name: id.slice(module.length + 2), ...SIGNATURES[id as FunctionId], ...body }))
}
