import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import {
  type GroupMember,
  parseStructTag,
  readGroupMembers,
  readStructTag,
  skipTag,
  writeStructTag,
} from '@ledger-state/type-tag'

// Stored forms of objects, fungible stores, tokens and coin stores. A value that does not decode completely counts as
// absent.

const EVENT_HANDLE_LENGTH = 8 + 8 + ADDRESS_LENGTH
/** ObjectCore: u64 number of GUIDs, 32 bytes owner, bool allow_ungated_transfer, event handle. */
const OWNER_AT = 8
const UNGATED_AT = OWNER_AT + ADDRESS_LENGTH
const CORE_LENGTH = UNGATED_AT + 1 + EVENT_HANDLE_LENGTH
/** FungibleStore: 32 bytes metadata, u64 balance, bool frozen. */
const BALANCE_AT = ADDRESS_LENGTH
const STORE_FROZEN_AT = BALANCE_AT + 8
const STORE_LENGTH = STORE_FROZEN_AT + 1
/** ConcurrentFungibleBalance: u64 value, u64 most. */
const CONCURRENT_LENGTH = 16
/** CoinStore: u64 value, bool frozen, two event handles. */
const COIN_FROZEN_AT = 8
const COIN_STORE_LENGTH = COIN_FROZEN_AT + 1 + 2 * EVENT_HANDLE_LENGTH

const CORE = tagBytes('0x1::object::ObjectCore')
const STORE = tagBytes('0x1::fungible_asset::FungibleStore')
const CONCURRENT = tagBytes('0x1::fungible_asset::ConcurrentFungibleBalance')
const TOKEN = tagBytes('0x4::token::Token')
const KNOWN = [CORE, STORE, CONCURRENT, TOKEN]

/** The fungible store of an object. */
export interface FungibleStore {
  /** Address of the metadata of the asset. */
  readonly asset: Uint8Array
  readonly amount: bigint
  readonly isFrozen: boolean
}

/** An object, and its roles as a store, token or collection. All bytes are copies. */
export interface HeldObject {
  readonly owner: Uint8Array
  readonly allowsUngatedTransfer: boolean
  /** The fungible store, if the object is one. */
  readonly store: FungibleStore | undefined
  /** Address of the collection, if the object is a token. */
  readonly collection: Uint8Array | undefined
}

/** The coin store of an account. */
export interface CoinStore {
  readonly amount: bigint
  readonly isFrozen: boolean
}

/** Reads an object from its resource group; undefined if the group does not decode or has no `ObjectCore`. */
export function readHeldObject(group: Uint8Array): HeldObject | undefined {
  const members = readMembers(group)
  const core = members && memberOf(members, CORE)
  if (!members || core?.length !== CORE_LENGTH || core[UNGATED_AT]! > 1) return undefined
  const token = memberOf(members, TOKEN)
  return {
    owner: copyBytes(core, OWNER_AT, UNGATED_AT),
    allowsUngatedTransfer: core[UNGATED_AT] === 1,
    store: readStore(memberOf(members, STORE), memberOf(members, CONCURRENT)),
    collection: token && token.length >= ADDRESS_LENGTH ? copyBytes(token, 0, ADDRESS_LENGTH) : undefined,
  }
}

/** Reads a coin store; undefined if it does not decode. */
export function readCoinStore(bytes: Uint8Array): CoinStore | undefined {
  if (bytes.length !== COIN_STORE_LENGTH || bytes[COIN_FROZEN_AT]! > 1) return undefined
  return { amount: u64At(bytes, 0), isFrozen: bytes[COIN_FROZEN_AT] === 1 }
}

function readStore(store: Uint8Array | undefined, concurrent: Uint8Array | undefined): FungibleStore | undefined {
  if (store?.length !== STORE_LENGTH || store[STORE_FROZEN_AT]! > 1) return undefined
  const balance = u64At(store, BALANCE_AT)
  const isConcurrent = balance === 0n && concurrent?.length === CONCURRENT_LENGTH
  return {
    asset: copyBytes(store, 0, ADDRESS_LENGTH),
    amount: isConcurrent ? u64At(concurrent, 0) : balance,
    isFrozen: store[STORE_FROZEN_AT] === 1,
  }
}

type Members = readonly GroupMember<Uint8Array | undefined>[]

function readMembers(group: Uint8Array): Members | undefined {
  try {
    return readGroupMembers(group, readKnownTag)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function readKnownTag(reader: ByteReader): Uint8Array | undefined {
  const known = KNOWN.find((tag) => skipTag(reader, tag))
  // Names are checked, too: a group with a name that is not UTF-8 does not decode.
  if (!known) readStructTag(reader)
  return known
}

function memberOf(members: Members, tag: Uint8Array): Uint8Array | undefined {
  return members.find(({ name }) => name === tag)?.bytes
}

function u64At(bytes: Uint8Array, at: number): bigint {
  return new ByteReader(bytes, at).readU64()
}

function tagBytes(text: string): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(text))
  return writer.toBytes()
}
