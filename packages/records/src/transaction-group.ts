import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, type Write } from '@ledger-state/core'
import type { LedgerHasher } from '@ledger-state/proof'
import { readEventHead, visitWriteSet } from '@ledger-state/proof/transactions'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { encodeGroupedVersions, type GroupedVersion } from './grouped-versions.js'
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
import { TransactionBlockWriter } from './transaction-block-writer.js'
import type { WholeTransaction } from './whole-transaction.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32
const NO_FACTS: OwnFacts = { timestampUsec: 0n }

interface GroupedKey {
  readonly key: Uint8Array
  readonly hasNumbers: boolean
  readonly versions: GroupedVersion[]
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
  #block: TransactionBlockWriter | undefined
  /** The keys of the group, or of the last block of a group whose blocks have keys of their own. */
  #keys = new IndexKeys()

  constructor(firstVersion: bigint, place: TransactionPlace = 'shared') {
    this.firstVersion = firstVersion
    this.#place = place
  }

  /**
   * Adds a later version.
   * @param writes the writes of the version
   * @param ownFacts is stored with the values of the write set
   * @returns the writes of the version itself
   * @throws `invalid_bcs`
   */
  add(version: bigint, whole: WholeTransaction, writes: readonly Write[], ownFacts: OwnFacts = NO_FACTS): Write {
    const { transaction, events, info, leaf } = whole
    const hashesAt = hashesOffset(info)
    const hash = info.subarray(hashesAt, hashesAt + leaf.length)
    this.#blockFor(version, whole).add(whole, hashesAt, writes, ownFacts)
    this.#keys.addSent(version, transaction)
    for (const [key] of writes) this.#keys.addAffected(version, key)
    this.#keys.addEvents(version, events)
    return [this.#keyAt(transactionHashKey(hash), version), transactionHashMark(hash)]
  }

  #blockFor(version: bigint, whole: WholeTransaction): TransactionBlockWriter {
    if (this.#block?.hasRoomFor(version, whole)) return this.#block
    this.#endBlock()
    const group = this.#place === 'own' ? version : this.firstVersion
    const place = { firstVersion: version, group, frontier: whole.readFrontier() }
    this.#block = new TransactionBlockWriter(place, this.#place !== 'shared')
    return this.#block
  }

  #endBlock(): void {
    const block = this.#block
    if (!block) return
    const { firstVersion, end } = block
    this.#ended.push({ firstVersion, end, bytes: block.toBytes(), keys: this.#keys })
    if (this.#place === 'own') this.#keys = new IndexKeys()
  }

  /** Ends the group. */
  toWrites(): GroupWrites {
    this.#endBlock()
    const writes = new Map<bigint, Write[]>()
    const tooLong: bigint[] = []
    for (const { firstVersion, end, bytes: block, keys } of this.#ended) {
      writes.set(firstVersion, [block ? [blockKeyAt(this.#place, firstVersion), block] : this.#without(firstVersion)])
      if (!block) for (let version = firstVersion; version < end; version++) tooLong.push(version)
      else if (this.#place === 'own') writes.get(firstVersion)!.push(...this.#rowsOf(keys, firstVersion))
    }
    if (this.#place !== 'own')
      writes.get(this.firstVersion)?.push(...this.#rowsOf(this.#keys, this.firstVersion, tooLong))
    return { writes, tooLong }
  }

  #without(version: bigint): Write {
    return noTransactionWrite(version, this.#place)
  }

  #rowsOf(keys: IndexKeys, group: bigint, without: readonly bigint[] = []): Write[] {
    const writer = new ByteWriter()
    return keys.all().flatMap(({ key, versions, hasNumbers }): Write[] => {
      const kept = without.length === 0 ? versions : versions.filter(({ version }) => !without.includes(version))
      if (kept.length === 0) return []
      return [[this.#keyAt(key, group), encodeGroupedVersions({ group, versions: kept }, hasNumbers, writer)]]
    })
  }

  #keyAt(key: Uint8Array, version: bigint): Uint8Array {
    return this.#place === 'own' ? retainedIndexKey(key, version) : key
  }
}

/** Keys of indexes by family and by name. */
class IndexKeys {
  readonly #keys = { sequence: newKeys(), nonce: newKeys(), affected: newKeys(), stream: newKeys(), type: newKeys() }

  all(): readonly GroupedKey[] {
    return Object.values(this.#keys).flatMap((family) => [...family.values()])
  }

  addSent(version: bigint, transaction: Uint8Array): void {
    const sent = readSent(transaction)
    if (!sent) return
    const { sender } = sent
    const { kind, number } = sent.protection
    const { sequence, nonce } = this.#keys
    if (kind === 'nonce') addTo(nonce, nameOf(sender), version, () => nonceKey(sender))
    else addTo(sequence, nameOf(sender), version, () => sequenceNumberKey(sender), number)
  }

  addAffected(version: bigint, key: Uint8Array): void {
    if (key[0] !== ACCESS_PATH && key[0] !== TABLE_ITEM) return
    const name = nameOf(key, STATE_KEY_ADDRESS_AT, ADDRESS_END)
    addTo(this.#keys.affected, name, version, () => affectedAccountKey(key.subarray(STATE_KEY_ADDRESS_AT, ADDRESS_END)))
  }

  addEvents(version: bigint, events: Uint8Array): void {
    const reader = new ByteReader(events)
    for (let rest = reader.readLength(); rest > 0; rest--) {
      const { key, type } = readEventHead(reader)
      addTo(this.#keys.type, nameOf(type), version, () => eventTypeKey(type))
      if (!key) continue
      const { address, creationNumber, sequenceNumber } = key
      const name = `${nameOf(address)}${creationNumber}`
      addTo(this.#keys.stream, name, version, () => eventStreamKey(address, creationNumber), sequenceNumber)
    }
  }
}

function newKeys(): Map<string, GroupedKey> {
  return new Map()
}

/** Adds a version to a key, once; the last of its numbers stays. */
function addTo(
  keys: Map<string, GroupedKey>,
  name: string,
  version: bigint,
  makeKey: () => Uint8Array,
  number?: bigint,
): void {
  let entry = keys.get(name)
  if (!entry) {
    entry = { key: makeKey(), hasNumbers: number !== undefined, versions: [] }
    keys.set(name, entry)
  }
  const { versions } = entry
  if (versions.at(-1)?.version === version) versions.pop()
  versions.push({ version, number: number ?? 0n })
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
  const indexes = new IndexKeys()
  const keys: Uint8Array[] = []
  for (const [at, { transaction, events, writeSet }] of transactions.entries()) {
    const version = firstVersion + BigInt(at)
    keys.push(retainedIndexKey(transactionHashKey(hasher.hash('Transaction', transaction)), version))
    indexes.addSent(version, transaction)
    indexes.addEvents(version, events)
    visitWriteSet(new ByteReader(writeSet), ({ key }) => indexes.addAffected(version, key))
  }
  return [...keys, ...indexes.all().map(({ key }) => retainedIndexKey(key, firstVersion))]
}

function nameOf(bytes: Uint8Array, start?: number, end?: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return buffer.toString('latin1', start, end)
}
