import { Buffer } from 'node:buffer'
import { ByteReader, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { readEventHead } from '@ledger-state/proof/transactions'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { affectedAccountKey, eventStreamKey, eventTypeKey, nonceKey, sequenceNumberKey } from './own-keys.js'
import { readSent } from './sent-transaction.js'
import type { WholeTransaction } from './whole-transaction.js'
import type { TransactionIndex } from './whole-transactions-mark.js'

const ACCESS_PATH = 0
const TABLE_ITEM = 1
const ADDRESS_END = STATE_KEY_ADDRESS_AT + 32

/** The versions that have a key of an index. */
interface GroupedKey {
  readonly key: Uint8Array
  /** Versions less the first of the group. */
  readonly offsets: number[]
  /** The last number of each version, in a family with numbers. */
  readonly numbers?: bigint[]
}

/** Keys of indexes by family and by name, for a group of versions that begins with `firstVersion`. */
export class IndexKeys {
  readonly firstVersion: bigint
  readonly #indexes: ReadonlySet<TransactionIndex>
  readonly #keys = { sequence: newKeys(), nonce: newKeys(), affected: newKeys(), stream: newKeys(), type: newKeys() }

  constructor(firstVersion: bigint, indexes: ReadonlySet<TransactionIndex>) {
    this.firstVersion = firstVersion
    this.#indexes = indexes
  }

  *all(): Generator<GroupedKey, void> {
    for (const family of Object.values(this.#keys)) yield* family.values()
  }

  /** Removes some versions, and the keys that have no other. */
  remove(removed: readonly bigint[]): void {
    const offsets = removed.map((version) => Number(version - this.firstVersion))
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

  /** Adds a version to all indexes that are kept. */
  add(
    version: bigint,
    { transaction, events }: Pick<WholeTransaction, 'transaction' | 'events'>,
    writes: readonly Write[],
  ): void {
    const offset = Number(version - this.firstVersion)
    const indexes = this.#indexes
    if (indexes.has('sender')) this.#addSent(offset, transaction)
    if (indexes.has('affected')) this.#addAffected(offset, writes)
    if (indexes.has('event-key') || indexes.has('event-type')) this.#addEvents(offset, events)
  }

  #addSent(offset: number, transaction: Uint8Array): void {
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

  #addAffected(offset: number, writes: readonly Write[]): void {
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

  #addEvents(offset: number, events: Uint8Array): void {
    const { stream, type: types } = this.#keys
    const [hasTypes, hasStreams] = [this.#indexes.has('event-type'), this.#indexes.has('event-key')]
    const reader = new ByteReader(events)
    let before: Uint8Array | undefined
    for (let rest = reader.readLength(); rest > 0; rest--) {
      const { key, type } = readEventHead(reader)
      if (hasTypes && (!before || compareBytes(type, before) !== 0)) {
        const name = nameOf(type)
        const known = types.get(name)
        if (known) addTo(known, offset)
        else types.set(name, { key: eventTypeKey(type), offsets: [offset] })
      }
      before = type
      if (!key || !hasStreams) continue
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

function nameOf(bytes: Uint8Array, start?: number, end?: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return buffer.toString('latin1', start, end)
}
