import { createHash } from 'node:crypto'
import { ByteReader, ByteWriter, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import {
  parseStructTag,
  readStructTag,
  resourceGroupKey,
  resourceKey,
  type StructTag,
  tableItemKey,
  typeTagToText,
} from '@ledger-state/type-tag'

// Views of the framework written by hand for one version of it. They read the same keys of the same state as the Move
// code, and decode only the necessary parts: the minimum cost of an answer.

/** The state that all contenders read. */
export interface ReadableState {
  read(key: Uint8Array): Uint8Array | undefined
}

const FRAMEWORK = parseAddress('0x1')
const COIN = parseStructTag('0x1::aptos_coin::AptosCoin')
const COIN_STORE = parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
const COIN_INFO = parseStructTag('0x1::coin::CoinInfo<0x1::aptos_coin::AptosCoin>')
const CONVERSION_MAP = parseStructTag('0x1::coin::CoinConversionMap')
const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const STORE = '0x1::fungible_asset::FungibleStore'
const CONCURRENT_BALANCE = '0x1::fungible_asset::ConcurrentFungibleBalance'
const SUPPLY = '0x1::fungible_asset::Supply'
const CONCURRENT_SUPPLY = '0x1::fungible_asset::ConcurrentSupply'
const DERIVED_OBJECT = Uint8Array.of(0xfc)
const DELEGATION_POOL = parseStructTag('0x1::delegation_pool::DelegationPool')
const STAKE_POOL = parseStructTag('0x1::stake::StakePool')
const BENEFICIARY = parseStructTag('0x1::delegation_pool::BeneficiaryForOperator')
/** Holder of the shares that represent fees of inactive stake. */
const NO_SHAREHOLDER = new Uint8Array(32)
const MAX_FEE = 10_000n

/** The key of the conversion map: `TypeInfo` of the coin. */
const COIN_TYPE_INFO = typeInfoOf(COIN)

function typeInfoOf({ address, module, name }: StructTag): Uint8Array {
  return new ByteWriter().bytes(address).string(module).string(name).toBytes()
}

function pairedMetadata(state: ReadableState): Uint8Array | undefined {
  const map = state.read(resourceKey(FRAMEWORK, CONVERSION_MAP))
  return map && state.read(tableItemKey(map.subarray(0, 32), COIN_TYPE_INFO))
}

function readGroup(state: ReadableState, address: Uint8Array): Map<string, Uint8Array> | undefined {
  const bytes = state.read(resourceGroupKey(address, OBJECT_GROUP))
  if (!bytes) return undefined
  const reader = new ByteReader(bytes)
  const members = new Map<string, Uint8Array>()
  for (let left = reader.readLength(); left > 0; left--) {
    members.set(typeTagToText(readStructTag(reader)), reader.readByteString())
  }
  return members
}

export function primaryBalance(state: ReadableState, owner: Uint8Array, metadata: Uint8Array): bigint {
  const store = createHash('sha3-256').update(owner).update(metadata).update(DERIVED_OBJECT).digest()
  const group = readGroup(state, store)
  const own = group?.get(STORE)
  if (!own) return 0n
  const balance = new ByteReader(own, 32).readU64()
  const concurrent = balance === 0n ? group?.get(CONCURRENT_BALANCE) : undefined
  return concurrent ? new ByteReader(concurrent).readU64() : balance
}

export function coinBalance(state: ReadableState, owner: Uint8Array): bigint {
  const metadata = pairedMetadata(state)
  const store = state.read(resourceKey(owner, COIN_STORE))
  const balance = store ? new ByteReader(store).readU64() : 0n
  return metadata ? balance + primaryBalance(state, owner, metadata) : balance
}

/** The supply of the coin and of its paired asset; undefined if neither is counted. */
export function readCoinSupply(state: ReadableState): bigint | undefined {
  const info = new ByteReader(state.read(resourceKey(FRAMEWORK, COIN_INFO))!)
  info.readByteString()
  info.readByteString()
  info.readU8()
  const coins = info.readBool() ? readOptionalAggregator(state, info) : undefined
  const metadata = pairedMetadata(state)
  const group = metadata && readGroup(state, metadata)
  const counted = group?.get(CONCURRENT_SUPPLY) ?? group?.get(SUPPLY)
  if (coins === undefined) return undefined
  return counted ? coins + new ByteReader(counted).readWideInteger(16) : coins
}

/** Reads an optional aggregator: its value is an item of a table, or an integer. */
function readOptionalAggregator(state: ReadableState, reader: ByteReader): bigint {
  if (reader.readBool()) {
    const handle = reader.readBytes(32)
    return new ByteReader(state.read(tableItemKey(handle, reader.readBytes(32)))!).readWideInteger(16)
  }
  reader.readBool()
  return reader.readWideInteger(16)
}

/** Pool that maps amounts of coins to shares. */
interface SharePool {
  readonly coins: bigint
  readonly shares: bigint
  /** Handle of the table of shares by their holders. */
  readonly holders: Uint8Array
}

function readSharePool(reader: ByteReader): SharePool {
  const coins = reader.readU64()
  const shares = reader.readWideInteger(16)
  const holders = reader.readBytes(32)
  // Skips the length of the table, and the scaling factor, which only buying shares needs.
  reader.readU64()
  reader.readU64()
  return { coins, shares, holders }
}

function sharesOf(state: ReadableState, { holders }: SharePool, holder: Uint8Array): bigint {
  const bytes = state.read(tableItemKey(holders, holder))
  return bytes ? new ByteReader(bytes).readWideInteger(16) : 0n
}

const amountOf = (shares: bigint, coins: bigint, total: bigint) =>
  coins === 0n || total === 0n ? 0n : (shares * coins) / total

/** Stake of a delegator in a pool: active, inactive, and pending inactive. */
export function delegatedStake(
  state: ReadableState,
  poolAddress: Uint8Array,
  delegator: Uint8Array,
): readonly [bigint, bigint, bigint] {
  const pool = new ByteReader(state.read(resourceKey(poolAddress, DELEGATION_POOL))!)
  const activeShares = readSharePool(pool)
  const cycle = pool.readU64()
  const inactiveShares = pool.readBytes(32)
  const withdrawals = pool.readBytes(32)
  // Skips the capability of the signer of the stake pool.
  pool.readBytes(32)
  const inactiveCoins = pool.readU64()
  const commission = pool.readU64()

  const stake = new ByteReader(state.read(resourceKey(poolAddress, STAKE_POOL))!)
  const active = stake.readU64()
  const inactive = stake.readU64()
  const pendingActive = stake.readU64()
  const pendingInactive = stake.readU64()
  stake.readU64()
  const operator = stake.readBytes(32)
  const hasCycleEnded = inactive > inactiveCoins
  const pendingShares = inactiveSharesOf(state, inactiveShares, cycle)
  const allActive = active + pendingActive
  const allPending = hasCycleEnded ? inactive - inactiveCoins : pendingInactive
  const commissionOf = (coins: bigint, known: bigint) => (coins > known ? ((coins - known) * commission) / MAX_FEE : 0n)
  const activeCommission = commissionOf(allActive, activeShares.coins)
  const pendingCommission = commissionOf(allPending, pendingShares.coins)

  const total =
    pendingActive === 0n ? activeShares.shares - sharesOf(state, activeShares, NO_SHAREHOLDER) : activeShares.shares
  let own = amountOf(sharesOf(state, activeShares, delegator), allActive - activeCommission, total)
  let [withdrawable, pending] = [0n, 0n]
  const withdrawal = state.read(tableItemKey(withdrawals, delegator))
  if (withdrawal) {
    const cycleOfIt = new ByteReader(withdrawal).readU64()
    const shares = cycleOfIt < cycle ? inactiveSharesOf(state, inactiveShares, cycleOfIt) : pendingShares
    const coins = cycleOfIt < cycle ? shares.coins : allPending - pendingCommission
    const amount = amountOf(sharesOf(state, shares, delegator), coins, shares.shares)
    if (cycleOfIt < cycle || hasCycleEnded) withdrawable = amount
    else pending = amount
  }
  const beneficiary = state.read(resourceKey(operator, BENEFICIARY)) ?? operator
  if (compareBytes(beneficiary, delegator) === 0) {
    own += activeCommission
    if (hasCycleEnded) withdrawable += pendingCommission
    else pending += pendingCommission
  }
  return [own, withdrawable, pending]
}

function inactiveSharesOf(state: ReadableState, table: Uint8Array, cycle: bigint): SharePool {
  return readSharePool(new ByteReader(state.read(tableItemKey(table, new ByteWriter().u64(cycle).toBytes()))!))
}
