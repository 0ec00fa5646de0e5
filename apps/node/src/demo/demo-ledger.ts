import { hash } from 'node:crypto'
import { type Codec, codecOf } from '@ledger-state/bcs'
import { addressToLongHex, type BlockInfo, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { LedgerSource, LedgerVersion } from '@ledger-state/feed'
import { pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/ledger'
import { layoutOf } from '@ledger-state/move-module'
import type { KeptTransaction } from '@ledger-state/records'
import {
  moduleKey,
  parseStructTag,
  parseTypeTag,
  resourceGroupKey,
  resourceKey,
  type StructTag,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import {
  ACCOUNTS,
  APTOS_COIN,
  BEAN,
  BERTH_TYPE,
  BERTHS,
  FIGUREHEAD_TOKENS,
  FIGUREHEADS,
  GOOD_TYPE,
  HARBOUR,
  HARBOUR_TYPE,
  POOL_TYPE,
  PRICE_TYPE,
  PRICES,
  SHIP_TYPE,
  STRING_TYPE,
  VAULTS,
  VISITS,
} from './demo-addresses.js'
import { quoteOf } from './demo-market.js'
import { demoModules } from './demo-modules.js'

export const DEMO_CHAIN_ID = 94
/** Its name on the page of the node. */
export const DEMO_NETWORK = 'Demonstration ledger'
const DEMO_VERSIONS = 3_000
/** Versions of the window that `ledger-state start` keeps. */
export const DEMO_WINDOW = 2_000n

const VERSIONS_PER_BLOCK = 8
const BLOCKS_PER_EPOCH = 60
/** Time of the first block, 2025-01-01T00:00:00Z; a block follows every four seconds. */
const START_USEC = 1_735_689_600_000_000n
const BLOCK_USEC = 4_000_000n

/**
 * The demonstration ledger, the same on each run: accounts trade beans in a harbour with ships, berths, prices and a
 * market.
 */
export function openDemoLedger(): LedgerSource {
  let done = 0
  return {
    description: 'demonstration ledger',
    chainId: DEMO_CHAIN_ID,
    mark: undefined,
    get position() {
      return `version ${done - 1}`
    },
    get progress() {
      return { done, total: DEMO_VERSIONS, unit: 'versions' as const }
    },
    async *versions() {
      const ledger = new DemoLedger()
      for (; done < DEMO_VERSIONS; ) yield ledger.writeVersion(done++)
    },
    async close() {},
  }
}

/**
 * Whether a store holds the demonstration ledger or its first versions. Another ledger may have the same chain id, as a
 * development network has now and then, but not the same blocks.
 */
export function isDemoLedger({ chainId, latestVersion, latestBlock }: LedgerSummary): boolean {
  if (chainId !== BigInt(DEMO_CHAIN_ID) || latestVersion >= BigInt(DEMO_VERSIONS)) return false
  const { height, timestampUsec } = blockOf(Number(latestVersion))
  return latestBlock.height === height && latestBlock.timestampUsec === timestampUsec
}

/** Block that a version of the demonstration ledger belongs to. */
function blockOf(version: number): BlockInfo {
  const height = BigInt(version === 0 ? 0 : 1 + Math.floor((version - 1) / VERSIONS_PER_BLOCK))
  const timestampUsec = version === 0 ? 0n : START_USEC + height * BLOCK_USEC
  return { height, epoch: height / BigInt(BLOCKS_PER_EPOCH), timestampUsec }
}

const FRAMEWORK = parseAddress('0x1')
const ACCOUNT_TYPE = '0x1::account::Account'
const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
const OBJECT_CORE = parseStructTag('0x1::object::ObjectCore')
const FUNGIBLE_STORE = parseStructTag('0x1::fungible_asset::FungibleStore')
const CONCURRENT_BALANCE = parseStructTag('0x1::fungible_asset::ConcurrentFungibleBalance')
const APTOS_METADATA = pairedMetadataAddress(parseStructTag(APTOS_COIN))

/** Resource without which views do not run: it has the feature version of the virtual machine. */
const GAS_SCHEDULE = '0x1::gas_schedule::GasScheduleV2'
const GAS_PRICES = { feature_version: '45', entries: [{ key: 'txn.min_price_per_gas_unit', val: '100' }] }

/** Accounts that may own vaults. The first ones have only their primary store. */
const VAULT_OWNERS: readonly string[] = ACCOUNTS.slice(3)

const SHIPS = ['Aurora', 'Borealis', 'Calypso', 'Dorado', 'Esperança', 'Fram', 'Gannet', 'Halcyon']
const GOODS = ['Coffee', 'Tea', 'Cocoa'] as const
const FIGUREHEADS_URI = 'https://harbour.example/figureheads'
const PORTS = ['Lisboa', 'Trieste', 'Gdańsk', 'Recife']

class DemoLedger {
  readonly #random = createRandom(0x1ed6e5)
  readonly #codec = createCodec()
  /** Beans of each account, in its coin store. */
  readonly #beans = new Map<string, bigint>(ACCOUNTS.map((account, at) => [account, 1_000_000n + BigInt(at) * 10_000n]))
  readonly #aptos = new Map<string, bigint>(ACCOUNTS.map((account, at) => [account, 500_000_000n + BigInt(at)]))
  /** Transactions that each account has sent. */
  readonly #sequenceNumbers = new Map<string, bigint>(ACCOUNTS.map((account) => [account, 0n]))
  readonly #prices = new Map<string, bigint>(GOODS.map((good) => [good, 10_000n]))
  /** Owners of the tokens, by their places in `ACCOUNTS`. */
  readonly #tokenOwners: number[] = FIGUREHEAD_TOKENS.map((_, at) => at)
  readonly #vaults = VAULTS.map((_, at) => ({ owner: VAULT_OWNERS[at]! as string, aptos: 90_000_000n }))
  /** Reserves of the market's pool, which no account owns. */
  readonly #pool = { beans: 40_000_000n, aptos: 25_000_000_000n }

  writeVersion(version: number): LedgerVersion {
    const startsBlock = version === 0 || version % VERSIONS_PER_BLOCK === 1
    const block = blockOf(version)
    if (version === 0) {
      const writes = [...this.#genesis(), ...this.#blockWrites(block)]
      return { version: 0n, block, writes, readTransaction: () => transaction(0) }
    }
    const [from, to] = this.#twoAccounts()
    const writes = this.#trade(version, from, to)
    if (startsBlock) writes.push(...this.#blockWrites(block))
    const readTransaction = () => transaction(version, from)
    return { version: BigInt(version), block: startsBlock ? block : undefined, writes, readTransaction }
  }

  #genesis(): Write[] {
    const writes: Write[] = demoModules().map(({ module, binary }) => [moduleKey(module.address, module.name), binary])
    for (const account of ACCOUNTS)
      writes.push(this.#account(account), this.#coinStore(account), this.#primaryStore(account))
    writes.push(this.#chainId(), this.#pairedAsset())
    const aptos = { name: 'Aptos Coin', symbol: 'APT', decimals: 8 }
    writes.push(this.#coinInfo(APTOS_COIN, aptos, this.#aptosSupply))
    writes.push(this.#coinInfo(BEAN, { name: 'Bean', symbol: 'BEAN', decimals: 3 }, sumOf(this.#beans)))
    writes.push(this.#aptosMetadata())
    writes.push([resourceKey(FRAMEWORK, parseStructTag(GAS_SCHEDULE)), this.#codec(GAS_SCHEDULE, GAS_PRICES)])
    const harbour = { visits: { handle: VISITS }, berths: { handle: BERTHS }, prices: { handle: PRICES } }
    writes.push([resourceKey(parseAddress(HARBOUR), parseStructTag(HARBOUR_TYPE)), this.#codec(HARBOUR_TYPE, harbour)])
    for (const good of GOODS) writes.push(this.#price(good, '0'))
    writes.push(this.#poolWrite(), this.#collection())
    for (const at of FIGUREHEAD_TOKENS.keys()) writes.push(this.#figurehead(at))
    for (const at of VAULTS.keys()) writes.push(this.#vault(at))
    return writes
  }

  /** Writes of a version: it moves beans, and now and then aptos, a ship or a price. */
  #trade(version: number, from: string, to: string): Write[] {
    const writes: Write[] = []
    this.#transfer(this.#beans, from, to)
    this.#sequenceNumbers.set(from, this.#sequenceNumbers.get(from)! + 1n)
    writes.push(this.#account(from), this.#coinStore(from), this.#coinStore(to))
    if (version % 3 === 0) {
      const [payer, payee] = this.#twoAccounts()
      this.#transfer(this.#aptos, payer, payee)
      writes.push(this.#primaryStore(payer), this.#primaryStore(payee))
    }
    if (version % 5 === 0) writes.push(...this.#shipMoves(version))
    if (version % 7 === 0) {
      const good = this.#pick(GOODS)
      const change = BigInt(this.#random(401)) - 200n
      this.#prices.set(good, this.#prices.get(good)! + change)
      writes.push(this.#price(good, String(change)))
    }
    if (version % 11 === 0) writes.push(this.#swap(version))
    if (version % 13 === 0) writes.push(this.#handOver(version))
    if (version % 17 === 0) writes.push(...this.#payFromVault(version))
    return writes
  }

  /** A ship takes a berth or leaves it. Its visit gets a note; old notes are deleted. */
  #shipMoves(version: number): Write[] {
    const place = this.#random(12)
    const berth = this.#codec(BERTH_TYPE, { quay: 1 + (place % 3), place })
    const ship = this.#pick(SHIPS)
    const leaves = this.#random(4) === 0
    const next = this.#random(2) === 0 ? [] : [this.#pick(PORTS)]
    const value = leaves
      ? null
      : this.#codec(SHIP_TYPE, {
          name: ship,
          owner: this.#pick(ACCOUNTS),
          cargo: this.#cargo(),
          draught_millimetres: String(4_000 + this.#random(9_000)),
          next_port: { vec: next },
        })
    const note = leaves ? `a ship leaves place ${place}` : `the ${ship} takes place ${place}`
    const writes: Write[] = [
      [tableItemKey(parseAddress(BERTHS), berth), value],
      [this.#visitKey(version), this.#codec(STRING_TYPE, note)],
    ]
    if (version > 500) writes.push([this.#visitKey(version - 500), null])
    return writes
  }

  #cargo(): unknown {
    switch (this.#random(3)) {
      case 0:
        return { Empty: {} }
      case 1:
        return { Containers: { count: this.#random(10_000) } }
      default:
        return { Bulk: { good: this.#pick(GOODS).toLowerCase(), kilograms: String(1_000 * this.#random(90_000)) } }
    }
  }

  #visitKey(version: number): Uint8Array {
    return tableItemKey(parseAddress(VISITS), this.#codec('u64', String(version)))
  }

  #price(good: string, change: string): Write {
    const value = { amount: String(this.#prices.get(good)), currency: addressToLongHex(APTOS_METADATA), change }
    return [tableItemKey(parseAddress(PRICES), this.#codec(GOOD_TYPE, { [good]: {} })), this.#codec(PRICE_TYPE, value)]
  }

  /** An account pays beans or aptos into the pool and takes the other. */
  #swap(version: number): Write {
    const pool = this.#pool
    if (version % 2 === 0) {
      const paid = 10_000n * BigInt(1 + (version % 37))
      const taken = quoteOf(paid, pool.beans, pool.aptos)
      pool.beans += paid
      pool.aptos -= taken
    } else {
      const paid = 6_000_000n * BigInt(1 + (version % 41))
      const taken = quoteOf(paid, pool.aptos, pool.beans)
      pool.aptos += paid
      pool.beans -= taken
    }
    return this.#poolWrite()
  }

  #poolWrite(): Write {
    const value = { beans: String(this.#pool.beans), aptos: String(this.#pool.aptos) }
    return [resourceKey(parseAddress(HARBOUR), parseStructTag(POOL_TYPE)), this.#codec(POOL_TYPE, value)]
  }

  /** A token goes to another account. */
  #handOver(version: number): Write {
    const at = (version / 13) % FIGUREHEAD_TOKENS.length
    this.#tokenOwners[at] = (this.#tokenOwners[at]! + 1 + (version % 3)) % ACCOUNTS.length
    return this.#figurehead(at)
  }

  /** A vault pays the next one; now and then it goes to another account. */
  #payFromVault(version: number): Write[] {
    const at = (version / 17) % VAULTS.length
    const next = (at + 1) % VAULTS.length
    const vault = this.#vaults[at]!
    const paid = (vault.aptos * BigInt(1 + (version % 9))) / 50n
    vault.aptos -= paid
    this.#vaults[next]!.aptos += paid
    if (version % 2 === 0) {
      vault.owner = VAULT_OWNERS[(VAULT_OWNERS.indexOf(vault.owner) + 1) % VAULT_OWNERS.length]!
    }
    return [this.#vault(at), this.#vault(next)]
  }

  /** Height and time of a block, where views and clients read them. */
  #blockWrites({ height, timestampUsec }: BlockInfo): Write[] {
    const block = '0x1::block::BlockResource'
    const value = {
      height: String(height),
      epoch_interval: String(BigInt(BLOCKS_PER_EPOCH) * BLOCK_USEC),
      new_block_events: { ...eventHandle('0x1', 3), counter: String(height) },
      update_epoch_interval_events: eventHandle('0x1', 4),
    }
    const clock = '0x1::timestamp::CurrentTimeMicroseconds'
    return [
      [resourceKey(FRAMEWORK, parseStructTag(block)), this.#codec(block, value)],
      [resourceKey(FRAMEWORK, parseStructTag(clock)), this.#codec(clock, { microseconds: String(timestampUsec) })],
    ]
  }

  #chainId(): Write {
    const type = '0x1::chain_id::ChainId'
    return [resourceKey(FRAMEWORK, parseStructTag(type)), this.#codec(type, { id: DEMO_CHAIN_ID })]
  }

  /** The fungible asset that aptos are paired with, for `0x1::coin`. */
  #pairedAsset(): Write {
    const type = `0x1::coin::PairedFungibleAsset<${APTOS_COIN}>`
    const value = this.#codec(type, { metadata: addressToLongHex(APTOS_METADATA) })
    return [resourceKey(FRAMEWORK, parseStructTag(type)), value]
  }

  #account(account: string): Write {
    const value = {
      authentication_key: addressToLongHex(parseAddress(account)),
      sequence_number: String(this.#sequenceNumbers.get(account)),
      guid_creation_num: '4',
      coin_register_events: eventHandle(account, 0),
      key_rotation_events: eventHandle(account, 1),
      rotation_capability_offer: { for: { vec: [] } },
      signer_capability_offer: { for: { vec: [] } },
    }
    return [resourceKey(parseAddress(account), parseStructTag(ACCOUNT_TYPE)), this.#codec(ACCOUNT_TYPE, value)]
  }

  get #aptosSupply(): bigint {
    return this.#vaults.reduce((sum, { aptos }) => sum + aptos, sumOf(this.#aptos))
  }

  /** Facts of a coin. Its supply is the sum of all holdings, since the demonstration neither mints nor burns. */
  #coinInfo(coin: string, facts: Readonly<Record<string, string | number>>, total: bigint): Write {
    const type = `0x1::coin::CoinInfo<${coin}>`
    const integer = { vec: [{ value: String(total), limit: String(2n ** 128n - 1n) }] }
    const value = this.#codec(type, { ...facts, supply: { vec: [{ aggregator: { vec: [] }, integer }] } })
    return [resourceKey(parseAddress(coin.split('::')[0]!), parseStructTag(type)), value]
  }

  #aptosMetadata(): Write {
    const facts = { name: 'Aptos Coin', symbol: 'APT', decimals: 8, icon_uri: '', project_uri: '' }
    const [account_address, module, struct] = APTOS_COIN.split('::') as [string, string, string]
    const type = { account_address, module_name: hexOf(module), struct_name: hexOf(struct) }
    const members = {
      '0x1::fungible_asset::Metadata': facts,
      '0x1::fungible_asset::Supply': { current: String(this.#aptosSupply), maximum: { vec: [] } },
      '0x1::coin::PairedCoinType': { type },
    }
    return this.#objectWrite(addressToLongHex(APTOS_METADATA), this.#objectCore('0x1', false), members)
  }

  #coinStore(account: string): Write {
    const type = `0x1::coin::CoinStore<${BEAN}>`
    const value = {
      coin: { value: String(this.#beans.get(account)) },
      frozen: false,
      deposit_events: eventHandle(account, 2),
      withdraw_events: eventHandle(account, 3),
    }
    return [resourceKey(parseAddress(account), parseStructTag(type)), this.#codec(type, value)]
  }

  /** A store of aptos that is no primary store, so it can change its owner. */
  #vault(at: number): Write {
    const { owner, aptos } = this.#vaults[at]!
    const store = this.#codec('0x1::fungible_asset::FungibleStore', {
      metadata: addressToLongHex(APTOS_METADATA),
      balance: String(aptos),
      frozen: false,
    })
    const members: [StructTag, Uint8Array][] = [
      [OBJECT_CORE, this.#objectCore(owner, true)],
      [FUNGIBLE_STORE, store],
    ]
    return [resourceGroupKey(parseAddress(VAULTS[at]!), OBJECT_GROUP), encodeGroup(members)]
  }

  /** Primary store of an account. Every other account keeps its aptos in a concurrent balance. */
  #primaryStore(account: string): Write {
    const owner = parseAddress(account)
    const address = primaryStoreAddress(owner, APTOS_METADATA)
    const held = String(this.#aptos.get(account))
    const concurrent = ACCOUNTS.indexOf(account as (typeof ACCOUNTS)[number]) % 2 === 1
    const members: [StructTag, Uint8Array][] = [
      [OBJECT_CORE, this.#objectCore(account, false)],
      [
        FUNGIBLE_STORE,
        this.#codec('0x1::fungible_asset::FungibleStore', {
          metadata: addressToLongHex(APTOS_METADATA),
          balance: concurrent ? '0' : held,
          frozen: false,
        }),
      ],
    ]
    if (concurrent) {
      const value = { balance: { value: held, max_value: '18446744073709551615' } }
      members.push([CONCURRENT_BALANCE, this.#codec('0x1::fungible_asset::ConcurrentFungibleBalance', value)])
    }
    return [resourceGroupKey(address, OBJECT_GROUP), encodeGroup(members)]
  }

  #objectCore(owner: string, isUngated: boolean): Uint8Array {
    return this.#codec('0x1::object::ObjectCore', {
      guid_creation_num: '0',
      owner,
      allow_ungated_transfer: isUngated,
      transfer_events: eventHandle(owner, 4),
    })
  }

  /** A collection of the harbour. Its tokens are the figureheads of ships. */
  #collection(): Write {
    const tokens = String(FIGUREHEAD_TOKENS.length)
    const members = {
      '0x4::collection::Collection': {
        creator: HARBOUR,
        description: 'Figureheads of the ships in the harbour',
        name: 'Figureheads',
        uri: FIGUREHEADS_URI,
        mutation_events: eventHandle(FIGUREHEADS, 0),
      },
      '0x4::collection::FixedSupply': {
        current_supply: tokens,
        max_supply: tokens,
        total_minted: tokens,
        burn_events: eventHandle(FIGUREHEADS, 1),
        mint_events: eventHandle(FIGUREHEADS, 2),
      },
    }
    return this.#objectWrite(FIGUREHEADS, this.#objectCore(HARBOUR, false), members)
  }

  #figurehead(at: number): Write {
    const token = FIGUREHEAD_TOKENS[at]!
    const value = {
      collection: FIGUREHEADS,
      index: String(at + 1),
      description: `Figurehead of the ${SHIPS[at]}`,
      name: SHIPS[at],
      uri: `${FIGUREHEADS_URI}/${at + 1}`,
      mutation_events: eventHandle(token, 0),
    }
    const core = this.#objectCore(ACCOUNTS[this.#tokenOwners[at]!]!, true)
    return this.#objectWrite(token, core, { '0x4::token::Token': value })
  }

  /** An object with members in its group besides its core. */
  #objectWrite(address: string, core: Uint8Array, members: Readonly<Record<string, unknown>>): Write {
    const encoded = Object.entries(members).map(([type, value]): [StructTag, Uint8Array] => {
      return [parseStructTag(type), this.#codec(type, value)]
    })
    return [resourceGroupKey(parseAddress(address), OBJECT_GROUP), encodeGroup([[OBJECT_CORE, core], ...encoded])]
  }

  #transfer(holdings: Map<string, bigint>, from: string, to: string): void {
    const amount = (holdings.get(from)! * BigInt(this.#random(10))) / 100n
    holdings.set(from, holdings.get(from)! - amount)
    holdings.set(to, holdings.get(to)! + amount)
  }

  #twoAccounts(): [string, string] {
    const from = this.#random(ACCOUNTS.length)
    const to = (from + 1 + this.#random(ACCOUNTS.length - 1)) % ACCOUNTS.length
    return [ACCOUNTS[from]!, ACCOUNTS[to]!]
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random(choices.length)]!
  }
}

/** A made-up transaction: of the genesis, or of the account that traded. */
function transaction(version: number, sender?: string): KeptTransaction {
  const made = { hash: Uint8Array.from(hash('sha256', `demonstration ${version}`, 'buffer')), isSuccess: true }
  if (sender === undefined) return { kind: 'genesis', ...made }
  return { kind: 'user', ...made, sender: parseAddress(sender), entryFunction: `${HARBOUR}::harbour::trade` }
}

function sumOf(holdings: ReadonlyMap<string, bigint>): bigint {
  return [...holdings.values()].reduce((sum, held) => sum + held, 0n)
}

function hexOf(text: string): string {
  return `0x${Buffer.from(text).toString('hex')}`
}

function eventHandle(account: string, creationNumber: number) {
  return { counter: '0', guid: { id: { creation_num: String(creationNumber), addr: account } } }
}

/** A resource group: BCS map of struct tag to bytes, in the order of the serialized tags. */
function encodeGroup(members: readonly [StructTag, Uint8Array][]): Uint8Array {
  const encoded = members.map(([tag, value]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, tag)
    return { key: writer.toBytes(), value }
  })
  encoded.sort((a, b) => Buffer.compare(a.key, b.key))
  const writer = new ByteWriter().uleb128(encoded.length)
  for (const { key, value } of encoded) writer.bytes(key).byteString(value)
  return writer.toBytes()
}

/** Encodes values by the layouts in the demonstration's modules. */
function createCodec(): (type: string, value: unknown) => Uint8Array {
  const modules = new Map(
    demoModules().map(({ module }) => [`${addressToLongHex(module.address)}::${module.name}`, module]),
  )
  const codecs = new Map<string, Codec>()
  const resolve = (type: string): Codec =>
    codecOf(layoutOf(parseTypeTag(type), ({ address, name }) => modules.get(`${addressToLongHex(address)}::${name}`)))
  return (type, value) => {
    const codec = codecs.get(type) ?? resolve(type)
    codecs.set(type, codec)
    return codec.jsonTextToBytes(JSON.stringify(value))
  }
}

/** Random whole numbers below a bound, the same sequence for the same seed (xorshift32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
