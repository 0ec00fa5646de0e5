// Keys and values as the framework of Aptos lays them out. They have the layouts and lengths that its modules declare;
// the test of this module checks that. A write changes the bytes that such a write changes on chain.
import { ADDRESS_LENGTH, ByteWriter, parseAddress } from '@ledger-state/core'
import {
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  writeStructTag,
} from '@ledger-state/type-tag'
import {
  addressOf,
  amount,
  burntSupply,
  clock,
  counter,
  createRecordShape,
  digitsOf,
  type Field,
  fixed,
  lengthOf,
  oneOfAddresses,
  type RecordShape,
  rareAmount,
  u64,
} from './record-shape.ts'

/** Records of one type, each under its own key. */
export interface KeyedShape {
  readonly key: RecordShape
  readonly value: RecordShape
}

/** Validators of an epoch. With 131, as on mainnet, the record of their performance takes 2,098 bytes. */
const VALIDATORS = 131
/** Number of tables: a multiple of the number of types of items, so that all items of a table have one type. */
const TABLES = 500
/** Number of assets that have stores. */
const ASSETS = 1_000
const EPOCH_USEC = 7_200_000_000n
const START_USEC = 1_750_000_000_000_000
const BLOCK_USEC = 200_000

/** Salts of addresses. */
const ACCOUNT = 1
const STORE = 2
const ASSET = 3
const HANDLE = 4
const OWNER = 5
const PURSE = 6
const SUPPLY = 7

const bool = fixed(Uint8Array.of(0))
const zero = u64(0n)
const frameworkAddress = fixed(parseAddress('0x1'))

/** Time of a block in microseconds since 1970. As on a real chain, blocks do not come at equal distances. */
export function blockTimeUsec(height: number): number {
  return START_USEC + height * BLOCK_USEC + (Math.imul(height, 7_919) & 0x7fff)
}

/** `0x1::event::EventHandle`: a counter, and the GUID of the stream. */
function eventHandle(count: Field, number: bigint, address: Field): Field[] {
  return [count, u64(number), address]
}

function resource(type: string, address: Field, value: readonly Field[]): KeyedShape {
  return keyedShape(resourceKey(new Uint8Array(ADDRESS_LENGTH), parseStructTag(type)), address, value)
}

/** A resource group: its members, each after the bytes of its type, in the order of these bytes. */
function objectGroup(address: Field, members: Readonly<Record<string, readonly Field[]>>): KeyedShape {
  const entries = Object.entries(members).map(([type, fields]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(type))
    return { tag: writer.toBytes(), fields }
  })
  entries.sort((one, other) => Buffer.compare(one.tag, other.tag))
  const value = entries.flatMap(({ tag, fields }) => [
    fixed(tag),
    fixed(new ByteWriter().uleb128(lengthOf(fields)).toBytes()),
    ...fields,
  ])
  const key = resourceGroupKey(new Uint8Array(ADDRESS_LENGTH), parseStructTag('0x1::object::ObjectGroup'))
  return keyedShape(key, address, [fixed(new ByteWriter().uleb128(entries.length).toBytes()), ...value])
}

function tableItem(handle: Field, itemKey: Field, value: readonly Field[]): KeyedShape {
  return {
    key: createRecordShape([fixed(Uint8Array.of(1)), handle, itemKey]),
    value: createRecordShape(value),
  }
}

function keyedShape(key: Uint8Array, address: Field, value: readonly Field[]): KeyedShape {
  const from = STATE_KEY_ADDRESS_AT
  return {
    key: createRecordShape([fixed(key.subarray(0, from)), address, fixed(key.subarray(from + ADDRESS_LENGTH))]),
    value: createRecordShape(value),
  }
}

// Records that each block or transaction writes.

export const blockResource = resource('0x1::block::BlockResource', frameworkAddress, [
  counter(1, 1),
  u64(EPOCH_USEC),
  ...eventHandle(counter(1, 1), 3n, frameworkAddress),
  ...eventHandle(zero, 4n, frameworkAddress),
])

export const currentTime = resource('0x1::timestamp::CurrentTimeMicroseconds', frameworkAddress, [clock(blockTimeUsec)])

/** Record of the proposals of each validator: each block counts one. */
export const validatorPerformance = resource('0x1::stake::ValidatorPerformance', frameworkAddress, [
  fixed(new ByteWriter().uleb128(VALIDATORS).toBytes()),
  ...Array.from({ length: VALIDATORS }, (_, at) => [counter(VALIDATORS, at), zero]).flat(),
])

/** The supply of the coin that pays for gas, an aggregator in a table. Each transaction burns some. */
export const coinSupply = tableItem(addressOf(SUPPLY), addressOf(OWNER), [burntSupply])

// Records of users.

const accountAddress = addressOf(ACCOUNT)

/** Account with a sequence number that each of its transactions increments. */
export const account = resource('0x1::account::Account', accountAddress, [
  fixed(Uint8Array.of(ADDRESS_LENGTH)),
  accountAddress,
  counter(1, 1),
  u64(4n),
  ...eventHandle(zero, 0n, accountAddress),
  ...eventHandle(zero, 1n, accountAddress),
  fixed(Uint8Array.of(0)),
  fixed(Uint8Array.of(0)),
])

/** Coin store. Deposits and withdrawals alternate: the balance and one of the two counters change. */
export const coinStore = resource('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>', accountAddress, [
  amount(8),
  bool,
  ...eventHandle(counter(2, 0), 2n, accountAddress),
  ...eventHandle(counter(2, 1), 3n, accountAddress),
])

function objectCore(owner: Field, self: Field): Field[] {
  return [u64(2n ** 50n + 1n), owner, fixed(Uint8Array.of(1)), ...eventHandle(zero, 2n ** 50n, self)]
}

/** A store of a fungible asset. A write changes the lowest bytes of the member with the balance. */
function fungibleStore(salt: number, metadata: Field, isConcurrent: boolean): KeyedShape {
  const self = addressOf(salt)
  return objectGroup(self, {
    '0x1::object::ObjectCore': objectCore(addressOf(OWNER), self),
    '0x1::fungible_asset::FungibleStore': [metadata, isConcurrent ? zero : amount(8), bool],
    ...(isConcurrent && { '0x1::fungible_asset::ConcurrentFungibleBalance': [amount(8), u64(2n ** 64n - 1n)] }),
  })
}

/** The store of the coin that pays for gas, of an account without a coin store. */
export const gasStore = fungibleStore(PURSE, fixed(parseAddress('0xa')), false)

/** Stores; every third has a balance that concurrent transactions may change. */
export const stores = [false, false, true].map((isConcurrent) =>
  fungibleStore(STORE, oneOfAddresses(ASSET, ASSETS), isConcurrent),
)

/** A fungible asset. Its supply changes as it is minted and burnt. */
export const asset = objectGroup(addressOf(ASSET), {
  '0x1::object::ObjectCore': objectCore(addressOf(OWNER), addressOf(ASSET)),
  '0x1::fungible_asset::Metadata': [
    ...text('Token ', 16),
    ...text('T', 4),
    fixed(Uint8Array.of(8)),
    ...text('https://assets.example/icons/', 64),
    ...text('https://token.example/', 20),
  ],
  '0x1::fungible_asset::ConcurrentSupply': [amount(16), fixed(new Uint8Array(16).fill(0xff))],
  '0x1::object::Untransferable': [bool],
  '0x1::primary_fungible_store::DeriveRefPod': [addressOf(ASSET)],
})

function text(start: string, digits: number): Field[] {
  const length = new ByteWriter().uleb128(start.length + digits).toBytes()
  return [fixed(length), fixed(Buffer.from(start)), digitsOf(start.length, digits)]
}

/**
 * Items of tables of applications. Their types are not declared here. Their lengths, 16 to 313 bytes, are within the
 * range of items on mainnet (16 to 320). Each write changes one or two amounts, and in longer items also a time or a
 * counter.
 */
export const items = [
  [amount(16)],
  [addressOf(OWNER), amount(8), counter()],
  [addressOf(OWNER), addressOf(ASSET), amount(8), rareAmount(8, 4, 0, 1), counter(), clock(blockTimeUsec)],
  [addressOf(OWNER), ...Array.from({ length: 16 }, (_, at) => rareAmount(8, 8, at % 8, at))],
  [
    fixed(Uint8Array.of(13)),
    ...Array.from({ length: 13 }, (_, at) => [digitsOf(at, 8), rareAmount(16, 13, at, at)]).flat(),
  ],
].map((value) => tableItem(oneOfAddresses(HANDLE, TABLES), addressOf(OWNER), value))
