import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { findGroupMembers, parseStructTag, structTagToBytes } from '@ledger-state/type-tag'

// Stored forms of objects, fungible stores, tokens and coin stores. A value that does not decode completely counts as
// absent.

const EVENT_HANDLE_LENGTH = 8 + 8 + ADDRESS_LENGTH
/** ObjectCore: u64 number of GUIDs, 32 bytes owner, bool allow_ungated_transfer, event handle. */
export const OWNER_AT = 8
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

/** The members that matter, in the order in which `findObjectPlaces` finds them. */
const MEMBERS = [
  '0x1::object::ObjectCore',
  '0x1::fungible_asset::FungibleStore',
  '0x1::fungible_asset::ConcurrentFungibleBalance',
  '0x4::token::Token',
].map(tagBytes)

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

/** Where the contents of the members of an object begin in its resource group; -1 of members that are absent. */
export interface ObjectPlaces {
  readonly core: number
  readonly store: number
  readonly concurrent: number
  readonly token: number
}

/** Reads an object from its resource group; undefined if the group does not decode or has no `ObjectCore`. */
export function readHeldObject(group: Uint8Array): HeldObject | undefined {
  const places = findObjectPlaces(group)
  if (!places || !isObjectAt(group, places)) return undefined
  const { core, store, concurrent, token } = places
  return {
    owner: copyBytes(group, core + OWNER_AT, core + UNGATED_AT),
    allowsUngatedTransfer: group[core + UNGATED_AT] === 1,
    store: isStoreAt(group, places) ? readStore(group, store, concurrent) : undefined,
    collection: token >= 0 ? copyBytes(group, token, token + ADDRESS_LENGTH) : undefined,
  }
}

/**
 * Finds the members of an object by their types and lengths. Undefined if the group does not decode, or has no
 * `ObjectCore`.
 */
export function findObjectPlaces(group: Uint8Array): ObjectPlaces | undefined {
  const [core, store, concurrent, token] = findMembers(group) ?? []
  if (core?.length !== CORE_LENGTH) return undefined
  const start = group.byteOffset
  return {
    core: core.byteOffset - start,
    store: store?.length === STORE_LENGTH ? store.byteOffset - start : -1,
    concurrent: concurrent?.length === CONCURRENT_LENGTH ? concurrent.byteOffset - start : -1,
    token: token && token.length >= ADDRESS_LENGTH ? token.byteOffset - start : -1,
  }
}

/** Whether a group with these members is an object: its `ObjectCore` decodes. */
export function isObjectAt(group: Uint8Array, { core }: ObjectPlaces): boolean {
  return group[core + UNGATED_AT]! <= 1
}

/** Whether an object has a fungible store that decodes. */
export function isStoreAt(group: Uint8Array, { store }: ObjectPlaces): boolean {
  return store >= 0 && group[store + STORE_FROZEN_AT]! <= 1
}

/** Reads a coin store; undefined if it does not decode. */
export function readCoinStore(bytes: Uint8Array): CoinStore | undefined {
  if (!isCoinStore(bytes)) return undefined
  return { amount: u64At(bytes, 0), isFrozen: bytes[COIN_FROZEN_AT] === 1 }
}

/** Whether bytes decode as a coin store. */
export function isCoinStore(bytes: Uint8Array): boolean {
  return bytes.length === COIN_STORE_LENGTH && bytes[COIN_FROZEN_AT]! <= 1
}

function readStore(group: Uint8Array, at: number, concurrent: number): FungibleStore {
  const balance = u64At(group, at + BALANCE_AT)
  return {
    asset: copyBytes(group, at, at + ADDRESS_LENGTH),
    amount: balance === 0n && concurrent >= 0 ? u64At(group, concurrent) : balance,
    isFrozen: group[at + STORE_FROZEN_AT] === 1,
  }
}

function findMembers(group: Uint8Array): readonly (Uint8Array | undefined)[] | undefined {
  try {
    return findGroupMembers(group, MEMBERS)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function u64At(bytes: Uint8Array, at: number): bigint {
  return new ByteReader(bytes, at).readU64()
}

function tagBytes(text: string): Uint8Array {
  return structTagToBytes(parseStructTag(text))
}
