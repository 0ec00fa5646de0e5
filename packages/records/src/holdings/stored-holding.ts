import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { findGroupMembers, parseStructTag, writeStructTag } from '@ledger-state/type-tag'
import type { IndexedObject } from './index-changes.js'

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

/** The members that matter, in the order in which `readParts` finds them. */
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

/**
 * A resource group, with the members that the index of holdings needs. The object has views of the bytes of the group.
 */
export interface IndexedGroup {
  readonly bytes: Uint8Array
  /** Undefined if the group is no object. */
  readonly object: IndexedObject | undefined
  /** Start and end of ranges of the bytes that may have any content, in ascending order: counters and balances. */
  readonly free: readonly number[]
}

/** Reads an object from its resource group; undefined if the group does not decode or has no `ObjectCore`. */
export function readHeldObject(group: Uint8Array): HeldObject | undefined {
  const parts = readParts(group)
  if (!parts) return undefined
  const { core, store, concurrent, token } = parts
  return {
    owner: copyBytes(core, OWNER_AT, UNGATED_AT),
    allowsUngatedTransfer: core[UNGATED_AT] === 1,
    store: store && readStore(store, concurrent),
    collection: token && copyBytes(token, 0, ADDRESS_LENGTH),
  }
}

/** Reads the fields of a resource group that the index of holdings needs, without its balance and without a copy. */
export function readIndexedGroup(bytes: Uint8Array): IndexedGroup {
  const parts = readParts(bytes)
  if (!parts) return { bytes, object: undefined, free: [] }
  const { core, store, concurrent, token } = parts
  const at = ({ byteOffset }: Uint8Array): number => byteOffset - bytes.byteOffset
  const ranges: (readonly [number, number])[] = [[at(core), at(core) + OWNER_AT]]
  if (store) ranges.push([at(store) + BALANCE_AT, at(store) + STORE_FROZEN_AT])
  if (concurrent) ranges.push([at(concurrent), at(concurrent) + concurrent.length])
  return {
    bytes,
    object: {
      owner: core.subarray(OWNER_AT, UNGATED_AT),
      store: store && { asset: store.subarray(0, ADDRESS_LENGTH) },
      collection: token?.subarray(0, ADDRESS_LENGTH),
    },
    free: ranges.sort(([a], [b]) => a - b).flat(),
  }
}

/**
 * Whether another group differs from this one at most in counters and balances. Then the index has the same of both.
 * This takes 0.3 to 0.4 µs, and reading a group 0.9 µs or more.
 */
export function isIndexedAlike({ bytes, free }: IndexedGroup, other: Uint8Array): boolean {
  if (bytes.length !== other.length) return false
  let at = 0
  for (let range = 0; range <= free.length; range += 2) {
    const end = free[range] ?? bytes.length
    for (; at < end; at++) if (bytes[at] !== other[at]) return false
    at = free[range + 1] ?? at
  }
  return true
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

function readStore(store: Uint8Array, concurrent: Uint8Array | undefined): FungibleStore {
  const balance = u64At(store, BALANCE_AT)
  return {
    asset: copyBytes(store, 0, ADDRESS_LENGTH),
    amount: balance === 0n && concurrent ? u64At(concurrent, 0) : balance,
    isFrozen: store[STORE_FROZEN_AT] === 1,
  }
}

/** Members of an object, views of the bytes of its group. Those that do not decode are absent. */
interface ObjectParts {
  readonly core: Uint8Array
  readonly store: Uint8Array | undefined
  readonly concurrent: Uint8Array | undefined
  readonly token: Uint8Array | undefined
}

function readParts(group: Uint8Array): ObjectParts | undefined {
  const [core, store, concurrent, token] = findMembers(group) ?? []
  if (core?.length !== CORE_LENGTH || core[UNGATED_AT]! > 1) return undefined
  return {
    core,
    store: store?.length === STORE_LENGTH && store[STORE_FROZEN_AT]! <= 1 ? store : undefined,
    concurrent: concurrent?.length === CONCURRENT_LENGTH ? concurrent : undefined,
    token: token && token.length >= ADDRESS_LENGTH ? token : undefined,
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
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(text))
  return writer.toBytes()
}
