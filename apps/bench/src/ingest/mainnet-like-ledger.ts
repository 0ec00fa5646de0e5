import { hash } from 'node:crypto'
import { ADDRESS_LENGTH, ByteWriter, parseAddress } from '@ledger-state/core'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { decodeStateKey, resourceKey, STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { type ChainLikeBlock, type ChainLikeWrite, chainLikeBlocks } from '../workload/chain/chain-like-writes.ts'
import type { KeyReturns } from '../workload/chain/key-population.ts'

/**
 * A made-up ledger with all its commitments. Its versions are like mainnet versions. Its blocks have the writes of
 * `chainLikeBlocks`. Each block has a version of block metadata, 12 user transactions with 3 events each, and a
 * checkpoint without writes. All of it is made before any clock runs.
 */
const EVENTS = 3
const CHAIN_ID = 42
const STRUCT_TAG = 7
const SLOT_DEPOSIT = 40_000n

export interface MainnetLikeVersion {
  readonly transaction: Uint8Array
  readonly info: Uint8Array
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  readonly writes: number
}

/** A version of a ledger whose chunks can be proven. */
export interface CommittedVersion extends MainnetLikeVersion {
  readonly accumulatorRoot: Buffer
}

export interface MainnetLikeLedger {
  readonly chainId: number
  readonly versions: readonly CommittedVersion[]
  /** Ledger info without signatures, which nothing here checks. */
  readonly ledgerInfo: Uint8Array
  /** Siblings that prove a range of versions in the whole ledger, the lowest first. */
  rangeSiblings(first: number, last: number): { readonly left: Buffer[]; readonly right: Buffer[] }
}

export function createMainnetLikeLedger(versions: number, returns: KeyReturns, seed = 1): MainnetLikeLedger {
  return new LedgerMaker(returns, seed).make(versions)
}

/** The versions of `createMainnetLikeLedger`, each made when it is asked for. */
export function mainnetLikeVersions(
  versions: number,
  returns: KeyReturns,
  seed = 1,
): Generator<MainnetLikeVersion, void> {
  return new LedgerMaker(returns, seed).stream(versions)
}

/** Type of the events of user transactions. */
export const SWAP_EVENT = {
  kind: 'struct',
  address: Buffer.alloc(32, 9),
  module: 'pool',
  name: 'SwapEvent',
  typeArguments: [],
} as const

class LedgerMaker {
  readonly #random: Random
  #versions: MainnetLikeVersion[] = []
  /** Next sequence number of each sender. */
  readonly #sent = new Map<string, bigint>()
  readonly #hasher = new Hasher()
  readonly #accumulator = new Accumulator(this.#hasher, 'TransactionAccumulator')
  readonly #blocks: Generator<ChainLikeBlock, never>

  constructor(returns: KeyReturns, seed: number) {
    this.#random = createRandom(seed)
    this.#blocks = chainLikeBlocks(returns, seed)
  }

  make(count: number): MainnetLikeLedger {
    let block = this.#blocks.next().value
    this.#addGenesis(block)
    while (this.#versions.length < count) {
      block = this.#blocks.next().value
      this.#addBlock(block)
    }
    const versions = this.#versions.map((version) => this.#commit(version))
    const { accumulatorRoot } = versions.at(-1)!
    const zeros = Buffer.alloc(32)
    const ledgerInfo = new ByteWriter().u8(0).u64(1n).u64(BigInt(block.height)).bytes(zeros).bytes(accumulatorRoot)
    ledgerInfo
      .u64(BigInt(versions.length - 1))
      .u64(BigInt(block.timeUsec))
      .u8(0)
      .bytes(zeros)
      .byteString(Uint8Array.of(0x80))
      .u8(0)
    const rangeSiblings = (first: number, last: number) => this.#rangeSiblings(first, last)
    return { chainId: CHAIN_ID, versions, ledgerInfo: ledgerInfo.toBytes(), rangeSiblings }
  }

  *stream(count: number): Generator<MainnetLikeVersion, void> {
    this.#addGenesis(this.#blocks.next().value)
    for (let left = count; left > 0; this.#addBlock(this.#blocks.next().value)) {
      for (const version of this.#versions) if (left-- > 0) yield version
      this.#versions = []
    }
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

  #addGenesis({ metadata, transactions }: ChainLikeBlock): void {
    const writes = [
      creation('chain_id', 'ChainId', Uint8Array.of(CHAIN_ID)),
      creation('reconfiguration', 'Configuration', Buffer.concat([Uint8Array.of(1), Buffer.alloc(63)])),
      ...[metadata, ...transactions].flat().map(encodeWrite),
    ]
    const writeSet = encodeWriteSet(writes)
    const transaction = new ByteWriter().u8(1).u8(0).bytes(writeSet).bytes(encodeEvents([])).toBytes()
    this.#add(transaction, [], writes)
  }

  #addBlock({ height, timeUsec, metadata, transactions }: ChainLikeBlock): void {
    const block = new ByteWriter().u8(2).bytes(this.#random.bytes(32)).u64(1n).u64(BigInt(height))
    block.bytes(Buffer.alloc(32, 3)).byteString(Uint8Array.of(1, 2)).uleb128(0).u64(BigInt(timeUsec))
    this.#add(block.toBytes(), [blockEvent(height)], metadata.map(encodeWrite))
    for (const writes of transactions) {
      const sender = writes[0]!.key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH)
      this.#add(this.#userTransaction(sender), this.#events(EVENTS), writes.map(encodeWrite))
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
    this.#versions.push({ transaction, info, events: encodeEvents(events), writeSet, writes: writes.length })
  }

  #commit(version: MainnetLikeVersion): CommittedVersion {
    this.#accumulator.append(this.#hasher.hash('TransactionInfo', version.info))
    return { ...version, accumulatorRoot: this.#accumulator.root() }
  }

  /** A transaction: sender, an entry function with its arguments, gas, chain id, a key and a signature. */
  #userTransaction(sender: Uint8Array): Uint8Array {
    const writer = new ByteWriter().u8(0).bytes(sender).u64(this.#nextNumber(sender)).u8(2)
    writer.bytes(Buffer.alloc(32, 7)).string('router').string('swap_exact_in').uleb128(0).uleb128(3)
    for (const length of [32, 8, 8]) writer.byteString(this.#random.bytes(length))
    writer.u64(200_000n).u64(100n).u64(1_760_000_000n).u8(CHAIN_ID)
    return writer.u8(0).byteString(this.#random.bytes(32)).byteString(this.#random.bytes(64)).toBytes()
  }

  #nextNumber(sender: Uint8Array): bigint {
    const name = Buffer.from(sender).toString('latin1')
    const next = this.#sent.get(name) ?? 0n
    this.#sent.set(name, next + 1n)
    return next
  }

  #events(count: number): Uint8Array[] {
    const tag = structTag(SWAP_EVENT.address, SWAP_EVENT.module, SWAP_EVENT.name)
    return Array.from({ length: count }, () =>
      new ByteWriter().u8(1).u8(STRUCT_TAG).bytes(tag).byteString(this.#random.bytes(72)).toBytes(),
    )
  }
}

/**
 * SHA3-256 after the seed of each kind of hash, as in the ledger. See docs/ledger-formats.md, "Hashes and commitments".
 */
class Hasher {
  readonly #seeds = new Map<string, Buffer>()

  hash(name: string, ...parts: readonly Uint8Array[]): Buffer {
    return hash('sha3-256', Buffer.concat([this.#seed(name), ...parts]), 'buffer')
  }

  #seed(name: string): Buffer {
    const known = this.#seeds.get(name)
    if (known) return known
    const seed = hash('sha3-256', `APTOS::${name}`, 'buffer')
    this.#seeds.set(name, seed)
    return seed
  }
}

/** All nodes of an append-only Merkle tree with full subtrees, by level. */
class Accumulator {
  readonly #hasher: Hasher
  readonly #name: string
  readonly #full: Buffer[][] = [[]]

  constructor(hasher: Hasher, name: string) {
    this.#hasher = hasher
    this.#name = name
  }

  /** Number of levels below the root. */
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

  /** Hash of a node; a placeholder if the node has no leaves. */
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

/** The event of a new block, in a stream of 0x1. */
function blockEvent(height: number): Uint8Array {
  const tag = structTag(parseAddress('0x1'), 'block', 'NewBlockEvent')
  const writer = new ByteWriter().u8(0).u64(3n).bytes(parseAddress('0x1')).u64(BigInt(height))
  return writer.u8(STRUCT_TAG).bytes(tag).byteString(Buffer.alloc(72, 5)).toBytes()
}

/** A type tag of a struct, without the variant. */
function structTag(address: Uint8Array, module: string, name: string): Uint8Array {
  return new ByteWriter().bytes(address).string(module).string(name).uleb128(0).toBytes()
}

/** Operations of a write set. Whether the key exists decides between the first two, and whether it has metadata. */
const CREATION = 0
const MODIFICATION = 1
const CREATION_WITH_METADATA = 3
const MODIFICATION_WITH_METADATA = 4

/** Creation of a resource of the framework itself, which has no metadata. */
function creation(module: string, name: string, value: Uint8Array): Uint8Array {
  const address = parseAddress('0x1')
  const key = resourceKey(address, { kind: 'struct', address, module, name, typeArguments: [] })
  return encodeWrite({ key, value, isCreation: true, creationTimeUsec: undefined })
}

function encodeWrite({ key, value, isCreation, creationTimeUsec }: ChainLikeWrite): Uint8Array {
  const writer = new ByteWriter()
  const named = decodeStateKey(key)
  if (named.kind === 'tableItem') writer.u8(key[0]!).bytes(named.handle).byteString(named.key)
  else writer.bytes(key)
  if (creationTimeUsec === undefined)
    return writer
      .u8(isCreation ? CREATION : MODIFICATION)
      .byteString(value)
      .toBytes()
  writer.u8(isCreation ? CREATION_WITH_METADATA : MODIFICATION_WITH_METADATA).byteString(value)
  return writer.u8(0).u64(SLOT_DEPOSIT).u64(BigInt(creationTimeUsec)).toBytes()
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
