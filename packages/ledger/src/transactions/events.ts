import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { versionPruned } from '@ledger-state/engine'
import type { EventProof } from '@ledger-state/proof'
import { type ContractEvent, readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { eventStreamKey } from '@ledger-state/records'
import type { StoredTransaction } from '@ledger-state/records/transaction-blocks'
import type { LedgerState } from '../state/ledger-state.js'
import { numberAt, numberBeforeWindow, versionsWithNumber } from './indexed-versions.js'
import type { FoundProof } from './info-proof.js'
import { madeOnce, proveEvent, renderContextAt } from './ledger-transaction.js'
import { eventData, eventMembers } from './render/events.js'

/** An event, and the version of its transaction. */
export interface LedgerEvent {
  readonly version: bigint
  /** The event as JSON, as full nodes print it. Data that cannot be decoded is printed as hex. */
  toJson(): string
  /** The version and the event in BCS. */
  readonly bytes: Uint8Array
  /** The proof of the event, without epoch changes. @throws as `LedgerTransaction.prove` */
  prove(): FoundProof<EventProof>
}

/** Name of a stream of events. */
export interface EventStream {
  readonly address: Uint8Array
  readonly creationNumber: bigint
}

/** First sequence number and most events of a page. */
export interface EventsOptions {
  /** By default the first of the last `limit` events. */
  readonly start?: bigint | undefined
  readonly limit: number
}

/**
 * Events of a stream in order, beginning with `start`. By default, a stream that was cut by pruning begins with its
 * oldest event of the window.
 * @throws `version_pruned` if the event `start` is pruned, or a slice does not have all events of the stream
 */
export function* streamEvents(
  state: LedgerState,
  { address, creationNumber }: EventStream,
  { start, limit }: EventsOptions,
): Generator<DecodedEvent, void> {
  state.source.sliced?.expectWholeAccount(address, state.version)
  const key = { key: eventStreamKey(address, creationNumber), hasNumbers: true }
  const pruned = numberBeforeWindow(state, key)
  const lost = start !== undefined && pruned && pruned.number >= start ? pruned.version : undefined
  const newest = numberAt(state, key, state.version)?.number ?? -1n
  const first = start ?? (newest < BigInt(limit) ? 0n : newest - BigInt(limit) + 1n)
  let left = limit
  for (const { version } of versionsWithNumber(state, key, first)) {
    for (const found of eventsAtVersion(state, version)) {
      const stream = found.event.key
      if (stream?.creationNumber !== creationNumber || stream.sequenceNumber < first) continue
      if (compareBytes(stream.address, address) !== 0) continue
      // A stream that ended and began again may have the number in the window, too.
      if (lost !== undefined && left === limit && stream.sequenceNumber > start!)
        throw versionPruned(lost, state.transactions.oldestVersion)
      if (left-- === 0) return
      yield found
    }
  }
  if (lost !== undefined && left === limit) throw versionPruned(lost, state.transactions.oldestVersion)
}

/** An event with its parts. */
export interface DecodedEvent extends LedgerEvent {
  readonly event: ContractEvent
  /** Place of the event in its transaction. */
  readonly index: number
  /** The data of the event as JSON; as hex if they cannot be decoded. */
  dataToJson(): string
}

/** The events of a version that is kept. @throws `version_truncated` */
export function* eventsAtVersion(state: LedgerState, version: bigint): Generator<DecodedEvent, void> {
  const stored = state.transactions.storedAt(version)
  if (stored) yield* eventsIn(state, version, stored)
}

/** The events in the kept transaction of a version. */
export function* eventsIn(
  state: LedgerState,
  version: bigint,
  stored: Pick<StoredTransaction, 'events'>,
): Generator<DecodedEvent, void> {
  let next = 0
  for (const { event, bytes } of readBcsList(new ByteReader(stored.events), readWithBytes)) {
    const index = next++
    yield {
      version,
      event,
      index,
      bytes: withVersion(version, bytes),
      dataToJson: () => eventData(renderContextAt(state, version), event),
      toJson: () =>
        madeOnce(state, `event ${index} of version ${version}`, () => {
          return `{"version":"${version}",${eventMembers(renderContextAt(state, version), event)}}`
        }),
      prove: () => proveEvent(state, version, bytes, index),
    }
  }
}

function readWithBytes(reader: ByteReader): { readonly event: ContractEvent; readonly bytes: Uint8Array } {
  const start = reader.offset
  const event = readEvent(reader)
  return { event, bytes: reader.bytes.subarray(start, reader.offset) }
}

const U64_LENGTH = 8

function withVersion(version: bigint, event: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(U64_LENGTH + event.length)
  new DataView(bytes.buffer).setBigUint64(0, version, true)
  bytes.set(event, U64_LENGTH)
  return bytes
}

/**
 * Reads an event handle: u64 count of events, u64 creation number, address.
 * @throws `invalid_bcs` if the bytes are something else
 */
export function readEventHandle(bytes: Uint8Array): EventStream {
  const reader = new ByteReader(bytes)
  reader.readU64()
  const creationNumber = reader.readU64()
  const address = Uint8Array.from(reader.readBytes(ADDRESS_LENGTH))
  reader.expectEnd()
  return { address, creationNumber }
}
