import { ADDRESS_LENGTH, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import {
  CHANGED_STORES_PREFIX,
  changedStoresKey,
  decodeChangedStores,
  encodeChangedStores,
  holdingsPrefix,
  type IndexedObject,
  ownerOfChangedStores,
  readIndexedGroup,
  storeNameOf,
} from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import type { StoreNotes } from './followed-key.js'

/** Stores from which on the changes of an owner are listed. A page of fewer looks at all of them, in about 2 ms. */
const MANY = 512
/** Most owners whose stores one commit counts. The others are counted when another of their stores is written. */
const MOST_COUNTED = 64
const ROWS_OF_SCAN = 10_000
const LAST_OF_ADDRESS = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH - 1

/** An owner of many stores. */
interface ListedOwner {
  readonly owner: Uint8Array
  /** Version since which its changes are listed. */
  readonly since: bigint
  /** Names of its stores that the version at hand writes; undefined if it writes none. */
  names: Set<number> | undefined
}

/**
 * Lists the stores that versions write, for owners of many: those who get as many in one commit, and those whose stores
 * were counted. A commit counts the stores of an owner if it writes one with one of 256 addresses.
 */
export class ManyStores implements StoreNotes {
  /** Owners by name; undefined until they were read. Each has hundreds of stores, so they are few. */
  #listed: Map<string, ListedOwner> | undefined
  /** Written groups with such an address. */
  #samples: Uint8Array[] = []
  /** Stores that owners get in the commit. */
  readonly #gained = new Map<string, number>()
  /** Owners whose changes are listed from the next version on. */
  readonly #next = new Map<string, Uint8Array>()
  #written: ListedOwner[] = []

  /** Is told of each write of an object in the next commit. */
  sample(key: Uint8Array, group: Uint8Array | null): void {
    if (group && key[LAST_OF_ADDRESS] === 0) this.#samples.push(group)
  }

  /** Prepares a commit: reads the listed owners, and lists those that had become owners of many before it. */
  async open(held: AsyncStateSnapshot, firstVersion: bigint): Promise<void> {
    this.#gained.clear()
    this.#listed ??= await readListed(held)
    const counted = new Set<string>()
    for (const group of this.#samples) {
      const { object } = readIndexedGroup(group)
      const name = object?.store && keyName(object.owner)
      if (!object || name === undefined || counted.has(name) || this.#listed.has(name)) continue
      if (!held.ledger || counted.size === MOST_COUNTED) break
      counted.add(name)
      const owner = Uint8Array.from(object.owner)
      if (!(await hasMany(held, owner))) continue
      const listed: ListedOwner = { owner, since: firstVersion, names: new Set() }
      this.#listed.set(name, listed)
      this.#written.push(listed)
    }
    this.#samples = []
  }

  wrote(store: Uint8Array, before: IndexedObject | undefined, after: IndexedObject | undefined): void {
    if (before?.store) this.#note(before.owner, store)
    if (before === after || !after?.store) return
    this.#note(after.owner, store)
    if (!before?.store || compareBytes(before.owner, after.owner) !== 0) this.#gain(after.owner)
  }

  #note(owner: Uint8Array, store: Uint8Array): void {
    const found = this.#listed?.size ? this.#listed.get(keyName(owner)) : undefined
    if (!found) return
    if (!found.names) {
      found.names = new Set()
      this.#written.push(found)
    }
    found.names.add(storeNameOf(store))
  }

  #gain(owner: Uint8Array): void {
    const name = keyName(owner)
    const count = (this.#gained.get(name) ?? 0) + 1
    this.#gained.set(name, count)
    if (count === MANY && this.#listed && !this.#listed.has(name)) this.#next.set(name, Uint8Array.from(owner))
  }

  /** The rows of the version at hand, after its writes were noted. */
  take(version: bigint): Write[] {
    const writes = this.#written.map((listed): Write => {
      const names = [...listed.names!].sort((a, b) => a - b)
      listed.names = undefined
      return [changedStoresKey(listed.owner), encodeChangedStores({ since: listed.since, names })]
    })
    if (writes.length > 0) this.#written = []
    for (const [name, owner] of this.#next) this.#listed!.set(name, { owner, since: version + 1n, names: undefined })
    this.#next.clear()
    return writes
  }
}

async function readListed(held: AsyncStateSnapshot): Promise<Map<string, ListedOwner>> {
  const listed = new Map<string, ListedOwner>()
  if (!held.ledger) return listed
  const view = held.at()
  let start: Uint8Array | undefined
  do {
    const { entries, next } = await view.scan(CHANGED_STORES_PREFIX, { start, limit: ROWS_OF_SCAN })
    for (const { key, value } of entries) {
      const owner = ownerOfChangedStores(key)
      listed.set(keyName(owner), { owner, since: decodeChangedStores(value).since, names: undefined })
    }
    start = entries.length === ROWS_OF_SCAN ? Uint8Array.of(...entries.at(-1)!.key, 0) : next
  } while (start)
  return listed
}

async function hasMany(held: AsyncStateSnapshot, owner: Uint8Array): Promise<boolean> {
  const { entries } = await held.at().scan(holdingsPrefix('ownedStore', owner), { limit: MANY })
  return entries.length === MANY
}
