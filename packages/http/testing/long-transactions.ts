// A made-up ledger with transactions that did much: one has many events, another wrote a group with many members.
import { ByteReader, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { signedLedgerInfo, validatorsOf } from '@ledger-state/feed/testing/synthetic-epochs'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { AccumulatorFrontier, DEFAULT_HASH_SALT, LedgerHasher } from '@ledger-state/proof'
import { computeEventRoot } from '@ledger-state/proof/transactions'
import { CHECKPOINT_KEY, checkpointToBytes, WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { TransactionGroup } from '@ledger-state/records/transaction-group'
import { moduleKey, parseStructTag, resourceGroupKey, writeTypeTag } from '@ledger-state/type-tag'
import { groupOfTypes } from './group-of-types.ts'

/** Address with the module, the group and the event stream 0. */
export const OWNER = parseAddress('0xcafe')
export const EVENT_TYPE = '0xcafe::a::E'
/** Versions of the transaction with the events, and of the one that wrote the group. */
export const EVENTS_AT = 1n
export const GROUP_AT = 2n
/** Types of the members of the group. */
const PARTS = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address']
export const MEMBER_TYPES = PARTS.flatMap((a) => PARTS.map((b) => `0xcafe::a::A<${a}, ${b}>`))
export const GROUP_KEY = resourceGroupKey(OWNER, parseStructTag('0x1::object::ObjectGroup'))

const hasher = new LedgerHasher()
const NOTHING = Uint8Array.of(0)

/** Creates the ledger of four versions. Validators signed the last one. */
export async function createLongTransactions(eventCount: number): Promise<StateWriter> {
  const module: Write = [moduleKey(OWNER, 'a'), moduleBytes()]
  const contents = [
    { writes: [module], events: NOTHING },
    { writes: [], events: eventsOf(eventCount) },
    { writes: [[GROUP_KEY, groupOfTypes(MEMBER_TYPES)] satisfies Write], events: NOTHING },
    { writes: [], events: NOTHING },
  ]
  const made = contents.map(({ writes, events }, at) => ({ writes, ...transactionOf(at, writes, events) }))
  const leaves = made.map(({ info }) => hasher.hash('TransactionInfo', info))
  const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  const group = new TransactionGroup(0n)
  const versions = made.map(({ writes, ...transaction }, at) => {
    const version = BigInt(at)
    const leaf = leaves[at]!
    frontier.append(leaf)
    const bytes = frontier.toBytes()
    const own: Write[] = [...writes]
    if (at === made.length - 1) own.push([CHECKPOINT_KEY, checkpointOf(leaves, transaction.info, frontier.root())])
    own.push(...group.add(version, { ...transaction, indexInBlock: undefined, leaf, readFrontier: () => bytes }, own))
    if (at === 0) own.push([WHOLE_TRANSACTIONS_KEY, Buffer.from(DEFAULT_HASH_SALT)])
    return { version, block: { height: version, epoch: 1n, timestampUsec: version }, writes: own }
  })
  const grouped = group.toWrites().writes
  for (const { version, writes } of versions) writes.push(...(grouped.get(version) ?? []))
  const engine = createMemoryEngine()
  await engine.commit(versions, { chainId: 4n })
  return engine
}

function transactionOf(at: number, writes: readonly Write[], events: Uint8Array) {
  const transaction = new ByteWriter()
    .u8(0)
    .bytes(OWNER)
    .u64(BigInt(at))
    .u8(0)
    .byteString(NOTHING)
    .bytes(Uint8Array.of(0, 0))
    .u64(2_000n)
    .u64(100n)
    .u64(1_700_000_000n)
    .u8(4)
    .u8(0)
    .byteString(new Uint8Array(32))
    .byteString(new Uint8Array(64))
    .toBytes()
  const set = new ByteWriter().u8(0).uleb128(writes.length)
  for (const [key, value] of writes) set.bytes(key).u8(1).byteString(value!)
  const writeSet = set.toBytes()
  const info = new ByteWriter()
    .bytes(Uint8Array.of(0))
    .u64(17n)
    .u8(0)
    .bytes(hasher.hash('Transaction', transaction))
    .bytes(computeEventRoot(new ByteReader(events), hasher))
    .bytes(hasher.hash('WriteSet', writeSet))
    .bool(false)
    .bool(false)
    .toBytes()
  return { transaction, info, events, writeSet }
}

/** The checkpoint of the last of four versions. */
function checkpointOf(leaves: readonly Uint8Array[], transactionInfo: Uint8Array, root: Uint8Array): Uint8Array {
  const left = hasher.hashPair('TransactionAccumulator', leaves[0]!, leaves[1]!)
  const validators = validatorsOf(1)
  const version = BigInt(leaves.length - 1)
  const ledgerInfo = signedLedgerInfo({
    epoch: 1n,
    version,
    root,
    nextEpoch: undefined,
    validators,
    signers: validators,
  })
  return checkpointToBytes({ version, transactionInfo, siblings: [leaves[2]!, left], ledgerInfo })
}

/** Events of stream 0 of the owner, with their numbers as data. */
function eventsOf(count: number): Uint8Array {
  const tag = new ByteWriter()
  writeTypeTag(tag, parseStructTag(EVENT_TYPE))
  const writer = new ByteWriter().uleb128(count)
  for (let at = 0n; at < count; at++) {
    writer.u8(0).u64(0n).bytes(OWNER).u64(at).bytes(tag.toBytes())
    writer.byteString(new ByteWriter().u64(at).toBytes())
  }
  return writer.toBytes()
}

function moduleBytes(): Uint8Array {
  const struct = { kind: 'struct', abilities: ABILITY.key | ABILITY.store } as const
  const phantom = { constraints: 0, phantom: true }
  return writeModule({
    version: 7,
    address: OWNER,
    name: 'a',
    structs: [
      { ...struct, name: 'A', typeParameters: [phantom, phantom], fields: [{ name: 'x', type: { kind: 'bool' } }] },
      { ...struct, name: 'E', typeParameters: [], fields: [{ name: 'x', type: { kind: 'u64' } }] },
    ],
  })
}
