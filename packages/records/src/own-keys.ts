import { ADDRESS_LENGTH } from '@ledger-state/core'
import { allocateBytes, compareBytes, copyBytes } from '@ledger-state/core/bytes'
import { MAX_KEY_LENGTH } from '@ledger-state/engine'
import { sha3 } from '@ledger-state/proof'
import { decodeChangedStores, encodeChangedStores } from './changed-stores.js'
import { bytesToCheckpoint, checkpointToBytes } from './checkpoint.js'
import { BYTES, type Codec, PRESENCE } from './codec.js'
import { bytesToTransaction, type KeptTransaction, transactionToBytes } from './kept-transaction.js'
import { decodeSliceDefinition, encodeSliceDefinition } from './slice/definition.js'
import { decodeSliceLeftOut, encodeSliceLeftOut } from './slice/left-out.js'
import { decodeMember, encodeMember, type MemberKind } from './slice/member.js'
import { decodeValueType, encodeValueType } from './slice/value-type.js'

// Keys of a store's own records, which are not state of the chain. No state key starts with their first byte, so reads
// of state do not find them. Prunes, truncations and replicas treat them like all other keys.

const OWN = 0xfe

/** A family of keys: those that begin with the two bytes of its prefix, and have a length of the family. */
export interface KeyFamily<Value = unknown> {
  readonly prefix: Uint8Array
  /** Least and greatest number of bytes after the prefix. */
  readonly suffixLength: readonly [least: number, greatest: number]
  /** Meaning of the bytes after the prefix; empty if there are none. */
  readonly suffix: string
  /** Meaning of the value. */
  readonly value: string
  readonly codec: Codec<Value>
  /** Who writes the keys, and when. */
  readonly writtenBy: string
  /** Who deletes the keys, and when. */
  readonly deletedBy: string
}

interface FamilyFacts<Value> extends Omit<KeyFamily<Value>, 'prefix' | 'suffixLength' | 'suffix'> {
  readonly suffix?: string
  readonly suffixLength?: KeyFamily['suffixLength']
}

function family<Value>(tag: number, facts: FamilyFacts<Value>): KeyFamily<Value> {
  return { suffix: '', suffixLength: [0, 0], ...facts, prefix: Uint8Array.of(OWN, tag) }
}

const TRANSACTION: Codec<KeptTransaction | undefined> = {
  encode: (transaction) => transactionToBytes(transaction!),
  decode: bytesToTransaction,
}
const MEMBER = { encode: encodeMember, decode: decodeMember }
const NOBODY = 'nobody'
const U32_LENGTH = 4
const U64_LENGTH = 8
/** Most bytes of the name of a coin type: see `coinNameOf`. */
export const LONGEST_COIN_NAME = 4_096
const HASH_PREFIX_LENGTH = 2
const NO_PREFIX = new Uint8Array(0)
const EVENT_TYPE_LENGTH = 16
const WITH_WHOLE = 'each version that comes with its whole transaction'
const EXPIRED = 'an ingest, after `--retain-transactions`'
const FIRST_OF_BLOCK = 'the first of successive versions committed together with their whole transactions'
const FIRST_OF_GROUP = 'the first of the versions committed together with their whole transactions'

/**
 * All families of own keys. Add a family here and in docs/storage.md, "Keys of a store"; give it a second byte that no
 * other family has.
 */
export const KEY_FAMILIES = {
  stateRoot: family(0x01, {
    value: 'root of the state, 32 bytes',
    codec: BYTES,
    writtenBy: 'the last version of each block, if the source has the root',
    deletedBy: NOBODY,
  }),
  accumulatorRoot: family(0x02, {
    value: "root of the ledger's accumulator, 32 bytes",
    codec: BYTES,
    writtenBy: 'the last version of each block that no signed ledger info covers yet',
    deletedBy: NOBODY,
  }),
  epochEnding: family(0x03, {
    suffix: 'u64 epoch',
    suffixLength: [U64_LENGTH, U64_LENGTH],
    value: 'ledger info that ends the epoch, with its signatures, packed (`records/src/epoch-change.ts`)',
    codec: BYTES,
    writtenBy: 'the last version of the commit after its signatures were checked',
    deletedBy: NOBODY,
  }),
  transactions: family(0x04, {
    value: 'empty: versions come with their transactions',
    codec: PRESENCE,
    writtenBy: 'the first version with its transaction',
    deletedBy: 'the first version without it',
  }),
  transaction: family(0x04, {
    suffix: 'u8 lowest six bits of the version',
    suffixLength: [1, 1],
    value: 'transaction that made the version, if this version wrote the key (`records/src/kept-transaction.ts`)',
    codec: TRANSACTION,
    writtenBy: 'each version that writes state, in a store that keeps transactions',
    deletedBy: NOBODY,
  }),
  slice: family(0x05, {
    value: 'definition of the slice (`records/src/slice/definition.ts`)',
    codec: { encode: encodeSliceDefinition, decode: decodeSliceDefinition },
    writtenBy: 'the first version of a store that keeps a slice',
    deletedBy: NOBODY,
  }),
  sliceAccount: family(0x06, {
    suffix: 'address, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value: 'account or object of the slice (`records/src/slice/member.ts`)',
    codec: MEMBER,
    writtenBy: 'the version with which it joins',
    deletedBy: NOBODY,
  }),
  sliceTable: family(0x07, {
    suffix: 'handle, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value: 'table of the slice (`records/src/slice/member.ts`)',
    codec: MEMBER,
    writtenBy: 'the version with which it joins, or that shows its type',
    deletedBy: NOBODY,
  }),
  sliceType: family(0x08, {
    suffix: 'u32 number',
    suffixLength: [U32_LENGTH, U32_LENGTH],
    value: 'type of the values of tables of the slice, BCS',
    codec: { encode: encodeValueType, decode: decodeValueType },
    writtenBy: 'the version with the first table of the type',
    deletedBy: NOBODY,
  }),
  checkpoint: family(0x09, {
    value: 'proof that a signed ledger info commits to the state of a version (`records/src/checkpoint.ts`)',
    codec: { encode: checkpointToBytes, decode: bytesToCheckpoint },
    writtenBy: 'the last version of a block whose source has the proof, or of the commit after it was found',
    deletedBy: NOBODY,
  }),
  sliceLeftOut: family(0x0a, {
    value: 'counts of the state and writes that the slice left out (`records/src/slice/left-out.ts`)',
    codec: { encode: encodeSliceLeftOut, decode: decodeSliceLeftOut },
    writtenBy: 'the last version of each commit that left something out',
    deletedBy: NOBODY,
  }),
  sliceDeletion: family(0x0b, {
    suffix: 'key of the state',
    suffixLength: [0, MAX_KEY_LENGTH - 2],
    value: 'empty: the version deletes the key of a member that is not known completely',
    codec: PRESENCE,
    writtenBy: 'the version that deletes the key',
    deletedBy: NOBODY,
  }),
  holdings: family(0x0c, {
    value: 'empty: the store has an index of holdings, complete for all its versions that have this key',
    codec: PRESENCE,
    writtenBy: 'the first version of a store with the index',
    deletedBy: 'the first version of an ingest with `--holdings off`',
  }),
  ownedObject: family(0x0d, {
    suffix: 'owner, 32 bytes · object, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH, 2 * ADDRESS_LENGTH],
    value: 'empty: the owner has the object, which has no fungible store',
    codec: PRESENCE,
    writtenBy: 'the version with which the object gets this owner, or loses its store',
    deletedBy: 'the version with which it has another owner, gets a store, or ends',
  }),
  ownedStore: family(0x0e, {
    suffix: 'owner, 32 bytes · fungible store, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH, 2 * ADDRESS_LENGTH],
    value: 'address of the metadata of the asset that the store holds',
    codec: BYTES,
    writtenBy: 'the version with which the owner gets the store, or the store this asset',
    deletedBy: 'the version with which it has another owner, or ends',
  }),
  storeOfAsset: family(0x0f, {
    suffix: 'metadata of an asset, 32 bytes · fungible store, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH, 2 * ADDRESS_LENGTH],
    value: 'empty: the store holds the asset',
    codec: PRESENCE,
    writtenBy: 'the version with which the store begins',
    deletedBy: 'the version with which it ends',
  }),
  tokenOfCollection: family(0x10, {
    suffix: 'collection, 32 bytes · token, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH, 2 * ADDRESS_LENGTH],
    value: 'empty: the token belongs to the collection',
    codec: PRESENCE,
    writtenBy: 'the version with which the token begins',
    deletedBy: 'the version with which it ends',
  }),
  ownedCoin: family(0x11, {
    suffix: 'account, 32 bytes · name of a coin type',
    suffixLength: [ADDRESS_LENGTH + 1, ADDRESS_LENGTH + LONGEST_COIN_NAME],
    value: 'empty, or the coin type in BCS if its name cannot be parsed (`records/src/holdings/holding-keys.ts`)',
    codec: BYTES,
    writtenBy: 'the version with which the account gets a coin store of the type',
    deletedBy: 'the version with which that ends',
  }),
  accountOfCoin: family(0x12, {
    suffix: 'SHA3-256 of a coin type in BCS · account, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH, 2 * ADDRESS_LENGTH],
    value: 'empty: the account has a coin store of the type',
    codec: PRESENCE,
    writtenBy: 'the version with which the account gets it',
    deletedBy: 'the version with which it ends',
  }),
  endedStore: family(0x13, {
    suffix: 'owner, 32 bytes · u64 version · fungible store, 32 bytes',
    suffixLength: [2 * ADDRESS_LENGTH + U64_LENGTH, 2 * ADDRESS_LENGTH + U64_LENGTH],
    value: 'address of the metadata of the asset that the owner no longer has in this store since the version',
    codec: BYTES,
    writtenBy: 'the version in the key',
    deletedBy: 'an ingest, once the version in the key is not above the oldest version',
  }),
  endedCoin: family(0x14, {
    suffix: 'account, 32 bytes · u64 version · name of a coin type',
    suffixLength: [ADDRESS_LENGTH + U64_LENGTH + 1, ADDRESS_LENGTH + U64_LENGTH + LONGEST_COIN_NAME],
    value: 'as under `fe11`: the account no longer has a coin store of the type since the version',
    codec: BYTES,
    writtenBy: 'the version in the key',
    deletedBy: 'an ingest, once the version in the key is not above the oldest version',
  }),
  changedStores: family(0x15, {
    suffix: 'owner of many fungible stores, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value:
      'u64 version of the first such row (+ 2^63 if this row names all earlier stores) · first 3 bytes of the address of each written store',
    codec: { encode: encodeChangedStores, decode: decodeChangedStores },
    writtenBy: 'each version that writes a store of the owner, once an ingest has found that it has many',
    deletedBy: NOBODY,
  }),
  wholeTransactions: family(0x20, {
    value:
      "word of the ledger's hashes: versions come with their whole transactions; empty: a slice was not given them. Left-out indexes are before it (`records/src/whole-transactions-mark.ts`)",
    codec: BYTES,
    writtenBy: 'the first version with its whole transaction, and the first one after a gap',
    deletedBy: 'the first version without it',
  }),
  transactionBlock: family(0x20, {
    suffix: 'u8 lowest six bits of version ÷ 128',
    suffixLength: [1, 1],
    value:
      'transactions of the version and of some that follow (`records/src/transaction-block.ts`), or empty: that of the version is not kept',
    codec: BYTES,
    writtenBy: FIRST_OF_BLOCK,
    deletedBy: NOBODY,
  }),
  transactionHash: family(0x21, {
    suffix: 'first 16 bits of the hash of the transaction',
    suffixLength: [HASH_PREFIX_LENGTH, HASH_PREFIX_LENGTH],
    value: 'bytes 2 to 5 of the hash',
    codec: BYTES,
    writtenBy: WITH_WHOLE,
    deletedBy: NOBODY,
  }),
  sequenceNumber: family(0x22, {
    suffix: 'address of a sender, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value: 'versions of its transactions in the group, and their sequence numbers (`records/src/grouped-versions.ts`)',
    codec: BYTES,
    writtenBy: FIRST_OF_GROUP,
    deletedBy: NOBODY,
  }),
  nonce: family(0x23, {
    suffix: 'address of a sender, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value: 'versions of its transactions in the group that have no sequence number',
    codec: BYTES,
    writtenBy: FIRST_OF_GROUP,
    deletedBy: NOBODY,
  }),
  affectedAccount: family(0x24, {
    suffix: 'address or table handle, 32 bytes',
    suffixLength: [ADDRESS_LENGTH, ADDRESS_LENGTH],
    value: 'versions of the group that wrote a module, a resource or a group at the address, or an item of the table',
    codec: BYTES,
    writtenBy: FIRST_OF_GROUP,
    deletedBy: NOBODY,
  }),
  eventStream: family(0x25, {
    suffix: 'address, 32 bytes, u64 creation number',
    suffixLength: [ADDRESS_LENGTH + U64_LENGTH, ADDRESS_LENGTH + U64_LENGTH],
    value: 'versions of the group with events of the stream, and the sequence number of the last event of each',
    codec: BYTES,
    writtenBy: FIRST_OF_GROUP,
    deletedBy: NOBODY,
  }),
  eventType: family(0x26, {
    suffix: 'first 16 bytes of the SHA3-256 of the type in BCS',
    suffixLength: [EVENT_TYPE_LENGTH, EVENT_TYPE_LENGTH],
    value: 'versions of the group that have an event of the type',
    codec: BYTES,
    writtenBy: FIRST_OF_GROUP,
    deletedBy: NOBODY,
  }),
  retained: family(0x27, {
    value: "u64 oldest version whose transaction is retained · word before the names of the ledger's hashes",
    codec: BYTES,
    writtenBy: 'the first version whose transaction is retained longer than its state',
    deletedBy: 'an ingest without `--retain-transactions`, once none is retained',
  }),
  retainedBlock: family(0x27, {
    suffix: 'u64 version',
    suffixLength: [U64_LENGTH, U64_LENGTH],
    value: 'as under `fe20` and a byte, with the values of write sets',
    codec: BYTES,
    writtenBy: FIRST_OF_BLOCK,
    deletedBy: EXPIRED,
  }),
  retainedIndex: family(0x28, {
    suffix: 'a key of `fe21` to `fe26` without its first byte · u64 version',
    suffixLength: [1 + HASH_PREFIX_LENGTH + U64_LENGTH, 1 + ADDRESS_LENGTH + 2 * U64_LENGTH],
    value: 'as under that key',
    codec: BYTES,
    writtenBy: FIRST_OF_BLOCK,
    deletedBy: EXPIRED,
  }),
} as const satisfies Record<string, KeyFamily>

/** Whether a key belongs to the store, and not to the state of the chain. */
export function isOwnKey(key: Uint8Array): boolean {
  return key[0] === OWN
}

/** Key of the root of the state, 32 bytes. */
export const STATE_ROOT_KEY = KEY_FAMILIES.stateRoot.prefix

/** Key of the root of the ledger's accumulator, 32 bytes. */
export const ACCUMULATOR_ROOT_KEY = KEY_FAMILIES.accumulatorRoot.prefix

/** Key of a signed checkpoint. */
export const CHECKPOINT_KEY = KEY_FAMILIES.checkpoint.prefix

/** Prefix of the keys of epoch changes: see `epochEndingKey`. */
export const EPOCH_ENDING_PREFIX = KEY_FAMILIES.epochEnding.prefix

/** Key of an epoch change with verified signatures. */
export function epochEndingKey(epoch: bigint): Uint8Array {
  const key = withSuffixLength(EPOCH_ENDING_PREFIX, U64_LENGTH)
  new DataView(key.buffer).setBigUint64(EPOCH_ENDING_PREFIX.length, epoch)
  return key
}

/** Epoch of a key that `epochEndingKey` made. */
export function epochOfKey(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset).getBigUint64(EPOCH_ENDING_PREFIX.length)
}

/**
 * Key that has an empty value as long as versions come with the transactions that made them. The first of these
 * versions writes it, and the first version without a transaction deletes it.
 */
export const TRANSACTIONS_KEY = KEY_FAMILIES.transactions.prefix

/**
 * Number of keys that take turns with transactions: neighbouring versions write different keys, so a database that is
 * sharded by key spreads them.
 */
const TRANSACTION_LANES = 64

const TRANSACTION_KEYS: readonly Uint8Array[] = Array.from({ length: TRANSACTION_LANES }, (_, lane) =>
  Uint8Array.of(...KEY_FAMILIES.transaction.prefix, lane),
)

/**
 * Key under which a version writes the transaction that made it (`transactionToBytes`). Other versions share the key:
 * the record belongs to this version only if this version wrote it.
 */
export function transactionKey(version: bigint): Uint8Array {
  return TRANSACTION_KEYS[Number(version % BigInt(TRANSACTION_LANES))]!
}

/** Whether a key is one of `transactionKey`. */
export function isTransactionKey(key: Uint8Array): boolean {
  const { prefix } = KEY_FAMILIES.transaction
  return key.length === prefix.length + 1 && key[0] === OWN && key[1] === prefix[1]
}

/**
 * Key that exists as long as versions come with their whole transactions, except in a gap: where a slice resumed within a
 * block of its source, and was not given them. Its value is in whole-transactions-mark.ts.
 */
export const WHOLE_TRANSACTIONS_KEY = KEY_FAMILIES.wholeTransactions.prefix

const TRANSACTION_BLOCK_KEYS: readonly Uint8Array[] = Array.from({ length: TRANSACTION_LANES }, (_, lane) =>
  Uint8Array.of(...KEY_FAMILIES.transactionBlock.prefix, lane),
)

/** Number of versions of a run: a block of transactions lies within one run. */
export const RUN_VERSIONS = 128n

/**
 * Key of the blocks of the run of a version. The newest of them at the version has its transaction, if that block
 * belongs to the run: as for `transactionKey`, other runs share the key.
 */
export function transactionBlockKey(version: bigint): Uint8Array {
  return TRANSACTION_BLOCK_KEYS[Number((version / RUN_VERSIONS) % BigInt(TRANSACTION_LANES))]!
}

/**
 * Key that the version of a transaction with this hash writes. One in 65,536 other versions writes the same key, so the
 * keys of pruned versions take little space.
 * @param at where the hash begins in the bytes
 */
export function transactionHashKey(bytes: Uint8Array, at = 0): Uint8Array {
  return withPart(KEY_FAMILIES.transactionHash.prefix, bytes, at, at + HASH_PREFIX_LENGTH)
}

/** Value under `transactionHashKey`. @param at where the hash begins in the bytes */
export function transactionHashMark(bytes: Uint8Array, at = 0): Uint8Array {
  return withPart(NO_PREFIX, bytes, at + HASH_PREFIX_LENGTH, at + HASH_PREFIX_LENGTH + 4)
}

/** Whether a key belongs to whole transactions, or to the indexes of them. */
export function isWholeTransactionKey(key: Uint8Array): boolean {
  const [first, last] = [KEY_FAMILIES.wholeTransactions.prefix[1]!, KEY_FAMILIES.retainedIndex.prefix[1]!]
  return key[0] === OWN && key[1]! >= first && key[1]! <= last
}

/** Key that exists as long as transactions are retained longer than the state. */
export const RETAINED_KEY = KEY_FAMILIES.retained.prefix

/** Key of a block of transactions that are retained longer than the state. */
export function retainedBlockKey(version: bigint): Uint8Array {
  return withVersion(RETAINED_KEY, version)
}

/** Prefix of the keys under which an index names retained transactions. @param key as for other transactions */
export function retainedIndexPrefix(key: Uint8Array): Uint8Array {
  return withSuffix(KEY_FAMILIES.retainedIndex.prefix, key.subarray(1))
}

/** Key of an index for retained transactions. @param key as for other transactions */
export function retainedIndexKey(key: Uint8Array, version: bigint): Uint8Array {
  return withVersion(retainedIndexPrefix(key), version)
}

/** Key with a prefix and a version. */
export function withVersion(prefix: Uint8Array, version: bigint): Uint8Array {
  const key = withSuffixLength(prefix, U64_LENGTH)
  new DataView(key.buffer).setBigUint64(prefix.length, version)
  return key
}

/** Version at the end of a key of `withVersion`. */
export function versionOfKey(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset).getBigUint64(key.length - U64_LENGTH)
}

/** Value under `RETAINED_KEY`. */
export function encodeRetained(oldestVersion: bigint, hashSalt: string): Uint8Array {
  const salt = new TextEncoder().encode(hashSalt)
  const bytes = new Uint8Array(U64_LENGTH + salt.length)
  new DataView(bytes.buffer).setBigUint64(0, oldestVersion)
  bytes.set(salt, U64_LENGTH)
  return bytes
}

/** Decodes the bytes of `encodeRetained`. */
export function decodeRetained(bytes: Uint8Array): { readonly oldestVersion: bigint; readonly hashSalt: string } {
  return {
    oldestVersion: new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0),
    hashSalt: new TextDecoder().decode(bytes.subarray(U64_LENGTH)),
  }
}

/** Key of the versions of a sender's transactions with sequence numbers. */
export function sequenceNumberKey(sender: Uint8Array): Uint8Array {
  return withSuffix(KEY_FAMILIES.sequenceNumber.prefix, sender)
}

/** Key of the versions of a sender's transactions without sequence numbers. */
export function nonceKey(sender: Uint8Array): Uint8Array {
  return withSuffix(KEY_FAMILIES.nonce.prefix, sender)
}

/**
 * Key of the versions that wrote something at an address, or an item of the table with this handle.
 * @param at where the address begins in the bytes
 */
export function affectedAccountKey(bytes: Uint8Array, at = 0): Uint8Array {
  return withPart(KEY_FAMILIES.affectedAccount.prefix, bytes, at, at + ADDRESS_LENGTH)
}

/** Key of the versions with events of a stream. */
export function eventStreamKey(address: Uint8Array, creationNumber: bigint): Uint8Array {
  const key = withSuffixLength(KEY_FAMILIES.eventStream.prefix, ADDRESS_LENGTH + U64_LENGTH)
  key.set(address, 2)
  new DataView(key.buffer).setBigUint64(2 + ADDRESS_LENGTH, creationNumber)
  return key
}

/** Key of the versions that have an event of a type, which is given in BCS. */
export function eventTypeKey(type: Uint8Array): Uint8Array {
  return withSuffix(KEY_FAMILIES.eventType.prefix, sha3(type).subarray(0, EVENT_TYPE_LENGTH))
}

/**
 * Key of the definition of a slice. Only stores that keep a slice of their ledger have it, since their first version.
 */
export const SLICE_KEY = KEY_FAMILIES.slice.prefix

/** Prefix of the keys of accounts and objects that a slice keeps. */
export const SLICE_ACCOUNT_PREFIX = KEY_FAMILIES.sliceAccount.prefix

/** Prefix of the keys of tables that a slice keeps. */
export const SLICE_TABLE_PREFIX = KEY_FAMILIES.sliceTable.prefix

/** Offset of the address or handle in a `memberKey`. */
export const MEMBER_ID_AT = SLICE_ACCOUNT_PREFIX.length

/** Key of the store's record of an account or table of its slice. */
export function memberKey(kind: MemberKind, id: Uint8Array): Uint8Array {
  return withSuffix(kind === 'account' ? SLICE_ACCOUNT_PREFIX : SLICE_TABLE_PREFIX, id)
}

/** Kind of the member with a `memberKey`; undefined for other keys. */
export function memberKindOf(key: Uint8Array): MemberKind | undefined {
  if (key[0] !== OWN) return undefined
  if (key[1] === SLICE_ACCOUNT_PREFIX[1]) return 'account'
  return key[1] === SLICE_TABLE_PREFIX[1] ? 'table' : undefined
}

/** Address or handle of a `memberKey`. */
export function memberIdOf(key: Uint8Array): Uint8Array {
  return copyBytes(key, MEMBER_ID_AT)
}

/** Prefix of the keys of types of table values that a slice knows. */
export const SLICE_TYPE_PREFIX = KEY_FAMILIES.sliceType.prefix

/** Key of a type that a slice keeps, by its number. */
export function sliceTypeKey(number: number): Uint8Array {
  const key = withSuffixLength(SLICE_TYPE_PREFIX, U32_LENGTH)
  new DataView(key.buffer).setUint32(SLICE_TYPE_PREFIX.length, number)
  return key
}

/** Number of a `sliceTypeKey`; undefined for other keys. */
export function sliceTypeNumberOf(key: Uint8Array): number | undefined {
  if (key[0] !== OWN || key[1] !== SLICE_TYPE_PREFIX[1]) return undefined
  return new DataView(key.buffer, key.byteOffset).getUint32(SLICE_TYPE_PREFIX.length)
}

/** Key of the counts of the data that a slice leaves out. */
export const SLICE_LEFT_OUT_KEY = KEY_FAMILIES.sliceLeftOut.prefix

/** Whether a key is `SLICE_LEFT_OUT_KEY`. */
export function isSliceLeftOutKey(key: Uint8Array): boolean {
  return key.length === SLICE_LEFT_OUT_KEY.length && compareBytes(key, SLICE_LEFT_OUT_KEY) === 0
}

/**
 * Whether a slice can note that a version deletes a key. The key of the note is 2 bytes longer, and must not be too
 * long for a store. Without the note, a store has no trace of the deletion of a key that it never had.
 */
export function canNoteDeletion(key: Uint8Array): boolean {
  return key.length <= KEY_FAMILIES.sliceDeletion.suffixLength[1]
}

/** Key of the note that a version deletes a key; undefined if the key is too long to be noted. */
export function sliceDeletionKey(key: Uint8Array): Uint8Array | undefined {
  return canNoteDeletion(key) ? withSuffix(KEY_FAMILIES.sliceDeletion.prefix, key) : undefined
}

const SLICE_TAGS = new Set(
  Object.entries(KEY_FAMILIES).flatMap(([name, { prefix }]) => (name.startsWith('slice') ? [prefix[1]!] : [])),
)

/** Whether a key is a record of a slice: its members, deletions or counts of omitted data. */
export function isSliceKey(key: Uint8Array): boolean {
  return key[0] === OWN && SLICE_TAGS.has(key[1]!)
}

/** Key that exists as long as the index of holdings is complete. */
export const HOLDINGS_KEY = KEY_FAMILIES.holdings.prefix

const FIRST_HOLDINGS_TAG = KEY_FAMILIES.holdings.prefix[1]!
const LAST_HOLDINGS_TAG = KEY_FAMILIES.changedStores.prefix[1]!

/** Whether a key belongs to the index of holdings, which is derived from the state. */
export function isHoldingsKey(key: Uint8Array): boolean {
  return key[0] === OWN && key[1]! >= FIRST_HOLDINGS_TAG && key[1]! <= LAST_HOLDINGS_TAG
}

/** Whether a key of the index of holdings is about a current holding, not an ended one. */
export function isRowOfHeld(key: Uint8Array): boolean {
  return isHoldingsKey(key) && key[1]! > FIRST_HOLDINGS_TAG && key[1]! < KEY_FAMILIES.endedStore.prefix[1]!
}

/** Families of the index of holdings whose keys are two names; the first is an address or a hash. */
export type HoldingsFamily =
  | 'ownedObject'
  | 'ownedStore'
  | 'storeOfAsset'
  | 'tokenOfCollection'
  | 'ownedCoin'
  | 'accountOfCoin'
  | 'endedStore'
  | 'endedCoin'

/** Length of `holdingsPrefix`. */
export const HOLDINGS_PREFIX_LENGTH = 2 + ADDRESS_LENGTH

/**
 * Prefix of the keys of a family that belong to one owner, asset or collection.
 * @param first its address; for `accountOfCoin`, the hash of the coin type
 */
export function holdingsPrefix(family: HoldingsFamily, first: Uint8Array): Uint8Array {
  return withSuffix(KEY_FAMILIES[family].prefix, first)
}

/** Key of the index of holdings: a `holdingsPrefix`, and the item. */
export function holdingsKey(
  family: Exclude<HoldingsFamily, 'endedStore' | 'endedCoin'>,
  first: Uint8Array,
  second: Uint8Array,
): Uint8Array {
  const { prefix } = KEY_FAMILIES[family]
  const key = allocateBytes(prefix.length + first.length + second.length)
  key[0] = prefix[0]!
  key[1] = prefix[1]!
  key.set(first, prefix.length)
  key.set(second, prefix.length + first.length)
  return key
}

/**
 * Key of the note that an owner no longer has a store since a version. With an empty `second`, the least key of the
 * version.
 */
export function endedKey(
  family: 'endedStore' | 'endedCoin',
  owner: Uint8Array,
  version: bigint,
  second: Uint8Array,
): Uint8Array {
  const prefix = holdingsPrefix(family, owner)
  const key = withSuffixLength(prefix, U64_LENGTH + second.length)
  new DataView(key.buffer).setBigUint64(prefix.length, version)
  key.set(second, prefix.length + U64_LENGTH)
  return key
}

/** Version and name in an `endedKey`. */
export function endedIn(key: Uint8Array): { readonly version: bigint; readonly second: Uint8Array } {
  const version = new DataView(key.buffer, key.byteOffset).getBigUint64(HOLDINGS_PREFIX_LENGTH)
  return { version, second: copyBytes(key, HOLDINGS_PREFIX_LENGTH + U64_LENGTH) }
}

/** Prefix of the keys of `changedStoresKey`. */
export const CHANGED_STORES_PREFIX = KEY_FAMILIES.changedStores.prefix

/** Key of the stores of an owner of many that a version wrote. */
export function changedStoresKey(owner: Uint8Array): Uint8Array {
  return withSuffix(CHANGED_STORES_PREFIX, owner)
}

/** Owner of a `changedStoresKey`. */
export function ownerOfChangedStores(key: Uint8Array): Uint8Array {
  return copyBytes(key, CHANGED_STORES_PREFIX.length)
}

function withSuffixLength(prefix: Uint8Array, length: number): Uint8Array {
  const key = new Uint8Array(prefix.length + length)
  for (let at = 0; at < prefix.length; at++) key[at] = prefix[at]!
  return key
}

function withSuffix(prefix: Uint8Array, suffix: Uint8Array): Uint8Array {
  const key = withSuffixLength(prefix, suffix.length)
  key.set(suffix, prefix.length)
  return key
}

/** The prefix and `bytes[start, end)`. A view of a part takes longer to make than a loop over an address. */
function withPart(prefix: Uint8Array, bytes: Uint8Array, start: number, end: number): Uint8Array {
  const key = withSuffixLength(prefix, end - start)
  for (let at = start; at < end; at++) key[prefix.length + at - start] = bytes[at]!
  return key
}
