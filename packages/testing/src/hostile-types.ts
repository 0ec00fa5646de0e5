// Types that are expensive to resolve, over modules like those of a genesis.
import type { Random } from './random.ts'

type FieldType =
  | { readonly kind: 'u8' | 'u64' | 'u128' | 'bool' | 'address' }
  | { readonly kind: 'vector'; readonly element: FieldType }
  | { readonly kind: 'typeParameter'; readonly index: number }
  | {
      readonly kind: 'struct'
      readonly module: { readonly address: Uint8Array; readonly name: string }
      readonly name: string
      readonly typeArguments: readonly FieldType[]
    }

const FRAMEWORK = new Uint8Array(32)
FRAMEWORK[31] = 1
const ALL_ABILITIES = 15

const u8: FieldType = { kind: 'u8' }
const u64: FieldType = { kind: 'u64' }
const u128: FieldType = { kind: 'u128' }
const bool: FieldType = { kind: 'bool' }
const address: FieldType = { kind: 'address' }
const vector = (element: FieldType): FieldType => ({ kind: 'vector', element })
const parameter = (index: number): FieldType => ({ kind: 'typeParameter', index })
const struct = (module: string, name: string, ...typeArguments: FieldType[]): FieldType => ({
  kind: 'struct',
  module: { address: FRAMEWORK, name: module },
  name,
  typeArguments,
})

/** A module in the shape that the module writer of `@ledger-state/move-module` takes. */
function module(name: string, structs: Record<string, Record<string, FieldType>>, typeParameters = 0) {
  return {
    version: 6,
    address: FRAMEWORK,
    name,
    structs: Object.entries(structs).map(([structName, fields]) => ({
      kind: 'struct' as const,
      name: structName,
      abilities: ALL_ABILITIES,
      typeParameters: Array.from({ length: typeParameters }, () => ({ constraints: 0, phantom: false })),
      fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
    })),
  }
}

const handle = struct('event', 'EventHandle')
const text = struct('string', 'String')
const optional = (type: FieldType) => struct('option', 'Option', type)

/** Modules that a ledger must have at 0x1 for the types of `randomTypeTree` to resolve. */
export const HOSTILE_MODULES = [
  module('string', { String: { bytes: vector(u8) } }),
  module('guid', { ID: { creation_num: u64, addr: address }, GUID: { id: struct('guid', 'ID') } }),
  module('event', { EventHandle: { counter: u64, guid: struct('guid', 'GUID') } }),
  module('option', { Option: { vec: vector(parameter(0)) } }, 1),
  module(
    'simple_map',
    {
      Element: { key: parameter(0), value: parameter(1) },
      SimpleMap: { data: vector(struct('simple_map', 'Element', parameter(0), parameter(1))) },
    },
    2,
  ),
  module('account', {
    CapabilityOffer: { for: optional(address) },
    Account: {
      authentication_key: vector(u8),
      sequence_number: u64,
      guid_creation_num: u64,
      coin_register_events: handle,
      key_rotation_events: handle,
      rotation_capability_offer: struct('account', 'CapabilityOffer'),
      signer_capability_offer: struct('account', 'CapabilityOffer'),
    },
  }),
  module('stake', {
    ValidatorConfig: { consensus_pubkey: vector(u8), network_addresses: vector(u8), validator_index: u64 },
    ValidatorInfo: { addr: address, voting_power: u64, config: struct('stake', 'ValidatorConfig') },
    ValidatorSet: {
      consensus_scheme: u8,
      active_validators: vector(struct('stake', 'ValidatorInfo')),
      pending_inactive: vector(struct('stake', 'ValidatorInfo')),
      pending_active: vector(struct('stake', 'ValidatorInfo')),
      total_voting_power: u128,
      total_joining_power: u128,
    },
  }),
  module('token', {
    TokenDataId: { creator: address, collection: text, name: text },
    TokenId: { token_data_id: struct('token', 'TokenDataId'), property_version: u64 },
    CollectionData: {
      description: text,
      name: text,
      uri: text,
      supply: u64,
      maximum: u64,
      is_description_mutable: bool,
      is_uri_mutable: bool,
    },
  }),
]

const LEAVES = [
  '0x1::account::Account',
  '0x1::stake::ValidatorSet',
  '0x1::stake::ValidatorInfo',
  '0x1::token::TokenId',
  '0x1::token::CollectionData',
  '0x1::string::String',
]

/** A balanced tree of `0x1::simple_map::SimpleMap` with `2 ** depth` leaves; of depth 7, about 7 KB of text. */
export function randomTypeTree(random: Random, depth: number): string {
  if (depth === 0) return random.pick(LEAVES)
  return `0x1::simple_map::SimpleMap<${randomTypeTree(random, depth - 1)},${randomTypeTree(random, depth - 1)}>`
}
