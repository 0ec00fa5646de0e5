import { createHash, hash } from 'node:crypto'
import { ByteWriter } from '@ledger-state/core'
import { createRandom, type Random } from '@ledger-state/testing/random'

/**
 * A made-up ledger with all its commitments whose versions are like those of mainnet. Blocks of 14 versions: block
 * metadata with 3 writes, 12 user transactions with 5 to 10 writes and 3 events, a checkpoint without writes. A version has
 * 6.6 writes and 2.3 kB on average. Keys are resources of 200,000 accounts, drawn with a skew, and items
 * of 500 tables; values have 8 to 400 bytes.
 */
const ACCOUNTS = 200_000
const TABLES = 500
const USER_TRANSACTIONS = 12
const EVENTS = 3
const VALUE_LENGTHS = [8, 16, 32, 48, 105, 105, 105, 140, 200, 300, 400]
const CHAIN_ID = 42
const STRUCT_TAG = 7
const START_USEC = 1_750_000_000_000_000n
const BLOCK_USEC = 200_000n
const RESOURCE_NAMES = [
  'CoinStore',
  'Account',
  'FungibleStore',
  'ConcurrentFungibleBalance',
  'ObjectCore',
  'Pool',
  'Vault',
]

export interface MainnetLikeVersion {
  readonly transaction: Uint8Array
  readonly info: Uint8Array
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  readonly accumulatorRoot: Buffer
  readonly writes: number
}

export interface MainnetLikeLedger {
  readonly chainId: number
  readonly versions: readonly MainnetLikeVersion[]
  /** Ledger info without signatures: nothing here checks them. */
  readonly ledgerInfo: Uint8Array
  /** What proves a range of versions in the whole ledger, the lowest first. */
  rangeSiblings(first: number, last: number): { readonly left: Buffer[]; readonly right: Buffer[] }
}

export function createMainnetLikeLedger(versions: number, seed = 1): MainnetLikeLedger {
  return new LedgerMaker(seed).make(versions)
}

class LedgerMaker {
  readonly #random: Random
  readonly #versions: MainnetLikeVersion[] = []
  readonly #hasher = new Hasher()
  readonly #accumulator = new Accumulator(this.#hasher, 'TransactionAccumulator')
  #height = 0n

  constructor(seed: number) {
    this.#random = createRandom(seed)
  }

  make(count: number): MainnetLikeLedger {
    this.#addGenesis()
    while (this.#versions.length < count) this.#addBlock()
    const { accumulatorRoot } = this.#versions.at(-1)!
    const time = START_USEC + this.#height * BLOCK_USEC
    const zeros = Buffer.alloc(32)
    const ledgerInfo = new ByteWriter().u8(0).u64(1n).u64(this.#height).bytes(zeros).bytes(accumulatorRoot)
    ledgerInfo
      .u64(BigInt(this.#versions.length - 1))
      .u64(time)
      .u8(0)
      .bytes(zeros)
      .byteString(Uint8Array.of(0x80))
      .u8(0)
    const rangeSiblings = (first: number, last: number) => this.#rangeSiblings(first, last)
    return { chainId: CHAIN_ID, versions: this.#versions, ledgerInfo: ledgerInfo.toBytes(), rangeSiblings }
  }

  #rangeSiblings(first: number, last: number) {
    const left: Buffer[] = []
    const right: Buffer[] = []
    for (let level = 0; level < this.#accumulator.levels; level++) {
      const [from, to] = [Math.floor(first / 2 ** level), Math.floor(last / 2 ** level)]
      if (from % 2 === 1) left.push(this.#accumulator.node(level, from - 1))
      if (to % 2 === 0) right.push(this.#accumulator.node(level, to + 1))
    }
    return { left, right }
  }

  #addGenesis(): void {
    const writes = [
      frameworkWrite('chain_id', 'ChainId', Uint8Array.of(CHAIN_ID)),
      frameworkWrite('block', 'BlockResource', Buffer.alloc(32)),
      frameworkWrite('reconfiguration', 'Configuration', u64(1n, 2)),
      frameworkWrite('timestamp', 'CurrentTimeMicroseconds', u64(0n)),
    ]
    const writeSet = encodeWriteSet(writes)
    const transaction = new ByteWriter().u8(1).u8(0).bytes(writeSet).bytes(encodeEvents([])).toBytes()
    this.#add(transaction, [], writes)
  }

  #addBlock(): void {
    this.#height++
    const time = START_USEC + this.#height * BLOCK_USEC
    const metadata = new ByteWriter().u8(2).bytes(this.#random.bytes(32)).u64(1n).u64(this.#height)
    metadata.bytes(Buffer.alloc(32, 3)).byteString(Uint8Array.of(1, 2)).uleb128(0).u64(time)
    const writes = [
      frameworkWrite('block', 'BlockResource', u64(this.#height, 3)),
      frameworkWrite('timestamp', 'CurrentTimeMicroseconds', u64(time)),
      frameworkWrite('stake', 'ValidatorPerformance', this.#random.bytes(300)),
    ]
    this.#add(metadata.toBytes(), this.#events(1), writes)
    for (let at = 0; at < USER_TRANSACTIONS; at++) {
      const writes = this.#userWrites(5 + this.#random.below(6))
      this.#add(this.#userTransaction(), this.#events(EVENTS), writes)
    }
    const checkpoint = new ByteWriter().u8(3).bytes(this.#random.bytes(32)).toBytes()
    this.#add(checkpoint, [], [])
  }

  #add(transaction: Uint8Array, events: readonly Uint8Array[], writes: readonly Uint8Array[]): void {
    const hasher = this.#hasher
    const writeSet = encodeWriteSet(writes)
    const eventTree = new Accumulator(hasher, 'EventAccumulator')
    for (const event of events) eventTree.append(hasher.hash('ContractEvent', event))
    const writer = new ByteWriter().u8(0).u64(17n).u8(0)
    writer
      .bytes(hasher.hash('Transaction', transaction))
      .bytes(eventTree.root())
      .bytes(hasher.hash('WriteSet', writeSet))
    const info = writer.bool(false).bool(false).toBytes()
    this.#accumulator.append(hasher.hash('TransactionInfo', info))
    const accumulatorRoot = this.#accumulator.root()
    this.#versions.push({
      transaction,
      info,
      events: encodeEvents(events),
      writeSet,
      accumulatorRoot,
      writes: writes.length,
    })
  }

  /** Sender, an entry function with its arguments, gas, chain id, a key and a signature. */
  #userTransaction(): Uint8Array {
    const writer = new ByteWriter()
      .u8(0)
      .bytes(this.#account())
      .u64(BigInt(this.#random.below(10_000)))
      .u8(2)
    writer.bytes(Buffer.alloc(32, 7)).string('router').string('swap_exact_in').uleb128(0).uleb128(3)
    for (const length of [32, 8, 8]) writer.byteString(this.#random.bytes(length))
    writer.u64(200_000n).u64(100n).u64(1_760_000_000n).u8(CHAIN_ID)
    return writer.u8(0).byteString(this.#random.bytes(32)).byteString(this.#random.bytes(64)).toBytes()
  }

  #events(count: number): Uint8Array[] {
    const tag = structTag(Buffer.alloc(32, 9), 'pool', 'SwapEvent')
    return Array.from({ length: count }, () =>
      new ByteWriter().u8(1).u8(STRUCT_TAG).bytes(tag).byteString(this.#random.bytes(72)).toBytes(),
    )
  }

  #userWrites(count: number): Uint8Array[] {
    const writes = new Map<string, Uint8Array>()
    while (writes.size < count) {
      const value = this.#random.bytes(this.#random.pick(VALUE_LENGTHS))
      const key = this.#random.below(4) === 0 ? this.#tableItem() : this.#resource()
      const metadata = new ByteWriter().u8(0).u64(40_000n).u64(START_USEC).toBytes()
      const write = new ByteWriter().bytes(key).u8(4).byteString(value).bytes(metadata).toBytes()
      writes.set(Buffer.from(key).toString('latin1'), write)
    }
    return [...writes.values()]
  }

  /** A few accounts are in most transactions. */
  #account(): Buffer {
    const below = this.#random.below(3) === 0 ? 200 : ACCOUNTS
    return hash('sha3-256', `account ${this.#random.below(below)}`, 'buffer')
  }

  #resource(): Uint8Array {
    const tag = structTag(Buffer.alloc(32, 1), 'fungible_asset', this.#random.pick(RESOURCE_NAMES))
    return resourceKey(this.#account(), tag)
  }

  #tableItem(): Uint8Array {
    const handle = hash('sha3-256', `table ${this.#random.below(TABLES)}`, 'buffer')
    return new ByteWriter().u8(1).bytes(handle).byteString(this.#account()).toBytes()
  }
}

/** SHA3-256 after the seed of each kind of hash, as the ledger does it. See docs/ledger-formats.md, "Hashes and commitments". */
class Hasher {
  readonly #seeds = new Map<string, Buffer>()

  hash(name: string, ...parts: readonly Uint8Array[]): Buffer {
    const whole = createHash('sha3-256').update(this.#seed(name))
    for (const part of parts) whole.update(part)
    return whole.digest()
  }

  #seed(name: string): Buffer {
    const known = this.#seeds.get(name)
    if (known) return known
    const seed = hash('sha3-256', `APTOS::${name}`, 'buffer')
    this.#seeds.set(name, seed)
    return seed
  }
}

/** All nodes of an append-only Merkle tree whose subtrees are full, by level. */
class Accumulator {
  readonly #hasher: Hasher
  readonly #name: string
  readonly #full: Buffer[][] = [[]]

  constructor(hasher: Hasher, name: string) {
    this.#hasher = hasher
    this.#name = name
  }

  /** Levels below the root. */
  get levels(): number {
    return Math.ceil(Math.log2(Math.max(1, this.#full[0]!.length)))
  }

  append(leaf: Buffer): void {
    let node = leaf
    for (let level = 0; ; level++) {
      if (level === this.#full.length) this.#full.push([])
      const nodes = this.#full[level]!
      nodes.push(node)
      if (nodes.length % 2 === 1) return
      node = this.#pair(nodes.at(-2)!, nodes.at(-1)!)
    }
  }

  root(): Buffer {
    return this.node(this.levels, 0)
  }

  /** A placeholder where the node has no leaves. */
  node(level: number, index: number): Buffer {
    const full = this.#full[level]?.[index]
    if (full) return full
    if (index * 2 ** level >= this.#full[0]!.length) return PLACEHOLDER
    return this.#pair(this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1))
  }

  #pair(left: Buffer, right: Buffer): Buffer {
    return this.#hasher.hash(this.#name, left, right)
  }
}

const PLACEHOLDER = Buffer.concat([Buffer.from('ACCUMULATOR_PLACEHOLDER_HASH')], 32)

function u64(value: bigint, zeros = 0): Uint8Array {
  return new ByteWriter()
    .u64(value)
    .bytes(new Uint8Array(8 * zeros))
    .toBytes()
}

/** A type tag without its variant, which is that of a struct. */
function structTag(address: Uint8Array, module: string, name: string): Uint8Array {
  return new ByteWriter().bytes(address).string(module).string(name).uleb128(0).toBytes()
}

function resourceKey(address: Uint8Array, tag: Uint8Array): Uint8Array {
  const path = new ByteWriter().u8(1).bytes(tag).toBytes()
  return new ByteWriter().u8(0).bytes(address).byteString(path).toBytes()
}

/** A modification without metadata, as the framework's own resources have it. */
function frameworkWrite(module: string, name: string, value: Uint8Array): Uint8Array {
  const framework = Buffer.alloc(32)
  framework[31] = 1
  const key = resourceKey(framework, structTag(framework, module, name))
  return new ByteWriter().bytes(key).u8(1).byteString(value).toBytes()
}

function encodeWriteSet(writes: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter().u8(0).uleb128(writes.length)
  for (const write of writes) writer.bytes(write)
  return writer.toBytes()
}

function encodeEvents(events: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter().uleb128(events.length)
  for (const event of events) writer.bytes(event)
  return writer.toBytes()
}
