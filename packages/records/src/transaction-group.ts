import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { LedgerHasher } from '@ledger-state/proof'
import { readEventHead, visitWriteSet } from '@ledger-state/proof/transactions'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { encodeGroupedVersions } from './grouped-versions.js'
import { hashesOffset } from './info-outline.js'
import {
  affectedAccountKey,
  eventStreamKey,
  eventTypeKey,
  nonceKey,
  retainedBlockKey,
  retainedIndexKey,
  sequenceNumberKey,
  transactionBlockKey,
  transactionHashKey,
  transactionHashMark,
} from './own-keys.js'
import { readSent } from './sent-transaction.js'
import type { OwnFacts, StoredTransaction } from './transaction-block.js'
import { BlockParts, TransactionBlockWriter } from './transaction-block-writer.js'
import type { WholeTransaction } from './whole-transaction.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32
const NO_FACTS: OwnFacts = { timestampUsec: 0n }

/** The versions that have a key of an index. */
interface GroupedKey {
  readonly key: Uint8Array
  /** Versions less the first of the group. */
  readonly offsets: number[]
  /** The last number of each version, in a family with numbers. */
  readonly numbers?: bigint[]
}

/**
 * Place of transactions in a store: under keys that other versions share, which a prune drops with the state; the same
 * with the values of their write sets, for a store that lacks some of the state; or under keys of their own, with these
 * values, which stay until they are deleted.
 */
export type TransactionPlace = 'shared' | 'shared_with_values' | 'own'

/** The writes that a group adds to its versions. */
export interface GroupWrites {
  /** By version. */
  readonly writes: ReadonlyMap<bigint, readonly Write[]>
  /** Versions whose transactions are too long for a store. */
  readonly tooLong: readonly bigint[]
}

interface EndedBlock {
  readonly firstVersion: bigint
  /** Version after its last transaction. */
  readonly end: bigint
  /** Undefined if it is too long for a store. */
  readonly bytes: Uint8Array | undefined
  /** Keys of its own, if the group does not have them. */
  readonly keys: IndexKeys
}

/**
 * Whole transactions of versions that are committed together, in blocks. Each key of an index is written once for all of
 * them, by the first version of the group; transactions with keys of their own are deleted block by block, so the first
 * version of each of their blocks writes the keys.
 */
export class TransactionGroup {
  readonly firstVersion: bigint
  readonly #place: TransactionPlace
  readonly #ended: EndedBlock[] = []
  readonly #parts = new BlockParts()
  #block: TransactionBlockWriter | undefined
  /** The keys of the group, or of the last block of a group whose blocks have keys of their own. */
  #keys: IndexKeys

  constructor(firstVersion: bigint, place: TransactionPlace = 'shared') {
    this.firstVersion = firstVersion
    this.#place = place
    this.#keys = new IndexKeys(firstVersion)
  }

  /**
   * Adds a later version.
   * @param writes the writes of the version
   * @param ownFacts is stored with the values of the write set
   * @returns the writes of the version itself
   * @throws `invalid_bcs`
   */
  add(version: bigint, whole: WholeTransaction, writes: readonly Write[], ownFacts: OwnFacts = NO_FACTS): Write {
    const { transaction, events, info } = whole
    // The hash of the transaction is the first of the hashes in its info.
    const hashesAt = hashesOffset(info)
    this.#blockFor(version, whole).add(whole, hashesAt, writes, ownFacts)
    const offset = this.#keys.offsetOf(version)
    this.#keys.addSent(offset, transaction)
    this.#keys.addAffected(offset, writes)
    this.#keys.addEvents(offset, events)
    return [this.#keyAt(transactionHashKey(info, hashesAt), version), transactionHashMark(info, hashesAt)]
  }

  #blockFor(version: bigint, whole: WholeTransaction): TransactionBlockWriter {
    if (this.#block?.hasRoomFor(version, whole)) return this.#block
    this.#endBlock()
    const isOwn = this.#place === 'own'
    if (isOwn) this.#keys = new IndexKeys(version)
    const place = { firstVersion: version, group: isOwn ? version : this.firstVersion, frontier: whole.readFrontier() }
    this.#block = new TransactionBlockWriter(place, this.#place !== 'shared', this.#parts)
    return this.#block
  }

  #endBlock(): void {
    const block = this.#block
    if (!block) return
    const { firstVersion, end } = block
    this.#ended.push({ firstVersion, end, bytes: block.toBytes(), keys: this.#keys })
  }

  /** Ends the group. */
  toWrites(): GroupWrites {
    this.#endBlock()
    const writes = new Map<bigint, Write[]>()
    const tooLong: bigint[] = []
    for (const { firstVersion, end, bytes: block, keys } of this.#ended) {
      const made: Write[] = [block ? [blockKeyAt(this.#place, firstVersion), block] : this.#without(firstVersion)]
      if (!block) for (let version = firstVersion; version < end; version++) tooLong.push(version)
      else if (this.#place === 'own') this.#addRows(made, keys)
      writes.set(firstVersion, made)
    }
    const first = writes.get(this.firstVersion)
    if (first && this.#place !== 'own') this.#addRows(first, this.#keys, tooLong)
    return { writes, tooLong }
  }

  #without(version: bigint): Write {
    return noTransactionWrite(version, this.#place)
  }

  #addRows(writes: Write[], keys: IndexKeys, without: readonly bigint[] = []): void {
    const { firstVersion } = keys
    const writer = new ByteWriter()
    if (without.length > 0) keys.remove(without.map((version) => keys.offsetOf(version)))
    for (const grouped of keys.all())
      writes.push([this.#keyAt(grouped.key, firstVersion), encodeGroupedVersions(firstVersion, grouped, writer)])
  }

  #keyAt(key: Uint8Array, version: bigint): Uint8Array {
    return this.#place === 'own' ? retainedIndexKey(key, version) : key
  }
}

/** Keys of indexes by family and by name, for versions from `firstVersion` on. A version is given as its offset from it. */
class IndexKeys {
  readonly firstVersion: bigint
  readonly #keys = { sequence: newKeys(), nonce: newKeys(), affected: newKeys(), stream: newKeys(), type: newKeys() }

  constructor(firstVersion: bigint) {
    this.firstVersion = firstVersion
  }

  offsetOf(version: bigint): number {
    return Number(version - this.firstVersion)
  }

  *all(): Generator<GroupedKey, void> {
    for (const family of Object.values(this.#keys)) yield* family.values()
  }

  /** Removes some versions, and the keys that have no other. */
  remove(offsets: readonly number[]): void {
    for (const family of Object.values(this.#keys)) {
      for (const [name, { key, ...versions }] of family) {
        const kept = versions.offsets.flatMap((offset, at) => (offsets.includes(offset) ? [] : [at]))
        if (kept.length === 0) family.delete(name)
        else
          family.set(name, {
            key,
            offsets: kept.map((at) => versions.offsets[at]!),
            ...(versions.numbers && { numbers: kept.map((at) => versions.numbers![at]!) }),
          })
      }
    }
  }

  addSent(offset: number, transaction: Uint8Array): void {
    const sent = readSent(transaction)
    if (!sent) return
    const { sender } = sent
    const { kind, number } = sent.protection
    const name = nameOf(sender)
    const { sequence, nonce } = this.#keys
    const isNumbered = kind === 'sequence_number'
    const family = isNumbered ? sequence : nonce
    const known = family.get(name)
    if (known) addTo(known, offset, number)
    else if (isNumbered) family.set(name, { key: sequenceNumberKey(sender), offsets: [offset], numbers: [number] })
    else family.set(name, { key: nonceKey(sender), offsets: [offset] })
  }

  addAffected(offset: number, writes: readonly Write[]): void {
    const { affected } = this.#keys
    let before: Uint8Array | undefined
    for (const [key] of writes) {
      if (key[0] !== ACCESS_PATH && key[0] !== TABLE_ITEM) continue
      // Write sets are sorted, so the keys of an account follow each other.
      if (before && isSameAddress(key, before)) continue
      before = key
      const name = nameOf(key, STATE_KEY_ADDRESS_AT, ADDRESS_END)
      const known = affected.get(name)
      if (known) addTo(known, offset)
      else affected.set(name, { key: affectedAccountKey(key, STATE_KEY_ADDRESS_AT), offsets: [offset] })
    }
  }

  addEvents(offset: number, events: Uint8Array): void {
    const { stream, type: types } = this.#keys
    const reader = new ByteReader(events)
    let before: Uint8Array | undefined
    for (let rest = reader.readLength(); rest > 0; rest--) {
      const { key, type } = readEventHead(reader)
      if (!before || compareBytes(type, before) !== 0) {
        const name = nameOf(type)
        const known = types.get(name)
        if (known) addTo(known, offset)
        else types.set(name, { key: eventTypeKey(type), offsets: [offset] })
      }
      before = type
      if (!key) continue
      const { address, creationNumber, sequenceNumber } = key
      const name = `${nameOf(address)}${creationNumber}`
      const known = stream.get(name)
      if (known) addTo(known, offset, sequenceNumber)
      else {
        const streamKey = eventStreamKey(address, creationNumber)
        stream.set(name, { key: streamKey, offsets: [offset], numbers: [sequenceNumber] })
      }
    }
  }
}

function newKeys(): Map<string, GroupedKey> {
  return new Map()
}

/** Adds a version to a key, once; the last of its numbers stays. */
function addTo({ offsets, numbers }: GroupedKey, offset: number, number = 0n): void {
  const last = offsets.length - 1
  if (offsets[last] === offset) {
    if (numbers) numbers[last] = number
    return
  }
  offsets.push(offset)
  numbers?.push(number)
}

function isSameAddress(key: Uint8Array, other: Uint8Array): boolean {
  for (let at = STATE_KEY_ADDRESS_AT; at < ADDRESS_END; at++) if (key[at] !== other[at]) return false
  return true
}

/** The write by which a version keeps no transaction, whatever the block before it has. */
export function noTransactionWrite(version: bigint, place: TransactionPlace): Write {
  return [blockKeyAt(place, version), new Uint8Array(0)]
}

function blockKeyAt(place: TransactionPlace, version: bigint): Uint8Array {
  return place === 'own' ? retainedBlockKey(version) : transactionBlockKey(version)
}

/** All keys that transactions with keys of their own have in a store, except the one of their block. */
export function ownIndexKeys(
  firstVersion: bigint,
  transactions: readonly StoredTransaction[],
  hasher: LedgerHasher,
): readonly Uint8Array[] {
  const indexes = new IndexKeys(firstVersion)
  const keys: Uint8Array[] = []
  for (const [offset, { transaction, events, writeSet }] of transactions.entries()) {
    const hashKey = transactionHashKey(hasher.hash('Transaction', transaction))
    keys.push(retainedIndexKey(hashKey, firstVersion + BigInt(offset)))
    indexes.addSent(offset, transaction)
    indexes.addEvents(offset, events)
    const writes: Write[] = []
    visitWriteSet(new ByteReader(writeSet), ({ key }) => writes.push([key, null]))
    indexes.addAffected(offset, writes)
  }
  for (const { key } of indexes.all()) keys.push(retainedIndexKey(key, firstVersion))
  return keys
}

function nameOf(bytes: Uint8Array, start?: number, end?: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return buffer.toString('latin1', start, end)
}
