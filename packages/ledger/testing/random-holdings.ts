// Random ledgers of objects, fungible stores, tokens and coin stores, and the accounts' holdings by a simple model. The
// model keeps the intended values and never decodes bytes; bytes that do not decode are intended as absent.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { ByteWriter, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import type { Random } from '@ledger-state/testing/random'
import { parseStructTag, resourceGroupKey, resourceKey, writeStructTag } from '@ledger-state/type-tag'

const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
export const COINS = ['0x1::aptos_coin::AptosCoin', '0xcafe::lp::LP<0x1::aptos_coin::AptosCoin, u8>', '0xcafe::m::A']

export interface MeantStore {
  readonly asset: string
  readonly amount: bigint
  readonly isFrozen: boolean
}

export interface MeantObject {
  readonly owner: string
  readonly isUngated: boolean
  readonly store: MeantStore | undefined
  readonly collection: string | undefined
  /** Types of members other than the object, its store and its token. */
  readonly types: readonly string[]
}

export interface MeantCoins {
  readonly amount: bigint
  readonly isFrozen: boolean
}

/** One write, as it was meant: `at` is an object, or an account and its coin type. */
export type Meant =
  | { readonly kind: 'object'; readonly at: string; readonly is: MeantObject | undefined }
  | { readonly kind: 'coin'; readonly at: string; readonly coin: string; readonly is: MeantCoins | undefined }

export interface HoldingsLedger {
  readonly versions: readonly VersionWrites[]
  readonly meant: readonly (readonly Meant[])[]
}

/** Members that no list of holdings reads, but the list of an object's resources shows. */
const OTHER_MEMBERS = [
  '0x1::fungible_asset::ConcurrentSupply',
  '0x1::fungible_asset::Metadata',
  '0x1::fungible_asset::Untransferable',
  '0x1::object::TombStone',
  '0x1::object::Untransferable',
  '0x1::primary_fungible_store::DeriveRefPod',
  '0x4::collection::ConcurrentSupply',
  '0x4::collection::FixedSupply',
  '0x4::collection::UnlimitedSupply',
  '0x4::token::TokenIdentifiers',
  '0xcafe::fungible_asset::FungibleStore',
  '0xcafe::m::G<u8, 0x1::a::B<vector<u8>>>',
]

const long = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`

/** Accounts; some are objects, too. */
export const OWNERS = [0x7, 0xa1, 0xa2, 0xb1, 0xb2].map(long)
export const ASSETS = [0xa, 0xfa1, 0xfa2].map(long)
export const COLLECTIONS = [0xc1, 0xc2].map(long)
/** Objects: some own others, and some are the primary stores of accounts. */
export const OBJECTS = [
  ...[0xb1, 0xb2, 0xd1, 0xd2, 0xd3].map(long),
  ...OWNERS.slice(0, 3).flatMap((owner) => ASSETS.slice(0, 2).map((asset) => primaryStoreOf(owner, asset))),
]

export function primaryStoreOf(owner: string, asset: string): string {
  const hash = createHash('sha3-256').update(parseAddress(owner)).update(parseAddress(asset)).update(Buffer.of(0xfc))
  return `0x${hash.digest('hex')}`
}

/** The address of a store of an owner of many: one in eight ends with a zero byte. */
function crowdedStore(number: number): string {
  const hash = createHash('sha3-256').update(`store ${number}`).digest('hex')
  return `0x${number % 8 === 0 ? `${hash.slice(0, -2)}00` : hash}`
}

/**
 * A ledger with a block for every one to three versions.
 * @param crowd number of stores that the first owner has since version 0, in addition to the others
 */
export function randomHoldings(random: Random, count: number, crowd = 0): HoldingsLedger {
  const crowded = Array.from({ length: crowd }, (_, number) => crowdedStore(number))
  // Half of the changes are of a few stores.
  const objects = crowd === 0 ? OBJECTS : [...crowded.slice(0, 32), ...OBJECTS]
  const versions: VersionWrites[] = []
  const meant: Meant[][] = []
  const current = new Map<string, Meant>()
  let height = -1n
  for (let at = 0; at < count; at++) {
    const isBlock = at === 0 || random.below(2) === 0
    if (isBlock) height++
    const changes = new Map<string, Meant>()
    if (at === 0) for (const store of crowded) changes.set(store, newStore(random, store))
    for (let left = random.below(4); left > 0; left--) {
      const isOfCrowd = crowd > 0 && random.below(2) === 0
      const change = randomChange(random, current, isOfCrowd ? crowded : objects)
      changes.set(nameOf(change), change)
    }
    // A commit lists the changes of the first owner since this write at the latest: the address ends with a zero byte.
    if (at > 0 && at === count >> 1 && crowd > 0) changes.set(crowded[0]!, newStore(random, crowded[0]!))
    for (const [name, change] of changes) current.set(name, change)
    meant.push([...changes.values()])
    versions.push({
      version: BigInt(at),
      block: isBlock ? { height, epoch: 0n, timestampUsec: 1_000n * height } : undefined,
      writes: [...changes.values()].map((change) => writeOf(random, change)),
    })
  }
  return { versions, meant }
}

/** A ledger in which the first owner gets stores at nearly every version, keeps few of them, and some come back. */
export function tradedHoldings(random: Random, count: number): HoldingsLedger {
  const versions: VersionWrites[] = []
  const meant: Meant[][] = []
  const held: Meant[] = []
  const lost: string[] = []
  for (let at = 0; at < count; at++) {
    const changes: Meant[] = []
    while (held.length > random.below(4)) {
      const [given] = held.splice(random.below(held.length), 1)
      if (given?.kind !== 'object' || !given.is) continue
      const isEnded = random.below(3) === 0
      changes.push({ ...given, is: isEnded ? undefined : { ...given.is, owner: random.pick(OWNERS.slice(1)) } })
      lost.push(given.at)
    }
    const written = changes.map(({ at }) => at)
    for (let left = random.below(3); left > 0; left--) {
      const hash = createHash('sha3-256').update(`trade ${at} ${left}`).digest('hex')
      const store = lost.length > 0 && random.below(8) === 0 ? random.pick(lost) : `0x${hash.slice(0, -2)}01`
      if (written.includes(store) || held.some((one) => one.at === store)) continue
      written.push(store)
      held.push(newStore(random, store))
      changes.push(held.at(-1)!)
    }
    meant.push(changes)
    const block = { height: BigInt(at), epoch: 0n, timestampUsec: 1_000n * BigInt(at) }
    versions.push({ version: BigInt(at), block, writes: changes.map((change) => writeOf(random, change)) })
  }
  return { versions, meant }
}

function nameOf(change: Meant): string {
  return change.kind === 'object' ? change.at : `${change.at} ${change.coin}`
}

function newStore(random: Random, at: string): Meant {
  const store = { asset: random.pick(ASSETS), amount: randomAmount(random), isFrozen: false }
  return { kind: 'object', at, is: { owner: OWNERS[0]!, isUngated: true, store, collection: undefined, types: [] } }
}

function randomChange(random: Random, current: ReadonlyMap<string, Meant>, objects: readonly string[]): Meant {
  if (random.below(4) === 0) {
    const is = random.below(4) === 0 ? undefined : { amount: randomAmount(random), isFrozen: random.below(4) === 0 }
    return { kind: 'coin', at: random.pick(OWNERS), coin: random.pick(COINS), is }
  }
  const at = random.pick(objects)
  const known = current.get(at)
  const before = known?.kind === 'object' ? known.is : undefined
  if (random.below(8) === 0) return { kind: 'object', at, is: undefined }
  const isChanged = !before || random.below(3) === 0
  const store =
    before?.store && !isChanged
      ? { ...before.store, amount: randomAmount(random) }
      : random.below(3) > 0
        ? { asset: random.pick(ASSETS), amount: randomAmount(random), isFrozen: random.below(4) === 0 }
        : undefined
  const is = isChanged
    ? {
        owner: random.pick(OWNERS),
        isUngated: random.below(2) === 0,
        store,
        collection: random.below(3) === 0 ? random.pick(COLLECTIONS) : undefined,
        types: OTHER_MEMBERS.filter(() => random.below(6) === 0),
      }
    : { ...before, store }
  return { kind: 'object', at, is }
}

function randomAmount(random: Random): bigint {
  return random.pick([0n, 1n, 5n, 2n ** 64n - 1n, BigInt(random.below(1_000_000))])
}

function writeOf(random: Random, change: Meant): Write {
  const address = parseAddress(change.at)
  if (change.kind === 'object') {
    const value = change.is ? groupOf(random, change.is) : random.pick([null, noObject(random)])
    return [resourceGroupKey(address, OBJECT_GROUP), value]
  }
  const key = resourceKey(address, parseStructTag(`0x1::coin::CoinStore<${change.coin}>`))
  if (change.is) return [key, coinStoreOf(change.is)]
  return [key, random.pick([null, coinStoreOf({ amount: 1n, isFrozen: false }).subarray(1)])]
}

const EVENTS = new Uint8Array(48)

function coinStoreOf({ amount, isFrozen }: MeantCoins): Uint8Array {
  return new ByteWriter().u64(amount).bool(isFrozen).bytes(EVENTS).bytes(EVENTS).toBytes()
}

/** Bytes of a group that is no object. */
function noObject(random: Random): Uint8Array {
  const core = coreOf(long(0xdead), true)
  const group = random.pick([
    [['0x5::m::Other', Uint8Array.of(1)]],
    [['0x1::object::ObjectCore', core.subarray(1)]],
    [['0x1::object::ObjectCore', Uint8Array.of(...core.subarray(0, 40), 2, ...core.subarray(41))]],
  ] as (readonly [string, Uint8Array])[][])
  const bytes = membersOf(group)
  return random.below(3) === 0 ? bytes.subarray(0, bytes.length - 1) : bytes
}

function coreOf(owner: string, isUngated: boolean): Uint8Array {
  return new ByteWriter().u64(3n).bytes(parseAddress(owner)).bool(isUngated).bytes(EVENTS).toBytes()
}

function groupOf(random: Random, object: MeantObject): Uint8Array {
  const members: (readonly [string, Uint8Array])[] = [
    ['0x1::object::ObjectCore', coreOf(object.owner, object.isUngated)],
  ]
  if (object.store) members.push(...storeMembers(random, object.store))
  else if (random.below(4) === 0) members.push(['0x1::fungible_asset::FungibleStore', new Uint8Array(40)])
  if (object.collection) {
    const token = new ByteWriter().bytes(parseAddress(object.collection)).string('a token').toBytes()
    members.push(['0x4::token::Token', token])
  }
  for (const type of object.types) members.push([type, Uint8Array.of(random.below(256), 0)])
  return membersOf(members)
}

function storeMembers(random: Random, { asset, amount, isFrozen }: MeantStore): (readonly [string, Uint8Array])[] {
  const isConcurrent = random.below(3) === 0
  const balance = isConcurrent ? 0n : amount
  const store = new ByteWriter().bytes(parseAddress(asset)).u64(balance).bool(isFrozen).toBytes()
  const members: (readonly [string, Uint8Array])[] = [['0x1::fungible_asset::FungibleStore', store]]
  const name = '0x1::fungible_asset::ConcurrentFungibleBalance'
  if (isConcurrent)
    members.push([
      name,
      new ByteWriter()
        .u64(amount)
        .u64(2n ** 64n - 1n)
        .toBytes(),
    ])
  else if (amount > 0n && random.below(4) === 0)
    members.push([
      name,
      new ByteWriter()
        .u64(77n)
        .u64(2n ** 64n - 1n)
        .toBytes(),
    ])
  return members
}

/** A group in the order of the bytes of its tags. */
function membersOf(members: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const tagged = members.map(([name, bytes]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(name))
    return { tag: writer.toBytes(), bytes }
  })
  const writer = new ByteWriter().uleb128(members.length)
  for (const { tag, bytes } of tagged.sort((a, b) => Buffer.compare(a.tag, b.tag))) writer.bytes(tag).byteString(bytes)
  return writer.toBytes()
}

interface Dated<T> {
  readonly version: bigint
  readonly is: T | undefined
}

/** An entry of a balance or of a list of holders, as the answers have it. */
export interface ExpectedHolding {
  readonly assetType: string
  readonly owner: string
  readonly storage: string
  readonly isPrimary: boolean
  readonly isFrozen: boolean
  readonly amount: bigint
  readonly version: bigint
}

export interface ExpectedActivity {
  readonly version: bigint
  readonly assetType: string
  readonly storage: string
  readonly before: bigint
  readonly after: bigint
}

/** Answers by searching all intended values. */
export class HoldingsModel {
  readonly #objects = new Map<string, Dated<MeantObject>[]>()
  readonly #coins = new Map<string, Map<string, Dated<MeantCoins>[]>>()

  constructor({ meant }: HoldingsLedger) {
    for (const [at, changes] of meant.entries()) {
      const version = BigInt(at)
      for (const change of changes) {
        if (change.kind === 'object') listIn(this.#objects, change.at).push({ version, is: change.is })
        else {
          const ofAccount = this.#coins.get(change.at) ?? new Map<string, Dated<MeantCoins>[]>()
          this.#coins.set(change.at, ofAccount)
          listIn(ofAccount, change.coin).push({ version, is: change.is })
        }
      }
    }
  }

  objects(version: bigint): { readonly at: string; readonly written: bigint; readonly is: MeantObject }[] {
    return [...this.#objects].sort(byName).flatMap(([at, dated]) => {
      const last = lastOf(dated, version)
      return last?.is ? [{ at, written: last.version, is: last.is }] : []
    })
  }

  balances(owner: string, version: bigint): ExpectedHolding[] {
    return [
      ...COINS.toSorted().flatMap((coin) => this.#coinOf(owner, coin, version)),
      ...this.objects(version).flatMap((object) => (object.is.owner === owner ? holdingOf(object) : [])),
    ]
  }

  holders(asset: string, version: bigint): ExpectedHolding[] {
    if (asset.includes('::')) return OWNERS.toSorted().flatMap((owner) => this.#coinOf(owner, asset, version))
    return this.objects(version).flatMap((object) => (object.is.store?.asset === asset ? holdingOf(object) : []))
  }

  #coinOf(owner: string, coin: string, version: bigint): ExpectedHolding[] {
    const last = lastOf(this.#coins.get(owner)?.get(coin) ?? [], version)
    if (!last?.is) return []
    const { amount, isFrozen } = last.is
    return [{ assetType: coin, owner, storage: owner, isPrimary: true, isFrozen, amount, version: last.version }]
  }

  /** All changes from version `first` to `last`, ascending. */
  activities(owner: string, first: bigint, last: bigint): ExpectedActivity[] {
    const found: ExpectedActivity[] = []
    const add = (version: bigint, assetType: string, storage: string, before: bigint, after: bigint): void => {
      if (before !== after && version >= first && version <= last)
        found.push({ version, assetType, storage, before, after })
    }
    for (const [coin, dated] of this.#coins.get(owner) ?? []) {
      let held = 0n
      for (const { version, is } of dated) {
        add(version, coin, owner, held, is?.amount ?? 0n)
        held = is?.amount ?? 0n
      }
    }
    for (const [at, dated] of this.#objects) {
      for (const asset of ASSETS) {
        let held = 0n
        for (const { version, is } of dated) {
          const now = is?.owner === owner && is.store?.asset === asset ? is.store.amount : 0n
          add(version, asset, at, held, now)
          held = now
        }
      }
    }
    const rank = ({ assetType, storage }: ExpectedActivity): string =>
      `${assetType.includes('::') ? 0 : 1} ${storage} ${assetType}`
    return found.sort((a, b) =>
      a.version === b.version ? (rank(a) < rank(b) ? -1 : 1) : a.version < b.version ? -1 : 1,
    )
  }

  /** Rows of the index that the store has at a version, by family and first name. */
  rows(version: bigint): Set<string> {
    const rows = new Set<string>()
    for (const { at, is } of this.objects(version)) {
      if (is.store) rows.add(`store ${is.owner} ${at} ${is.store.asset}`).add(`asset ${is.store.asset} ${at}`)
      else rows.add(`owned ${is.owner} ${at}`)
      if (is.collection) rows.add(`token ${is.collection} ${at}`)
    }
    for (const owner of OWNERS) {
      for (const coin of COINS) if (this.#coinOf(owner, coin, version).length > 0) rows.add(`coin ${owner} ${coin}`)
    }
    return rows
  }
}

function holdingOf({
  at,
  written,
  is,
}: {
  readonly at: string
  readonly written: bigint
  readonly is: MeantObject
}): ExpectedHolding[] {
  if (!is.store) return []
  const { asset, amount, isFrozen } = is.store
  const isPrimary = primaryStoreOf(is.owner, asset) === at
  return [{ assetType: asset, owner: is.owner, storage: at, isPrimary, isFrozen, amount, version: written }]
}

function listIn<T>(lists: Map<string, T[]>, name: string): T[] {
  const known = lists.get(name) ?? []
  lists.set(name, known)
  return known
}

function lastOf<T>(dated: readonly Dated<T>[], version: bigint): Dated<T> | undefined {
  return dated.findLast((one) => one.version <= version)
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
