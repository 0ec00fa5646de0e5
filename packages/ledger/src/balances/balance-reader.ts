import type { StateView } from '@ledger-state/core'
import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError, U64_MAX } from '@ledger-state/core'
import {
  parseStructTag,
  readStructTag,
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  writeStructTag,
} from '@ledger-state/type-tag'
import { balanceOverflow, storedResourceInvalid } from '../errors.js'
import { type GroupMember, readGroupMembers } from '../groups/resource-group.js'
import type { Asset } from './asset.js'
import { type NumberedAsset, PrimaryStoreAddresses, pairedMetadataAddress } from './derived-address.js'

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore'
const CONCURRENT_BALANCE = '0x1::fungible_asset::ConcurrentFungibleBalance'

const COIN_STORE = parseStructTag('0x1::coin::CoinStore')
const EVENT_HANDLE_BYTES = 8 + 8 + ADDRESS_LENGTH

/** What of the state keys depends on the asset alone. */
interface AssetKeys extends NumberedAsset {
  /** Of the coin store; its account is filled in for each read. A fungible asset has none. */
  readonly coinStore: Uint8Array | undefined
}

/** Reads balances. Remembers what it derived: the keys of assets, and addresses of primary stores. */
export class BalanceReader {
  readonly #assetKeys = new WeakMap<Asset, AssetKeys>()
  readonly #storeAddresses = new PrimaryStoreAddresses()
  /** State key of a primary store; its account is filled in for each read. */
  readonly #storeKey = resourceGroupKey(new Uint8Array(ADDRESS_LENGTH), OBJECT_GROUP)
  #assetCount = 0

  /**
   * What an account holds of an asset: the coin store, where a coin is asked for, and the primary store of the fungible
   * asset. What is missing counts 0; accounts, assets and modules need not exist.
   * @throws `invalid_bcs` where a stored resource does not decode; `balance_overflow` above 2^64 - 1; `version_pruned`
   */
  read(view: StateView, owner: Uint8Array, asset: Asset): bigint {
    const keys = this.#keysOf(asset)
    const { coinStore } = keys
    const storeKey = this.#storeKey
    this.#storeAddresses.write(owner, keys, storeKey, STATE_KEY_ADDRESS_AT)
    const fungible = readPrimaryStore(view, storeKey)
    if (coinStore === undefined) return fungible
    coinStore.set(owner, STATE_KEY_ADDRESS_AT)
    const sum = readCoinStore(view, owner, coinStore) + fungible
    if (sum <= U64_MAX) return sum
    throw balanceOverflow(owner, sum)
  }

  #keysOf(asset: Asset): AssetKeys {
    const known = this.#assetKeys.get(asset)
    if (known) return known
    const number = ++this.#assetCount
    const keys: AssetKeys =
      asset.kind === 'coin'
        ? {
            coinStore: resourceKey(new Uint8Array(ADDRESS_LENGTH), { ...COIN_STORE, typeArguments: [asset.coin] }),
            metadata: pairedMetadataAddress(asset.coin),
            number,
          }
        : { coinStore: undefined, metadata: asset.metadata, number }
    this.#assetKeys.set(asset, keys)
    return keys
  }
}

/** `CoinStore`: coin u64, frozen bool, two event handles. */
const COIN_STORE_LENGTH = 8 + 1 + 2 * EVENT_HANDLE_BYTES

function readCoinStore(view: StateView, owner: Uint8Array, stateKey: Uint8Array): bigint {
  const bytes = view.peek(stateKey)
  if (!bytes) return 0n
  if (bytes.length === COIN_STORE_LENGTH && bytes[8]! <= 1) {
    return leadingU64(bytes)
  }
  // It does not decode: find out where.
  return readStored('CoinStore', owner, bytes, (reader) => {
    const value = reader.readU64()
    reader.readBool()
    reader.skip(2 * EVENT_HANDLE_BYTES)
    return value
  })
}

/** Without a view of the bytes, whose making costs more than the reading. */
function leadingU64(bytes: Uint8Array): bigint {
  const low = (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)) >>> 0
  const high = (bytes[4]! | (bytes[5]! << 8) | (bytes[6]! << 16) | (bytes[7]! << 24)) >>> 0
  return high < 0x20_0000 ? BigInt(high * 0x1_0000_0000 + low) : (BigInt(high) << 32n) | BigInt(low)
}

function readPrimaryStore(view: StateView, stateKey: Uint8Array): bigint {
  const group = view.peek(stateKey)
  const members = group && readKnownMembers(group)
  const store = members?.find(({ name }) => name === FUNGIBLE_STORE)
  if (!store) return 0n
  const address = stateKey.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH)
  // metadata address, balance u64, frozen bool
  const balance = readStored('FungibleStore', address, store.bytes, (reader) => {
    reader.skip(ADDRESS_LENGTH)
    const value = reader.readU64()
    reader.readBool()
    return value
  })
  const concurrent = members?.find(({ name }) => name === CONCURRENT_BALANCE)
  if (balance !== 0n || !concurrent) return balance
  // value u64, max_value u64
  return readStored('ConcurrentFungibleBalance', address, concurrent.bytes, (reader) => {
    const value = reader.readU64()
    reader.readU64()
    return value
  })
}

/** Most members of objects with a store: told by their bytes, at a tenth of what it costs to parse and print a tag. */
const KNOWN_MEMBERS = [FUNGIBLE_STORE, CONCURRENT_BALANCE, '0x1::object::ObjectCore'].map((name) => {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(name))
  return { name, bytes: writer.toBytes() }
})

/** Undefined where it is none of the known. */
function readMemberName(reader: ByteReader, group: Uint8Array): string | undefined {
  const known = KNOWN_MEMBERS.find(({ bytes }) => startsWith(group, reader.offset, bytes))
  if (known) reader.skip(known.bytes.length)
  else readStructTag(reader)
  return known?.name
}

function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  // Backwards: the tags share their beginning.
  for (let place = expected.length - 1; place >= 0; place--) if (bytes[at + place] !== expected[place]) return false
  return true
}

/** Undefined where the group does not decode: such a group counts as absent. */
function readKnownMembers(group: Uint8Array): readonly GroupMember<string | undefined>[] | undefined {
  try {
    return readGroupMembers(group, (reader) => readMemberName(reader, group))
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
