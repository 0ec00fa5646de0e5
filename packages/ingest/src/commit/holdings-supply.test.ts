// The sums over all holders and over all changes, on random ledgers that mint, burn, transfer and migrate consistently.
import { ByteReader, ByteWriter, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger, type Ledger, listActivities, listBalances, listHolders } from '@ledger-state/ledger'
import { primaryStoreOf } from '@ledger-state/ledger/testing/random-holdings'
import { findGroupMember } from '@ledger-state/move-module'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { parseStructTag, resourceGroupKey, resourceKey, writeStructTag } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { ingestSource } from './ingest-source.js'

const seed = testSeed()
const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const COIN = '0xcafe::m::A'
const ASSET = long(0xfa1)
const ACCOUNTS = [0xa1, 0xa2, 0xa3].map(long)
/** A pool is an object that owns stores. */
const POOL = long(0xb1)
const OWNERS = [...ACCOUNTS, POOL]
const STORES = [...OWNERS.map((owner) => primaryStoreOf(owner, ASSET)), long(0xd1), long(0xd2)]

function long(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`
}

function tagBytes(type: string): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, parseStructTag(type))
  return writer.toBytes()
}

const CORE = tagBytes('0x1::object::ObjectCore')
const STORE = tagBytes('0x1::fungible_asset::FungibleStore')
const SUPPLY = tagBytes('0x1::fungible_asset::Supply')

function groupWrite(address: string, owner: string, member?: readonly [Uint8Array, Uint8Array]): Write {
  const core = new ByteWriter().u64(1n).bytes(parseAddress(owner)).bool(true).bytes(new Uint8Array(48)).toBytes()
  const members = [[CORE, core] as const, ...(member ? [member] : [])].sort(([a], [b]) => Buffer.compare(a, b))
  const writer = new ByteWriter().uleb128(members.length)
  for (const [tag, bytes] of members) writer.bytes(tag).byteString(bytes)
  return [resourceGroupKey(parseAddress(address), OBJECT_GROUP), writer.toBytes()]
}

/** A chain with one asset, which accounts hold as a coin until they migrate, and then in stores. */
class Chain {
  readonly #random: Random
  readonly stores = new Map<string, { owner: string; amount: bigint }>()
  readonly coins = new Map<string, bigint>()
  #writes = new Map<string, Write>()

  constructor(random: Random) {
    this.#random = random
  }

  /** The writes of the first version: all coins that there will be, the asset, and a pool. */
  begin(): Write[] {
    for (const account of ACCOUNTS) this.#putCoin(account, 1_000n)
    this.#put(groupWrite(POOL, ACCOUNTS[0]!))
    return this.#take()
  }

  next(): Write[] {
    for (let left = this.#random.below(4); left > 0; left--) this.#act()
    return this.#take()
  }

  #act(): void {
    const random = this.#random
    const amount = BigInt(random.below(50))
    const [from, to] = [random.pick(STORES), random.pick(STORES)]
    const held = this.stores.get(from)
    const account = random.pick(ACCOUNTS)
    const coins = this.coins.get(account)
    const hasEnough = held !== undefined && held.amount >= amount
    const act = random.below(6)
    if (act === 0) this.#add(to, amount)
    else if (act === 1 && hasEnough) this.#add(from, -amount)
    else if (act === 2 && hasEnough) {
      this.#add(from, -amount)
      this.#add(to, amount)
    } else if (act === 3 && held) this.#putStore(from, random.pick(OWNERS), held.amount)
    else if (act === 4 && held?.amount === 0n) {
      this.stores.delete(from)
      this.#put([resourceGroupKey(parseAddress(from), OBJECT_GROUP), null])
    } else if (act === 5 && coins !== undefined) {
      this.#putCoin(account, undefined)
      this.#add(primaryStoreOf(account, ASSET), coins)
    }
  }

  #add(store: string, amount: bigint): void {
    const held = this.stores.get(store)
    this.#putStore(store, held?.owner ?? this.#random.pick(OWNERS), (held?.amount ?? 0n) + amount)
  }

  #putStore(address: string, owner: string, amount: bigint): void {
    this.stores.set(address, { owner, amount })
    const store = new ByteWriter().bytes(parseAddress(ASSET)).u64(amount).bool(false).toBytes()
    this.#put(groupWrite(address, owner, [STORE, store]))
  }

  #putCoin(account: string, amount: bigint | undefined): void {
    const key = resourceKey(parseAddress(account), parseStructTag(`0x1::coin::CoinStore<${COIN}>`))
    if (amount === undefined) this.coins.delete(account)
    else this.coins.set(account, amount)
    this.#put([
      key,
      amount === undefined ? null : new ByteWriter().u64(amount).bool(false).bytes(new Uint8Array(96)).toBytes(),
    ])
  }

  #put(write: Write): void {
    this.#writes.set(Buffer.from(write[0]).toString('hex'), write)
  }

  #take(): Write[] {
    const supply = [...this.stores.values()].reduce((sum, { amount }) => sum + amount, 0n)
    // `current`, a u128, and no `maximum`.
    const bytes = new ByteWriter().u64(supply).u64(0n).uleb128(0).toBytes()
    this.#put(groupWrite(ASSET, long(0xcafe), [SUPPLY, bytes]))
    const writes = [...this.#writes.values()]
    this.#writes = new Map()
    return writes
  }
}

function consistentLedger(random: Random, count: number): VersionWrites[] {
  const chain = new Chain(random)
  return Array.from({ length: count }, (_, at) => ({
    version: BigInt(at),
    block: { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(at) },
    writes: at === 0 ? chain.begin() : chain.next(),
  }))
}

function sumOf(holdings: Iterable<{ readonly amount: bigint } | undefined>): bigint {
  let sum = 0n
  for (const holding of holdings) sum += holding?.amount ?? 0n
  return sum
}

function supplyAt(ledger: Ledger, version: bigint): bigint {
  const group = ledger.at(version).view.get(resourceGroupKey(parseAddress(ASSET), OBJECT_GROUP))!
  return new ByteReader(findGroupMember(group, SUPPLY)!).readU64()
}

it('all holders of an asset hold its recorded supply, and a migration from a coin is a change of both', async () => {
  const random = createRandom(seed)
  for (let round = 0; round < scaledRounds(4); round++) {
    const count = 60
    const versions = consistentLedger(random, count)
    const engine = createMemoryEngine()
    await ingestSource(engine, listedSource(versions.slice(0, 30)))
    await ingestSource(engine, listedSource(versions))
    const ledger = createLedger(engine)
    const [asset, coin] = [ledger.parseAsset(ASSET), ledger.parseAsset(COIN)]
    for (let version = 0n; version < count; version++) {
      const state = ledger.at(version)
      const supply = supplyAt(ledger, version)
      expect(sumOf(listHolders(state, asset)), `seed ${seed}, version ${version}`).toBe(supply)
      // Each store has one owner: the sum over all owners is the sum over all stores.
      const owned = OWNERS.map((owner) => sumOf(listBalances(state, parseAddress(owner), { asset })))
      expect(owned.reduce((sum, amount) => sum + amount)).toBe(supply)
      const before = version === 0n ? 0n : supplyAt(ledger, version - 1n)
      const change = { asset: 0n, coin: 0n }
      for (const owner of OWNERS) {
        for (const one of listActivities(state, parseAddress(owner), { from: version })) {
          if (one) change[one.asset.standard === 'v2' ? 'asset' : 'coin'] += one.after - one.before
        }
      }
      expect(change.asset).toBe(supply - before)
      const coins = version === 0n ? 0n : sumOf(listHolders(ledger.at(version - 1n), coin))
      expect(change.coin).toBe(sumOf(listHolders(state, coin)) - coins)
    }
  }
})
