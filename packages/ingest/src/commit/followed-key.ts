import type { Write } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import {
  type CoinName,
  coinChanges,
  type IndexedGroup,
  type IndexedObject,
  isCoinStore,
  isIndexedAlike,
  objectChanges,
  readIndexedGroup,
} from '@ledger-state/records'

const NOTHING: readonly Write[] = []

/** Follows a key of an object or a coin store through its writes. It keeps views of the values. */
export interface FollowedKey {
  /** Bytes that it takes without views of written values; undefined if it has such a view. */
  readonly bytes: number | undefined
  /** Sets the value before the first write, which it keeps. Without it the key has none. */
  begin(value: Uint8Array): void
  /** Returns the changes of the index at a version that writes a value, after the earlier writes. */
  write(version: bigint, value: Uint8Array | null): readonly Write[]
}

/** Learns which stores of which owners are written. */
export interface StoreNotes {
  /**
   * Notes that the version at hand writes an object, which may be a store before or after it.
   * @param after the same object as `before` if neither owner, asset nor collection changes
   */
  wrote(address: Uint8Array, before: IndexedObject | undefined, after: IndexedObject | undefined): void
}

/** Bytes of an object without its group. */
const OBJECT_BYTES = 1_024
const COIN_BYTES = 256

/** Follows an object. Most writes change only its balance: then their bytes are compared, and not decoded. */
export class FollowedObject implements FollowedKey {
  readonly #address: Uint8Array
  readonly #notes: StoreNotes
  /** The value before the first write. */
  #begun: Uint8Array | undefined
  /** The value of the last write, or one with the same index. */
  #last: IndexedGroup | undefined
  #isOfWrite = false

  constructor(address: Uint8Array, notes: StoreNotes) {
    this.#address = address
    this.#notes = notes
  }

  get bytes(): number | undefined {
    return this.#isOfWrite ? undefined : OBJECT_BYTES + (this.#last?.bytes.length ?? 0)
  }

  begin(value: Uint8Array): void {
    // An engine may answer with a part of a large buffer.
    this.#begun = value.length === value.buffer.byteLength ? value : copyBytes(value)
  }

  write(version: bigint, value: Uint8Array | null): readonly Write[] {
    const begun = this.#begun
    if (begun) {
      this.#begun = undefined
      this.#last = readIndexedGroup(begun)
    }
    const before = this.#last
    if (value && before && isIndexedAlike(before, value)) {
      this.#notes.wrote(this.#address, before.object, before.object)
      return NOTHING
    }
    this.#last = value ? readIndexedGroup(value) : undefined
    this.#isOfWrite = value !== null
    const after = this.#last?.object
    this.#notes.wrote(this.#address, before?.object, after)
    return objectChanges(this.#address, version, before?.object, after)
  }
}

/** Follows the store of a coin type on an account. */
export class FollowedCoin implements FollowedKey {
  readonly #coin: CoinName
  readonly #account: Uint8Array
  #exists = false

  get bytes(): number {
    return COIN_BYTES
  }

  constructor(coin: CoinName, account: Uint8Array) {
    this.#coin = coin
    this.#account = account
  }

  begin(value: Uint8Array): void {
    this.#exists = isCoinStore(value)
  }

  write(version: bigint, value: Uint8Array | null): readonly Write[] {
    const existed = this.#exists
    this.#exists = value !== null && isCoinStore(value)
    if (existed === this.#exists) return NOTHING
    return coinChanges(this.#coin, this.#account, version, existed, this.#exists)
  }
}
