import { Buffer } from 'node:buffer'
import { ADDRESS_LENGTH, type Write } from '@ledger-state/core'
import {
  FACTS_LENGTH,
  FACTS_OWNER_AT,
  type IndexedObject,
  isStoreFacts,
  ObjectFacts,
  objectChanges,
  readFacts,
  writeFacts,
} from '@ledger-state/records'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { AddressTable, NO_PLACE } from './address-table.js'
import { UnknownKeys } from './unknown-keys.js'
import type { ValuesBefore } from './values-before.js'

const ADDRESS_END = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH
/** Objects of a generation of the table, about 150 bytes each. */
const MOST_OBJECTS = 100_000
/** After the facts of an object: 1 if a write of the commit waits for `write`, and 0 otherwise. */
const WAITS_AT = FACTS_LENGTH
const VALUE_LENGTH = FACTS_LENGTH + 1

/** Learns which stores of which owners are written. */
export interface StoreNotes {
  /** Notes that the version at hand writes a store of an owner, and changes neither owner nor asset. */
  wroteAgain(ownerName: string, key: Uint8Array): void
  /** Notes that the version at hand writes an object, which may be a store before or after it. */
  wrote(address: Uint8Array, before: IndexedObject | undefined, after: IndexedObject | undefined): void
}

/**
 * Follows objects through their writes, and derives the index of them. It remembers the facts of objects from one
 * commit to the next: most writes change only a balance, and then nothing is looked up or decoded.
 */
export class FollowedObjects {
  readonly #notes: StoreNotes
  readonly #table: AddressTable
  readonly #facts = new ObjectFacts()
  readonly #unknown = new UnknownKeys()

  /** @param most objects of a generation of the table */
  constructor(notes: StoreNotes, most = MOST_OBJECTS) {
    this.#notes = notes
    this.#table = new AddressTable(VALUE_LENGTH, most)
  }

  /** Place of the object with a key, which is valid until `forgetOld`. */
  placeOf(key: Uint8Array): number {
    const known = this.#table.find(key, STATE_KEY_ADDRESS_AT)
    if (known !== NO_PLACE) return known
    const place = this.#table.add(key, STATE_KEY_ADDRESS_AT)
    this.#table.bytes[place + WAITS_AT] = 1
    this.#unknown.add(key, place)
    return place
  }

  /**
   * Whether a write is known to change no facts. If not, all further writes of the object wait for `write`, too.
   */
  isSame(place: number, group: Uint8Array | null): boolean {
    const { bytes, view } = this.#table
    if (bytes[place + WAITS_AT] === 0 && this.#facts.isSame(group, view, place)) return true
    bytes[place + WAITS_AT] = 1
    return false
  }

  /** Asks for the values of unknown objects. */
  ask(before: ValuesBefore): void {
    this.#unknown.ask(before)
  }

  /** Reads the values that were asked for. */
  load(before: ValuesBefore): void {
    const { bytes } = this.#table
    this.#unknown.take(before, (group, place) => writeFacts(this.#facts.read(group), bytes, place))
  }

  /** Notes a write that changes no facts, after all earlier writes. Needed only if there are owners to be noted. */
  noteSame(place: number, key: Uint8Array): void {
    const { bytes } = this.#table
    if (isStoreFacts(bytes, place)) this.#notes.wroteAgain(ownerName(bytes, place), key)
  }

  /** Returns the changes of the index at a version that writes an object, after all earlier writes. */
  write(place: number, version: bigint, key: Uint8Array, group: Uint8Array | null): Write[] {
    const { bytes } = this.#table
    bytes[place + WAITS_AT] = 0
    const before = readFacts(bytes, place)
    const after = group ? this.#facts.read(group) : undefined
    writeFacts(after, bytes, place)
    const address = key.subarray(STATE_KEY_ADDRESS_AT, ADDRESS_END)
    this.#notes.wrote(address, before, after)
    return objectChanges(address, version, before, after)
  }

  /** The rows of the index for an object of an imported state. */
  rowsOf(key: Uint8Array, version: bigint, group: Uint8Array): readonly Write[] {
    return objectChanges(key.subarray(STATE_KEY_ADDRESS_AT, ADDRESS_END), version, undefined, this.#facts.read(group))
  }

  /** Forgets objects that were not written for long, once there are many. */
  forgetOld(): void {
    this.#table.renew()
  }
}

function ownerName(facts: Uint8Array, place: number): string {
  return Buffer.prototype.latin1Slice.call(facts, place + FACTS_OWNER_AT, place + FACTS_OWNER_AT + ADDRESS_LENGTH)
}
