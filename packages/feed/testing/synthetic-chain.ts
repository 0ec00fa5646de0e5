// A made-up ledger with all its commitments, and the files and answers that sources read. Trees are hashed by their
// definition, over all leaves at once, as an oracle for the incremental trees of the feed.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ByteWriter } from '@ledger-state/core'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { type MadeLedgerInfo, type MadeValidator, signedLedgerInfo, validatorsOf } from './synthetic-epochs.ts'

export interface SyntheticOptions {
  readonly blocks?: number
  readonly salt?: string
  readonly seed?: number
  /** Whether the payloads of user transactions of odd versions are of an unknown variant. */
  readonly unknownPayloads?: boolean
  /** Whether validators sign its ledger infos: the validators of the epoch, or the given ones. */
  readonly signers?: boolean | readonly MadeValidator[]
  /** The validators of an epoch: `validatorsOf` by default. */
  readonly validatorsOf?: (epoch: number) => readonly MadeValidator[]
}

export interface ExpectedVersion {
  readonly version: bigint
  readonly block: { height: bigint; epoch: bigint; timestampUsec: bigint } | undefined
  /** Writes, with keys in database form. */
  readonly writes: [Uint8Array, Uint8Array | null][]
}

interface ChainRecord {
  readonly transaction: Uint8Array
  readonly info: Uint8Array
  readonly events: Uint8Array
  readonly writeSet: Uint8Array
  /** State after the version: from database keys in hex to state values in BCS. */
  readonly state: ReadonlyMap<string, StateItem>
}

interface StateItem {
  readonly key: Uint8Array
  readonly bcsKey: Uint8Array
  readonly stateValue: Uint8Array
}

interface HashedLeaf {
  readonly keyHash: Buffer
  readonly hash: Buffer
}

export const SYNTHETIC_CHAIN_ID = 42
const EPOCH_BLOCKS = 7
const UNKNOWN_PAYLOAD = 9
const START_USEC = 1_700_000_000_000_000n

export class SyntheticChain {
  readonly records: ChainRecord[] = []
  readonly expected: ExpectedVersion[] = []
  readonly #salt: string
  #random: Random
  readonly #scriptVariant: number
  readonly #signers: boolean | readonly MadeValidator[]
  readonly #validatorsOf: (epoch: number) => readonly MadeValidator[]
  #ledgerInfo: Uint8Array | undefined
  #state = new Map<string, StateItem>()
  /** Roots of full subtrees by level and index. Later versions do not change them. */
  readonly #fullSubtrees = new Map<string, Buffer>()
  readonly #seeds = new Map<string, Buffer>()
  /** Hashes of the items of the state. Most items are in the states of many versions. */
  readonly #leaves = new WeakMap<StateItem, HashedLeaf>()
  /** By sender. */
  readonly #sequenceNumbers = new Numbers()
  /** By stream. */
  readonly #eventNumbers = new Numbers()
  #height = 0n
  #epoch = 0n
  #time = 0n
  #itemsToCome = 0
  #items = 0

  constructor({ blocks = 30, salt = 'APTOS::', seed = 1, signers = false, ...options }: SyntheticOptions = {}) {
    this.#salt = salt
    this.#scriptVariant = options.unknownPayloads ? UNKNOWN_PAYLOAD : 0
    this.#signers = signers
    this.#validatorsOf = options.validatorsOf ?? validatorsOf
    this.#random = createRandom(seed)
    this.#addGenesis()
    this.extend(blocks)
  }

  extend(blocks: number): void {
    this.#ledgerInfo = undefined
    for (let block = 0; block < blocks; block++) this.#addBlock()
  }

  /** Adds blocks. The first of them has `count` new table items of one byte. */
  extendWithItems(count: number): void {
    this.#itemsToCome = count
    this.extend(2)
  }

  /** Makes the following blocks differ from the blocks of a chain without this call. */
  diverge(seed: number): void {
    this.#random = createRandom(seed)
  }

  get latestVersion(): bigint {
    return BigInt(this.records.length - 1)
  }

  /** The chain's epoch changes so far, each signed by the validators of its epoch. Epoch 0 is the genesis. */
  endings(): MadeLedgerInfo[] {
    return Array.from({ length: Number(this.#epoch) }, (_, epoch) => {
      const next = this.expected.findIndex(({ block }) => block?.epoch === BigInt(epoch + 1))
      const count = next < 0 ? this.records.length : next
      const validators = this.#validatorsOf(epoch)
      const nextEpoch = { epoch: BigInt(epoch + 1), validators: this.#validatorsOf(epoch + 1) }
      const root = this.accumulatorRoot(count)
      const lastBlock = this.expected.slice(0, count).findLast(({ block }) => block)!.block!
      const info = {
        timestampUsec: lastBlock.timestampUsec,
        epoch: BigInt(epoch),
        version: BigInt(count - 1),
        root,
        nextEpoch,
        validators,
        signers: validators,
      }
      return { ...info, salt: this.#salt }
    })
  }

  get genesisBlob(): Uint8Array {
    return this.records[0]!.transaction
  }

  hash(name: string, ...parts: Uint8Array[]): Buffer {
    const seed =
      this.#seeds.get(name) ??
      createHash('sha3-256')
        .update(this.#salt + name)
        .digest()
    this.#seeds.set(name, seed)
    const hash = createHash('sha3-256').update(seed)
    for (const part of parts) hash.update(part)
    return hash.digest()
  }

  leaf(version: number): Buffer {
    return this.hash('TransactionInfo', this.records[version]!.info)
  }

  /** Root of the ledger of the first `count` versions. */
  accumulatorRoot(count = this.records.length): Buffer {
    return this.#subtree(levels(count), 0, count)
  }

  /** Left and right siblings of a range of versions in the whole ledger. */
  rangeSiblings(first: number, last: number): { left: Buffer[]; right: Buffer[] } {
    const count = this.records.length
    const [left, right]: [Buffer[], Buffer[]] = [[], []]
    for (let level = 0; level < levels(count); level++) {
      const [from, to] = [first >> level, last >> level]
      if (from % 2 === 1) left.push(this.#subtree(level, from - 1, count))
      if (to % 2 === 0) right.push(this.#subtree(level, to + 1, count))
    }
    return { left, right }
  }

  /** Siblings of a version in the whole ledger, the lowest first. */
  versionSiblings(version: number): Buffer[] {
    const { left, right } = this.rangeSiblings(version, version)
    return Array.from({ length: levels(this.records.length) }, (_, level) =>
      (version >> level) % 2 === 1 ? left.shift()! : right.shift()!,
    )
  }

  get epoch(): bigint {
    return this.#epoch
  }

  ledgerInfo(): Uint8Array {
    const version = this.latestVersion
    if (this.#signers !== false) {
      const validators = this.#validatorsOf(Number(this.#epoch))
      this.#ledgerInfo ??= signedLedgerInfo({
        epoch: this.#epoch,
        version,
        root: this.accumulatorRoot(),
        nextEpoch: undefined,
        validators,
        signers: this.#signers === true ? validators : this.#signers,
        salt: this.#salt,
      })
      return this.#ledgerInfo
    }
    const writer = new ByteWriter()
      .u8(0)
      .u64(this.#epoch)
      .u64(9n)
      .bytes(this.hash('Block'))
      .bytes(this.accumulatorRoot())
    writer
      .u64(version)
      .u64(this.#time)
      .u8(1)
      .u64(this.#epoch + 1n)
      .uleb128(1)
      .bytes(this.hash('Validator'))
    writer.byteString(this.hash('PublicKey')).u64(7n)
    return writer
      .bytes(this.hash('Consensus'))
      .byteString(Uint8Array.of(0x80))
      .u8(1)
      .byteString(this.hash('Sig'))
      .toBytes()
  }

  /** Key hash and entry of each item of the state after a version, in the order of the hashes. */
  stateLeaves(version: number) {
    return [...this.records[version]!.state.values()]
      .map((item) => ({ ...item, keyHash: this.#leafOf(item).keyHash }))
      .sort((a, b) => Buffer.compare(a.keyHash, b.keyHash))
  }

  stateRoot(version: number): Buffer {
    return this.#sparse(this.#hashedLeaves(version), 0)
  }

  /** Siblings to the right of the path of a leaf, the lowest first. */
  stateRightSiblings(version: number, index: number): Buffer[] {
    let leaves = this.#hashedLeaves(version)
    const target = leaves[index]!.keyHash
    const siblings: Buffer[] = []
    for (let depth = 0; leaves.length > 1; depth++) {
      const isRight = (leaf: { keyHash: Buffer }) => bit(leaf.keyHash, depth)
      const [left, right] = [leaves.filter((leaf) => !isRight(leaf)), leaves.filter(isRight)]
      if (bit(target, depth)) leaves = right
      else {
        siblings.unshift(this.#sparse(right, depth + 1))
        leaves = left
      }
    }
    return siblings
  }

  #hashedLeaves(version: number): HashedLeaf[] {
    return [...this.records[version]!.state.values()]
      .map((item) => this.#leafOf(item))
      .sort((a, b) => Buffer.compare(a.keyHash, b.keyHash))
  }

  #leafOf(item: StateItem): HashedLeaf {
    const known = this.#leaves.get(item)
    if (known) return known
    const keyHash = this.hash('StateKey', item.key)
    const hash = this.hash('SparseMerkleLeafNode', keyHash, this.hash('StateValue', item.stateValue))
    this.#leaves.set(item, { keyHash, hash })
    return { keyHash, hash }
  }

  #sparse(leaves: readonly HashedLeaf[], depth: number): Buffer {
    if (leaves.length === 0) return padded('SPARSE_MERKLE_PLACEHOLDER_HASH')
    if (leaves.length === 1) return leaves[0]!.hash
    const left = leaves.filter(({ keyHash }) => !bit(keyHash, depth))
    const right = leaves.filter(({ keyHash }) => bit(keyHash, depth))
    return this.hash('SparseMerkleInternal', this.#sparse(left, depth + 1), this.#sparse(right, depth + 1))
  }

  #subtree(level: number, index: number, count: number): Buffer {
    if (index * 2 ** level >= count) return padded('ACCUMULATOR_PLACEHOLDER_HASH')
    const isFull = (index + 1) * 2 ** level <= count
    const name = `${level}/${index}`
    const known = isFull ? this.#fullSubtrees.get(name) : undefined
    if (known) return known
    const root = level === 0 ? this.leaf(index) : this.#innerNode(level, index, count)
    if (isFull) this.#fullSubtrees.set(name, root)
    return root
  }

  #innerNode(level: number, index: number, count: number): Buffer {
    const children = [2 * index, 2 * index + 1].map((child) => this.#subtree(level - 1, child, count))
    return this.hash('TransactionAccumulator', ...children)
  }

  #addGenesis(): void {
    const writes = [
      resource('chain_id', 'ChainId', Uint8Array.of(SYNTHETIC_CHAIN_ID)),
      resource('block', 'BlockResource', u64(0n, 3)),
      resource('reconfiguration', 'Configuration', u64(1n, 2)),
      resource('timestamp', 'CurrentTimeMicroseconds', u64(0n)),
      ...this.#someWrites(20, 3),
    ]
    const { writeSet, expected } = encodeWriteSet(writes)
    const events = this.#someEvents(3)
    const transaction = new ByteWriter().u8(1).u8(0).bytes(writeSet).bytes(events).toBytes()
    this.#add(transaction, events, writeSet, writes, expected, { height: 0n, epoch: 0n, timestampUsec: 0n }, true)
    this.#epoch = 1n
  }

  #addBlock(): void {
    this.#height++
    const epoch = this.#epoch
    const endsEpoch = this.#height % BigInt(EPOCH_BLOCKS) === 0n
    const isNil = this.#height % 5n === 0n
    if (!isNil) this.#time = START_USEC + this.#height * 250_000n
    const writes = [resource('block', 'BlockResource', u64(this.#height, 3))]
    if (!isNil) writes.push(resource('timestamp', 'CurrentTimeMicroseconds', u64(this.#time)))
    if (endsEpoch) {
      this.#epoch++
      writes.push(resource('reconfiguration', 'Configuration', u64(this.#epoch, 2)))
    }
    const metadata = new ByteWriter().u8(this.#height % 2n === 0n ? 2 : 5)
    if (this.#height % 2n === 1n) metadata.u8(0)
    metadata
      .bytes(this.hash('BlockId', u64(this.#height)))
      .u64(epoch)
      .u64(this.#height)
      .bytes(Buffer.alloc(32, 3))
    metadata.byteString(Uint8Array.of(1, 2)).uleb128(1).u32(6).u64(this.#time)
    const block = { height: this.#height, epoch, timestampUsec: this.#time }
    const events = this.#someEvents(1)
    const { writeSet, expected } = encodeWriteSet(writes)
    this.#add(metadata.toBytes(), events, writeSet, writes, expected, block, endsEpoch)
    if (endsEpoch) return
    while (this.#itemsToCome > 0) {
      const some = this.#newItems(Math.min(this.#itemsToCome, 1_000))
      const encoded = encodeWriteSet(some)
      this.#itemsToCome -= some.length
      this.#add(this.#userTransaction(), Uint8Array.of(0), encoded.writeSet, some, encoded.expected, undefined, false)
    }
    for (let rest = this.#below(4); rest > 0; rest--) {
      const some = this.#someWrites(this.#below(6))
      const encoded = encodeWriteSet(some)
      const events = this.#someEvents(this.#below(4))
      this.#add(this.#userTransaction(), events, encoded.writeSet, some, encoded.expected, undefined, false)
    }
    const checkpoint = new ByteWriter()
      .u8(3)
      .bytes(this.hash('Checkpoint', u64(this.#height)))
      .toBytes()
    const nothing = encodeWriteSet([])
    this.#add(checkpoint, Uint8Array.of(0), nothing.writeSet, [], nothing.expected, undefined, true)
  }

  /**
   * A transaction signed by an Ed25519 key: every other one calls an entry function, the others run a script. Its
   * argument or code has random bytes and runs of zeros.
   */
  #userTransaction(): Uint8Array {
    const version = this.records.length
    const sender = version % 5
    const writer = new ByteWriter().u8(0).bytes(Buffer.alloc(32, sender)).u64(this.#sequenceNumbers.next(sender))
    const random = Array.from({ length: 40 + this.#below(200) }, () => (this.#below(4) === 0 ? 0 : this.#below(256)))
    const bytes = Uint8Array.from([...random, ...new Uint8Array(this.#below(160))])
    if (version % 2 === 0) {
      writer
        .u8(2)
        .bytes(Buffer.alloc(32, 1).fill(0, 0, 31))
        .string('coin')
        .string(calledFunction(version))
        .uleb128(0)
        .uleb128(1)
        .byteString(bytes)
    } else writer.u8(this.#scriptVariant).byteString(bytes).uleb128(0).uleb128(0)
    return writer
      .u64(2_000n)
      .u64(100n)
      .u64(1_700_000_000n)
      .u8(SYNTHETIC_CHAIN_ID)
      .u8(0)
      .byteString(this.hash('Key'))
      .byteString(Buffer.alloc(64, this.#below(256)))
      .toBytes()
  }

  #add(
    transaction: Uint8Array,
    events: Uint8Array,
    writeSet: Uint8Array,
    writes: readonly SyntheticWrite[],
    expected: ExpectedVersion['writes'],
    block: ExpectedVersion['block'],
    hasRoot: boolean,
  ): void {
    const version = this.records.length
    for (const { key, bcsKey, stateValue } of writes) {
      const text = Buffer.from(key).toString('hex')
      if (stateValue) this.#state.set(text, { key, bcsKey, stateValue })
      else this.#state.delete(text)
    }
    const state = new Map(this.#state)
    const partial: ChainRecord = { transaction, info: new Uint8Array(0), events, writeSet, state }
    this.records.push(partial)
    const info = new ByteWriter().u8(0).u64(version === 0 ? 0n : 17n)
    writeStatus(info, version === 0 ? 0 : this.#below(8))
    info
      .bytes(this.hash('Transaction', transaction))
      .bytes(this.#eventRoot(events))
      .bytes(this.hash('WriteSet', writeSet))
    info.bool(hasRoot)
    if (hasRoot) info.bytes(this.stateRoot(version))
    info.bool(false)
    this.records[version] = { ...partial, info: info.toBytes() }
    this.expected.push({ version: BigInt(version), block, writes: expected })
  }

  #eventRoot(events: Uint8Array): Buffer {
    const leaves = splitEvents(events).map((event) => this.hash('ContractEvent', event))
    const fold = (nodes: Buffer[]): Buffer => {
      if (nodes.length === 0) return padded('ACCUMULATOR_PLACEHOLDER_HASH')
      if (nodes.length === 1) return nodes[0]!
      const next: Buffer[] = []
      for (let at = 0; at < nodes.length; at += 2) {
        next.push(this.hash('EventAccumulator', nodes[at]!, nodes[at + 1] ?? padded('ACCUMULATOR_PLACEHOLDER_HASH')))
      }
      return fold(next)
    }
    return fold(leaves)
  }

  /** Events of one size, which can be split without a parser: see `splitEvents`. */
  #someEvents(count: number): Uint8Array {
    const writer = new ByteWriter().uleb128(count)
    for (let at = 0; at < count; at++) {
      const number = this.#eventNumbers.next(at)
      writer.u8(0).u64(BigInt(at)).bytes(Buffer.alloc(32, at)).u64(number).u8(6).u8(2)
      writer.byteString(Buffer.alloc(8, this.#below(256)))
    }
    return writer.toBytes()
  }

  #someWrites(count: number, kinds = 6): SyntheticWrite[] {
    const writes = new Map<string, SyntheticWrite>()
    for (let at = 0; at < count; at++) {
      const account = Buffer.alloc(32, 0x40 + this.#below(24))
      const value = Buffer.alloc(1 + this.#below(150), this.#below(256))
      const kind = this.#below(kinds)
      const write =
        this.#below(2) === 0
          ? tableItem(account, u64(BigInt(this.#below(50))), kind, value)
          : accessPath(account, Buffer.from([1, ...Buffer.alloc(40, this.#below(8))]), kind, value)
      writes.set(Buffer.from(write.key).toString('hex'), write)
    }
    return [...writes.values()]
  }

  #newItems(count: number): SyntheticWrite[] {
    const handle = Buffer.alloc(32, 0x30)
    return Array.from({ length: count }, () => tableItem(handle, u64(BigInt(this.#items++)), 0, Uint8Array.of(7)))
  }

  #below(limit: number): number {
    return this.#random.below(limit)
  }
}

/** The function that a user transaction of an even version calls. */
export function calledFunction(version: number): string {
  return version % 4 === 0 ? 'transfer' : 'register'
}

interface SyntheticWrite {
  readonly key: Uint8Array
  readonly bcsKey: Uint8Array
  readonly op: Uint8Array
  readonly value: Uint8Array | null
  readonly stateValue: Uint8Array | undefined
}

/** Writes a write; `kind` is the tag of the write op. */
function write(key: Uint8Array, bcsKey: Uint8Array, kind: number, value: Uint8Array): SyntheticWrite {
  const deletes = kind === 2 || kind === 5
  const metadata =
    kind < 3
      ? undefined
      : new ByteWriter()
          .u8(kind === 4 ? 1 : 0)
          .u64(1n)
          .u64(2n)
  if (kind === 4) metadata!.u64(3n)
  const op = new ByteWriter().u8(kind)
  if (!deletes) op.byteString(value)
  if (metadata) op.bytes(metadata.toBytes())
  const stateValue = new ByteWriter().u8(metadata ? 1 : 0).byteString(value)
  if (metadata) stateValue.bytes(metadata.toBytes())
  return {
    key,
    bcsKey,
    op: op.toBytes(),
    value: deletes ? null : value,
    stateValue: deletes ? undefined : stateValue.toBytes(),
  }
}

function tableItem(handle: Uint8Array, item: Uint8Array, kind: number, value: Uint8Array): SyntheticWrite {
  const key = new ByteWriter().u8(1).bytes(handle).bytes(item).toBytes()
  return write(key, new ByteWriter().u8(1).bytes(handle).byteString(item).toBytes(), kind, value)
}

function accessPath(address: Uint8Array, path: Uint8Array, kind: number, value: Uint8Array): SyntheticWrite {
  const key = new ByteWriter().u8(0).bytes(address).byteString(path).toBytes()
  return write(key, key, kind, value)
}

function resource(module: string, name: string, value: Uint8Array): SyntheticWrite {
  const framework = Buffer.alloc(32)
  framework[31] = 1
  const path = new ByteWriter().u8(1).bytes(framework).string(module).string(name).uleb128(0).toBytes()
  return accessPath(framework, path, 1, value)
}

function encodeWriteSet(writes: readonly SyntheticWrite[]) {
  const writer = new ByteWriter().u8(0).uleb128(writes.length)
  for (const { bcsKey, op } of writes) writer.bytes(bcsKey).bytes(op)
  const expected = writes.map(({ key, value }): [Uint8Array, Uint8Array | null] => [key, value])
  return { writeSet: writer.toBytes(), expected }
}

const EVENT_LENGTH = 1 + 8 + 32 + 8 + 2 + 9

/** Numbers of several sequences, each beginning with 0. */
class Numbers {
  readonly #next = new Map<number, bigint>()

  next(of: number): bigint {
    const number = this.#next.get(of) ?? 0n
    this.#next.set(of, number + 1n)
    return number
  }
}

function splitEvents(events: Uint8Array): Uint8Array[] {
  return Array.from({ length: events[0]! }, (_, at) =>
    events.subarray(1 + at * EVENT_LENGTH, 1 + (at + 1) * EVENT_LENGTH),
  )
}

/** Writes a status: success in most cases, and each other status in each of its forms. */
function writeStatus(writer: ByteWriter, choice: number): void {
  if (choice === 1) writer.u8(1)
  else if (choice === 2) writer.u8(2).u8(0).bytes(Buffer.alloc(32, 1)).string('coin').u64(9n).bool(false)
  else if (choice === 3) writer.u8(2).u8(1).u64(9n).bool(true).string('EFULL').string('it is full')
  else if (choice === 4) writer.u8(3).u8(1).u16(2).u16(3)
  else if (choice === 5) writer.u8(4).bool(true).u64(1n)
  else writer.u8(0)
}

/**
 * Three signed chains that share their first 25 blocks: `begin` has no others, `signed` and `fork` differ afterwards.
 */
export function forkedChains(): Record<'begin' | 'signed' | 'fork', SyntheticChain> {
  const chainOf = (seed: number | undefined): SyntheticChain => {
    const chain = new SyntheticChain({ blocks: 25, signers: true })
    if (seed === undefined) return chain
    chain.diverge(seed)
    chain.extend(20)
    return chain
  }
  return { begin: chainOf(undefined), signed: chainOf(1), fork: chainOf(2) }
}

export interface BackupLayout {
  /** Versions of a chunk. */
  readonly chunk?: number
  /** Chunks of each folder. */
  readonly folder?: number
  readonly format?: 'V0' | 'V1'
  readonly gzip?: boolean
  /** First version; 0 by default. */
  readonly first?: number
  /** Version of a state snapshot, which must have a state root, and number of entries of each of its chunks. */
  readonly snapshot?: { readonly version: number; readonly chunk: number }
}

/** Writes a backup of the chain as it is now. Returns the folder of the snapshot, if one was asked for. */
export function writeBackup(chain: SyntheticChain, root: string, layout: BackupLayout = {}): string {
  const { chunk = 25, folder = 2, format = 'V0', gzip = true, first = 0, snapshot } = layout
  const put = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(root, gzip ? `${name}.gz` : name), gzip ? gzipSync(content) : content)
  }
  mkdirSync(join(root, 'metadata'), { recursive: true })
  put('metadata/identity.meta', '{"Identity":{"id":"ab"}}\n')
  const last = Number(chain.latestVersion)
  for (let start = first; start <= last; start += chunk * folder) {
    const end = Math.min(last, start + chunk * folder - 1)
    const name = `transaction_${start}-.ab12`
    mkdirSync(join(root, name), { recursive: true })
    const chunks: object[] = []
    for (let from = start; from <= end; from += chunk) {
      const to = Math.min(end, from + chunk - 1)
      const records = chain.records.slice(from, to + 1).map(({ transaction, info, events, writeSet }, at) => {
        const auxiliary = format === 'V0' ? [] : (from + at) % 3 === 0 ? [0] : [1 + ((from + at) % 2), 5, 0, 0, 0]
        return Buffer.concat([transaction, Uint8Array.from(auxiliary), info, events, writeSet])
      })
      const { left, right } = chain.rangeSiblings(from, to)
      put(`${name}/${from}-.chunk`, framed(records))
      put(`${name}/${from}-${to}.proof`, Buffer.concat([hashList(left), hashList(right), chain.ledgerInfo()]))
      chunks.push({
        first_version: from,
        last_version: to,
        transactions: `${name}/${from}-.chunk`,
        proof: `${name}/${from}-${to}.proof`,
        ...(format === 'V1' && { format }),
      })
    }
    put(`${name}/transaction.manifest`, JSON.stringify({ first_version: start, last_version: end, chunks }))
    const entry = { first_version: start, last_version: end, manifest: `${name}/transaction.manifest` }
    put(`metadata/transaction_${start}-${end}.meta`, `${JSON.stringify({ TransactionBackup: entry })}\n`)
  }
  return snapshot ? writeSnapshot(chain, root, snapshot, put) : ''
}

function writeSnapshot(
  chain: SyntheticChain,
  root: string,
  { version, chunk }: { readonly version: number; readonly chunk: number },
  put: (name: string, content: Uint8Array | string) => void,
): string {
  const block = chain.expected.slice(0, version + 1).findLast((one) => one.block)!.block!
  const name = `state_epoch_${block.epoch}_ver_${version}.cd34`
  mkdirSync(join(root, name), { recursive: true })
  const leaves = chain.stateLeaves(version)
  const chunks: object[] = []
  for (let from = 0; from < leaves.length; from += chunk) {
    const to = Math.min(leaves.length, from + chunk) - 1
    const records = leaves.slice(from, to + 1).map(({ bcsKey, stateValue }) => Buffer.concat([bcsKey, stateValue]))
    put(`${name}/${from}-.chunk`, framed(records))
    put(`${name}/${from}-${to}.proof`, hashList(chain.stateRightSiblings(version, to)))
    chunks.push({
      first_idx: from,
      last_idx: to,
      first_key: leaves[from]!.keyHash.toString('hex'),
      last_key: leaves[to]!.keyHash.toString('hex'),
      blobs: `${name}/${from}-.chunk`,
      proof: `${name}/${from}-${to}.proof`,
    })
  }
  put(
    `${name}/state.proof`,
    Buffer.concat([hashList(chain.versionSiblings(version)), chain.records[version]!.info, chain.ledgerInfo()]),
  )
  const manifest = {
    version,
    epoch: Number(block.epoch),
    root_hash: chain.stateRoot(version).toString('hex'),
    chunks,
    proof: `${name}/state.proof`,
  }
  put(`${name}/state.manifest`, JSON.stringify(manifest))
  const entry = { epoch: Number(block.epoch), version, manifest: `${name}/state.manifest` }
  put(`metadata/state_snapshot_ver_${version}.meta`, `${JSON.stringify({ StateSnapshotBackup: entry })}\n`)
  return join(root, name)
}

/** The answer of a node for a page of transactions, in BCS. */
export function restPage(chain: SyntheticChain, start: number, limit: number): Uint8Array {
  const writer = new ByteWriter()
  const records = chain.records.slice(start, start + limit)
  writer.uleb128(records.length)
  for (const [at, { transaction, info, events, writeSet }] of records.entries()) {
    const version = start + at
    writer.u64(BigInt(version)).bytes(transaction).bytes(info).bytes(events)
    writer.bytes(chain.accumulatorRoot(version + 1)).bytes(writeSet)
  }
  return writer.toBytes()
}

function framed(records: readonly Buffer[]): Buffer {
  return Buffer.concat(
    records.flatMap((record) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(record.length)
      return [length, record]
    }),
  )
}

/** BCS of a list of hashes. */
export function hashList(list: readonly Buffer[]): Buffer {
  return Buffer.concat([new ByteWriter().uleb128(list.length).toBytes(), ...list])
}

function levels(leaves: number): number {
  return Math.ceil(Math.log2(leaves))
}

function bit(hash: Buffer, at: number): boolean {
  return ((hash[at >> 3]! >> (7 - (at & 7))) & 1) === 1
}

function padded(text: string): Buffer {
  return Buffer.concat([Buffer.from(text)], 32)
}

function u64(...numbers: (bigint | number)[]): Uint8Array {
  const [value, more] = [BigInt(numbers[0]!), Number(numbers[1] ?? 0)]
  return new ByteWriter()
    .u64(value)
    .bytes(new Uint8Array(more * 8))
    .toBytes()
}
