import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { storedResourceInvalid } from './errors.js'
import { parseStructTag } from './parse-type-tag.js'
import { type GroupMember, readGroupMembers, skipTag } from './resource-group.js'
import { STATE_KEY_ADDRESS_AT } from './state-key.js'
import { readStructTag, writeStructTag } from './type-tag-bcs.js'

const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore'
const CONCURRENT_BALANCE = '0x1::fungible_asset::ConcurrentFungibleBalance'

const EVENT_HANDLE_BYTES = 8 + 8 + ADDRESS_LENGTH
/** Bytes of a `CoinStore`: coin u64, frozen bool, two event handles. */
const COIN_STORE_LENGTH = 8 + 1 + 2 * EVENT_HANDLE_BYTES

/**
 * The balance in a stored `0x1::coin::CoinStore` of an owner.
 * @throws `invalid_bcs`
 */
export function coinStoreValue(owner: Uint8Array, bytes: Uint8Array): bigint {
  if (bytes.length === COIN_STORE_LENGTH && bytes[8]! <= 1) {
    return leadingU64(bytes)
  }
  // The bytes do not decode: find out where.
  return readStored('CoinStore', owner, bytes, (reader) => {
    const value = reader.readU64()
    reader.readBool()
    reader.skip(2 * EVENT_HANDLE_BYTES)
    return value
  })
}

/** Reads without creating a `DataView`, which would take longer than reading. */
function leadingU64(bytes: Uint8Array): bigint {
  const low = (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)) >>> 0
  const high = (bytes[4]! | (bytes[5]! << 8) | (bytes[6]! << 16) | (bytes[7]! << 24)) >>> 0
  return high < 0x20_0000 ? BigInt(high * 0x1_0000_0000 + low) : (BigInt(high) << 32n) | BigInt(low)
}

/**
 * The balance in a primary store: 0 if its resource group holds no fungible store.
 * @param stateKey the key of the group, which names the store
 * @throws `invalid_bcs`
 */
export function primaryStoreBalance(stateKey: Uint8Array, group: Uint8Array): bigint {
  const members = readKnownMembers(group)
  const store = members?.find(({ name }) => name === FUNGIBLE_STORE)
  if (!members || !store) return 0n
  const address = stateKey.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH)
  // Layout: metadata address, balance u64, frozen bool
  const balance = readStored('FungibleStore', address, store.bytes, (reader) => {
    reader.skip(ADDRESS_LENGTH)
    const value = reader.readU64()
    reader.readBool()
    return value
  })
  const concurrent = members.find(({ name }) => name === CONCURRENT_BALANCE)
  if (balance !== 0n || !concurrent) return balance
  // Layout: value u64, max_value u64
  return readStored('ConcurrentFungibleBalance', address, concurrent.bytes, (reader) => {
    const value = reader.readU64()
    reader.readU64()
    return value
  })
}

/** Members that most objects with a store have. */
const KNOWN_MEMBERS = [FUNGIBLE_STORE, CONCURRENT_BALANCE, '0x1::object::ObjectCore'].map((name) => {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(name))
  return { name, bytes: writer.toBytes() }
})

/** Reads the type of a member; undefined if it is not one of the known members. */
function readMemberName(reader: ByteReader): string | undefined {
  const known = KNOWN_MEMBERS.find(({ bytes }) => skipTag(reader, bytes))
  if (!known) readStructTag(reader)
  return known?.name
}

/** Reads the members of a group. Undefined if the group does not decode, in which case it counts as absent. */
function readKnownMembers(group: Uint8Array): readonly GroupMember<string | undefined>[] | undefined {
  try {
    return readGroupMembers(group, readMemberName)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function readStored<T>(name: string, address: Uint8Array, bytes: Uint8Array, read: (reader: ByteReader) => T): T {
  const reader = new ByteReader(bytes)
  try {
    const value = read(reader)
    reader.expectEnd()
    return value
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedResourceInvalid(name, address, error)
  }
}
