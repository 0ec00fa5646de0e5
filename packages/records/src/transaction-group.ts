import { Buffer } from 'node:buffer'
import { ByteReader, type Write } from '@ledger-state/core'
import { readEventHead } from '@ledger-state/proof/transactions'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { encodeGroupedVersions, type GroupedVersion } from './grouped-versions.js'
import { hashesOffset } from './info-outline.js'
import {
  affectedAccountKey,
  eventStreamKey,
  eventTypeKey,
  nonceKey,
  sequenceNumberKey,
  transactionBlockKey,
  transactionHashKey,
  transactionHashMark,
} from './own-keys.js'
import { readSent } from './sent-transaction.js'
import { FULL_BLOCK_BYTES, RUN_VERSIONS } from './transaction-block.js'
import { TransactionBlockWriter } from './transaction-block-writer.js'
import type { WholeTransaction } from './whole-transaction.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32
const RUN = BigInt(RUN_VERSIONS)

interface GroupedKey {
  readonly key: Uint8Array
  readonly hasNumbers: boolean
  readonly versions: GroupedVersion[]
}

/**
 * Whole transactions of successive versions of one commit: they become one block, and each key of an index is written
 * once for all of them. The first version of the group writes everything except the keys of hashes.
 */
export class TransactionGroup {
  readonly firstVersion: bigint
  readonly #block: TransactionBlockWriter
  /** Keys of indexes by family and by what they name. */
  readonly #keys = { sequence: newKeys(), nonce: newKeys(), affected: newKeys(), stream: newKeys(), type: newKeys() }

  constructor(firstVersion: bigint, first: WholeTransaction) {
    this.firstVersion = firstVersion
    this.#block = new TransactionBlockWriter(first.readFrontier())
  }

  /** Whether a version can join the group. */
  hasRoomFor(version: bigint, { transaction, events }: WholeTransaction): boolean {
    if (version !== this.firstVersion + BigInt(this.#block.count) || version % RUN === 0n) return false
    return this.#block.byteLength + transaction.length + events.length <= FULL_BLOCK_BYTES
  }

  /**
   * Adds the next version.
   * @param writes the writes of the version
   * @returns what the version itself writes
   * @throws `invalid_bcs`
   */
  add(version: bigint, whole: WholeTransaction, writes: readonly Write[]): Write {
    const { transaction, events, info, leaf } = whole
    const hashesAt = hashesOffset(info)
    const hash = info.subarray(hashesAt, hashesAt + leaf.length)
    this.#block.add(whole, hashesAt)
    this.#addSent(version, transaction)
    this.#addAffected(version, writes)
    this.#addEvents(version, events)
    return [transactionHashKey(hash), transactionHashMark(hash)]
  }

  /** What the first version of the group writes. Undefined if that is too long for a store. */
  toWrites(): Write[] | undefined {
    const block = this.#block.toBytes()
    if (!block) return undefined
    const keys = Object.values(this.#keys).flatMap((family) => [...family.values()])
    return [
      [transactionBlockKey(this.firstVersion), block],
      ...keys.map(({ key, versions, hasNumbers }): Write => {
        return [key, encodeGroupedVersions(this.firstVersion, versions, hasNumbers)]
      }),
    ]
  }

  #addSent(version: bigint, transaction: Uint8Array): void {
    const sent = readSent(transaction)
    if (!sent) return
    const { sender } = sent
    const { kind, number } = sent.protection
    const { sequence, nonce } = this.#keys
    if (kind === 'nonce') addTo(nonce, nameOf(sender), version, () => nonceKey(sender))
    else addTo(sequence, nameOf(sender), version, () => sequenceNumberKey(sender), number)
  }

  #addAffected(version: bigint, writes: readonly Write[]): void {
    for (const [key] of writes) {
      if (key[0] !== ACCESS_PATH && key[0] !== TABLE_ITEM) continue
      const address = key.subarray(STATE_KEY_ADDRESS_AT, ADDRESS_END)
      addTo(this.#keys.affected, nameOf(address), version, () => affectedAccountKey(address))
    }
  }

  #addEvents(version: bigint, events: Uint8Array): void {
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
export function noTransactionWrite(version: bigint): Write {
  return [transactionBlockKey(version), new Uint8Array(0)]
}

function nameOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
