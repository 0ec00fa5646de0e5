import { ADDRESS_LENGTH, ByteReader, type Steps } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { EventProof } from '@ledger-state/proof'
import { type ContractEvent, type EventHead, readEvent, readEventHead } from '@ledger-state/proof/transactions'
import { eventStreamKey } from '@ledger-state/records'
import type { StoredTransaction } from '@ledger-state/records/transaction-blocks'
import { transactionsPruned } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { numberAt, versionsWithNumber } from './indexed-versions.js'
import type { FoundProof } from './info-proof.js'
import { createEventProver, type EventProver, madeOnce, renderContextAt } from './ledger-transaction.js'
import { numberedList } from './numbered-list.js'
import { eventData, eventMembers } from './render/events.js'

/** An event, and the version of its transaction. */
export interface LedgerEvent {
  readonly version: bigint
  /** The event as JSON, as full nodes print it. Data that cannot be decoded is printed as hex. */
  toJson(): string
  /** The version and the event in BCS. */
  readonly bytes: Uint8Array
  /** The proof of the event, without epoch changes. @throws as `LedgerTransaction.proveInSteps` */
  proveInSteps(): Steps<FoundProof<EventProof>>
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
 * are left out. Undefined is a chance to pause.
 * @throws `version_pruned` if one of them is not kept, or may not be
 */
export function* streamEvents(
  state: LedgerState,
  { address, creationNumber, count }: EventStream,
  { start, limit }: EventsOptions,
): Generator<DecodedEvent | undefined, void> {
  state.transactions.expectIndex('event-key')
  state.source.sliced?.expectWholeAccount(address, state.version)
  const key = { key: eventStreamKey(address, creationNumber), hasNumbers: true }
  const list = numberedList(state, key, 'event', start)
  const newest = numberAt(state, key, state.version)?.number ?? -1n
  const first = start ?? (newest < BigInt(limit) ? 0n : newest - BigInt(limit) + 1n)
  let left = limit
  const isOfPage = ({ key: of }: EventHead): boolean =>
    of?.creationNumber === creationNumber && of.sequenceNumber >= first && compareBytes(of.address, address) === 0
  for (const { version } of versionsWithNumber(state, key, first)) {
    if (list.leavesOut(version)) continue
    for (const found of eventsAtVersion(state, version, isOfPage)) {
      if (found) {
        list.expectNext(version, found.event.key!.sequenceNumber)
        if (left-- === 0) return
      }
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

/** Whether an event is one of those that are wanted. */
export type EventTest = (head: EventHead) => boolean

/**
 * The events of a version that pass a test, if the version is not above that of the state. Undefined is a chance to
 * pause.
 * @throws `version_pruned` if its transaction is not kept; `version_truncated`
 */
export function* eventsAtVersion(
  state: LedgerState,
  version: bigint,
  isWanted?: EventTest,
): Generator<DecodedEvent | undefined, void> {
  if (version > state.version) return
  const stored = state.transactions.storedAt(version)
  if (stored) yield* new StoredEvents(state, version, stored).events(isWanted)
  else if (!state.source.loading?.isLacking) throw transactionsPruned.notKept(version, state.transactions.oldestVersion)
}

/** Events that are looked at between two chances to pause: about 0.1 ms. */
const STEP_EVENTS = 256

/** Place of an event in its transaction, and its bytes. */
export interface EventPlace {
  readonly index: number
  readonly bytes: Uint8Array
}

/** The events of a kept transaction: 100,000 and more. Only wanted ones are decoded. */
export class StoredEvents {
  readonly #state: LedgerState
  readonly #version: bigint
  readonly #stored: StoredTransaction
  readonly #prover: EventProver

  constructor(state: LedgerState, version: bigint, stored: StoredTransaction) {
    this.#state = state
    this.#version = version
    this.#stored = stored
    this.#prover = createEventProver(state, version, stored)
  }

  /** The events that pass a test, in order. Undefined is a chance to pause. */
  *events(isWanted?: EventTest): Generator<DecodedEvent | undefined, void> {
    for (const place of this.places(isWanted)) yield place && this.at(place)
  }

  /** The places of the events that pass a test, in order. Undefined is a chance to pause. */
  *places(isWanted: EventTest = () => true): Generator<EventPlace | undefined, void> {
    const reader = new ByteReader(this.#stored.events)
    const count = reader.readLength()
    for (let index = 0; index < count; index++) {
      const start = reader.offset
      const head = readEventHead(reader)
      if (isWanted(head)) yield { index, bytes: reader.bytes.subarray(start, reader.offset) }
      if (index % STEP_EVENTS === STEP_EVENTS - 1) yield undefined
    }
  }

  /** The event at a place. */
  at({ index, bytes }: EventPlace): DecodedEvent {
    const state = this.#state
    const version = this.#version
    const prover = this.#prover
    const event = readEvent(new ByteReader(bytes))
    return {
      version,
      event,
      index,
      get bytes() {
        return withVersion(version, bytes)
      },
      dataToJson: () => eventData(renderContextAt(state, version), event),
      toJson: () =>
        madeOnce(state, `event ${index} of version ${version}`, () => {
          return `{"version":"${version}",${eventMembers(renderContextAt(state, version), event)}}`
        }),
      proveInSteps: () => prover.proveInSteps(bytes, index),
    }
  }
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
