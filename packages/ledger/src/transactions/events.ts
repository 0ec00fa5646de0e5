import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { EventProof } from '@ledger-state/proof'
import { type ContractEvent, readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { eventStreamKey } from '@ledger-state/records'
import type { StoredTransaction } from '@ledger-state/records/transaction-blocks'
import { transactionsPruned } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { numberAt, versionsWithNumber } from './indexed-versions.js'
import type { FoundProof } from './info-proof.js'
import { madeOnce, proveEvent, renderContextAt } from './ledger-transaction.js'
import { numberedList } from './numbered-list.js'
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
  /** Number of events at the version of the state, if it is known. */
  readonly count?: bigint | undefined
}

/** First sequence number and most events of a page. */
export interface EventsOptions {
  /** By default the first of the last `limit` events. */
  readonly start?: bigint | undefined
  readonly limit: number
}

/**
 * Events of a stream in order, beginning with `start`. By default, those before a version whose transaction is not kept
 * are left out.
 * @throws `version_pruned` if one of them is not kept, or may not be
 */
export function* streamEvents(
  state: LedgerState,
  { address, creationNumber, count }: EventStream,
  { start, limit }: EventsOptions,
): Generator<DecodedEvent, void> {
  state.source.sliced?.expectWholeAccount(address, state.version)
  const key = { key: eventStreamKey(address, creationNumber), hasNumbers: true }
  const list = numberedList(state, key, 'event', start)
  const newest = numberAt(state, key, state.version)?.number ?? -1n
  const first = start ?? (newest < BigInt(limit) ? 0n : newest - BigInt(limit) + 1n)
  let left = limit
  for (const { version } of versionsWithNumber(state, key, first)) {
    if (list.leavesOut(version)) continue
    for (const found of eventsAtVersion(state, version)) {
      const stream = found.event.key
      if (stream?.creationNumber !== creationNumber || stream.sequenceNumber < first) continue
      if (compareBytes(stream.address, address) !== 0) continue
      list.expectNext(version, stream.sequenceNumber)
      if (left-- === 0) return
      yield found
    }
  }
  if (left > 0) list.expectEnd(count === undefined ? undefined : () => count)
}

/** An event with its parts. */
export interface DecodedEvent extends LedgerEvent {
  readonly event: ContractEvent
  /** Place of the event in its transaction. */
  readonly index: number
  /** The data of the event as JSON; as hex if they cannot be decoded. */
  dataToJson(): string
}

/**
 * The events of a version, if it is not above the version of the state.
 * @throws `version_pruned` if its transaction is not kept; `version_truncated`
 */
export function* eventsAtVersion(state: LedgerState, version: bigint): Generator<DecodedEvent, void> {
  if (version > state.version) return
  const stored = state.transactions.storedAt(version)
  if (stored) yield* eventsIn(state, version, stored)
  else if (!state.source.loading?.isLacking) throw transactionsPruned.notKept(version, state.transactions.oldestVersion)
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
  const count = reader.readU64()
  const creationNumber = reader.readU64()
  const address = Uint8Array.from(reader.readBytes(ADDRESS_LENGTH))
  reader.expectEnd()
  return { address, creationNumber, count }
}
