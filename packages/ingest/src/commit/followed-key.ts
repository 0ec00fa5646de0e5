import type { Write } from '@ledger-state/core'
import {
  type CoinName,
  coinChanges,
  type IndexedGroup,
  isCoinStore,
  isIndexedAlike,
  objectChanges,
  readIndexedGroup,
} from '@ledger-state/records'

const NOTHING: readonly Write[] = []

/** Follows a key of an object or a coin store through its writes. It keeps views of the values. */
export interface FollowedKey {
  /** Sets the value before the first write. Without it the key has none. */
  begin(value: Uint8Array): void
  /** Returns the changes of the index at a version that writes a value, after the earlier writes. */
  write(version: bigint, value: Uint8Array | null): readonly Write[]
}

/** Follows an object. Most writes change only its balance: then their bytes are compared, and not decoded. */
export class FollowedObject implements FollowedKey {
  readonly #address: Uint8Array
  /** The value before the first write. */
  #begun: Uint8Array | undefined
  /** The value of the last write, or one with the same index. */
  #last: IndexedGroup | undefined

  constructor(address: Uint8Array) {
    this.#address = address
  }

  begin(value: Uint8Array): void {
    this.#begun = value
  }

  write(version: bigint, value: Uint8Array | null): readonly Write[] {
    if (value && this.#last && isIndexedAlike(this.#last, value)) return NOTHING
    const after = value ? readIndexedGroup(value) : undefined
    const [begun, last] = [this.#begun, this.#last]
    this.#begun = undefined
    this.#last = after
    if (begun && after && isIndexedAlike(after, begun)) return NOTHING
    const before = begun ? readIndexedGroup(begun) : last
    return objectChanges(this.#address, version, before?.object, after?.object)
  }
}

/** Follows the store of a coin type on an account. */
export class FollowedCoin implements FollowedKey {
  readonly #coin: CoinName
  readonly #account: Uint8Array
  #exists = false

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
