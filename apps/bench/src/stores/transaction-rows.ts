import { ByteReader, ByteWriter } from '@ledger-state/core'
import type { LedgerVersion } from '@ledger-state/feed'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { readSent } from '@ledger-state/records'
import { STATE_KEY_ADDRESS_AT, writeTypeTag } from '@ledger-state/type-tag'

/** Rows of a page. */
export type RowPage = readonly unknown[] | Promise<readonly unknown[]>

/** Rows in each page. */
export const ROWS_OF_PAGE = 25

/**
 * Transactions and events as rows of a database: the transaction, info, events and write set of a version in one row, each
 * event in another, and an index for each question.
 */
export interface TransactionRows {
  add(versions: readonly LedgerVersion[]): void | Promise<void>
  byVersion(first: bigint): RowPage
  byAccount(sender: Uint8Array, start: bigint): RowPage
  byEventKey(address: Uint8Array, creationNumber: bigint, start: bigint): RowPage
  /** @param type in BCS */
  byEventType(type: Uint8Array, from: bigint): RowPage
  /** Bytes of the tables and indexes, after the database has compacted them. */
  usedBytes(): number | Promise<number>
  close(): void | Promise<void>
}

/** The rows of a version. */
export interface RowsOfVersion {
  readonly version: bigint
  readonly sender: Uint8Array | null
  /** Sequence number of the sender, or its nonce. */
  readonly number: bigint | null
  readonly body: Uint8Array
  /** Addresses and table handles that the version writes at, each once. */
  readonly affected: readonly Uint8Array[]
  readonly events: readonly EventRow[]
}

export interface EventRow {
  /** Type in BCS. */
  readonly type: Uint8Array
  readonly address: Uint8Array | null
  readonly creationNumber: bigint | null
  readonly sequenceNumber: bigint | null
  readonly data: Uint8Array
}

export function rowsOfVersion({ version, writes, readWhole }: LedgerVersion): RowsOfVersion {
  const { transaction, info, events, writeSet } = readWhole!()
  const sent = readSent(transaction)
  const affected = new Map<string, Uint8Array>()
  for (const [key] of writes) {
    const address = Buffer.from(key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + 32))
    affected.set(address.toString('latin1'), address)
  }
  return {
    version,
    sender: sent?.sender ?? null,
    number: sent?.protection.number ?? null,
    body: Buffer.concat([transaction, info, events, writeSet]),
    affected: [...affected.values()],
    events: Array.from(readBcsList(new ByteReader(events), readEvent), ({ key, type, data }): EventRow => {
      const writer = new ByteWriter()
      writeTypeTag(writer, type)
      const { address = null, creationNumber = null, sequenceNumber = null } = key ?? {}
      return { type: writer.toBytes(), address, creationNumber, sequenceNumber, data }
    }),
  }
}

/** Numbers the types of events, because a type is long. */
export class TypeNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #onNew: (number: number, type: Uint8Array) => void

  /** @param onNew stores a new type */
  constructor(
    known: Iterable<{ readonly id: number; readonly type: Uint8Array }>,
    onNew: (number: number, type: Uint8Array) => void,
  ) {
    for (const { id, type } of known) this.#numbers.set(Buffer.from(type).toString('latin1'), id)
    this.#onNew = onNew
  }

  numberOf(type: Uint8Array): number {
    const name = Buffer.from(type).toString('latin1')
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#numbers.size + 1
    this.#numbers.set(name, number)
    this.#onNew(number, type)
    return number
  }
}
