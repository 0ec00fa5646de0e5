import { ADDRESS_LENGTH, SizedCache, type Write } from '@ledger-state/core'
import { compareBytes, keyAfter } from '@ledger-state/core/bytes'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import {
  addressIn,
  CHANGED_STORES_PREFIX,
  type ChangedStores,
  changedStoresKey,
  decodeChangedStores,
  encodeChangedStores,
  endedIn,
  endedKey,
  HOLDINGS_PREFIX_LENGTH,
  holdingsPrefix,
  type IndexedObject,
  ownerOfChangedStores,
  readHeldObject,
  storeNameOf,
} from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'
import { STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { scanEntries } from '../scan-entries.js'
import type { StoreNotes } from './followed-objects.js'

/**
 * Number of stores, with former ones, at which the changes of an owner begin to be listed. A page of fewer looks at all
 * of them, in 1.5 to 3 ms.
 */
const MANY = 128
/** Most owners whose stores are counted at once. The others are counted when another of their stores is written. */
const MOST_COUNTED = 64
/**
 * Commits with so many writes do not count at once, but each so many commits, or when `MOST_COUNTED` owners wait: the
 * first scan after a commit sorts its keys, which a flush otherwise does in a thread.
 */
const LARGE_COMMIT = 1_000
const COUNTED_EACH = 16
/** Most owners that become owners of many within one commit and are listed in it. The next commit counts the others. */
const MOST_BEGUN = 64
/** Of so many stores that owners lose, the owner of one is counted. */
const LOSSES_OF_COUNT = 256
/** Bytes of remembered owners of few stores, and about how many each takes. */
const FEW_BYTES = 4 * 1024 * 1024
const BYTES_OF_FEW = 128
const ROWS_OF_SCAN = 10_000
/** Most stores of an owner, and most of its former ones, whose names its first row has. */
const MOST_EARLIER = 2_048
const NO_STORE = new Uint8Array(0)
const LAST_OF_ADDRESS = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH - 1
/** Bits of the last byte that are 0 in the addresses of sampled stores: in one of 64, and in one of 256. */
const SAMPLED_OF_MANY = 0x3f
const SAMPLED_OF_FEW = 0xff
/** Bytes of remembered sampled stores, and about how many each takes. */
const SAMPLED_BYTES = 4 * 1024 * 1024
const BYTES_OF_SAMPLED = 256

/** An owner of many stores. */
interface ListedOwner {
  readonly owner: Uint8Array
  /** Version since which its changes are listed. */
  readonly since: bigint
  /** Names of its stores that the version at hand writes; undefined if it writes none. */
  names: Set<number> | undefined
  /** Whether `names` has those of all earlier stores, too. */
  hasEarlier: boolean
}

/** The first row of an owner that became one of many within the commit. */
interface BegunRow {
  readonly since: bigint
  /** Names of the stores that the commit has given the owner, and of those that the version of the row writes. */
  readonly names: ReadonlySet<number>
  readonly row: [key: Uint8Array, value: Uint8Array]
}

/**
 * Lists the stores that versions write, for owners of many: those that a commit gives as many, from the next version on,
 * and those whose stores a commit counts: because it writes one with one of 256 addresses, or because the commit before
 * took one from them, which counts for one of 256. A large commit counts if it and others have written two stores with
 * one of 64 addresses each: this finds most owners of 128, and hardly any owners of few, whose stores would be counted
 * in vain. The first row also has the names of all earlier stores, unless these are very many: a page of earlier
 * versions looks at them only.
 */
export class ManyStores implements StoreNotes {
  /** Owners by name; undefined until they were read. Each has many stores, so they are few. */
  #listed: Map<string, ListedOwner> | undefined
  /** Written groups with such an address, and their keys. */
  #samples: (readonly [key: Uint8Array, group: Uint8Array])[] = []
  /** Addresses of stores of owners that large commits sampled first. */
  readonly #sampled = new SizedCache<Uint8Array>(SAMPLED_BYTES)
  /** Stores that any owners lost, and those of them whose owners the next commit counts, too. */
  #losses = 0
  #losers: Uint8Array[] = []
  /** Owners that had few stores when they were counted, and got none since: to count them again would be in vain. */
  readonly #few = new SizedCache<true>(FEW_BYTES)
  /** Names of the stores that owners get in the commit. */
  readonly #gained = new Map<string, number[]>()
  /** Owners that got many stores in the commit at hand. Those whose lists do not begin in it are counted later. */
  #next = new Map<string, Uint8Array>()
  /** Owners whose stores no commit has counted yet. */
  #uncounted = new Map<string, Uint8Array>()
  #commitsSinceCount = 0
  /** Owners whose list begins with the next version of the commit. */
  #beginning = new Map<string, ListedOwner>()
  /** First rows that `complete` gives the names of the stores before the commit. */
  #begun: BegunRow[] = []
  #written: ListedOwner[] = []

  /** Is told of each write of an object in the next commit. */
  sample(key: Uint8Array, group: Uint8Array | null): void {
    if (group && (key[LAST_OF_ADDRESS]! & SAMPLED_OF_MANY) === 0) this.#samples.push([key, group])
  }

  /**
   * Prepares a commit: reads the listed owners, and lists those that had become owners of many before it.
   * @param writes number of writes of the commit
   */
  async open(held: AsyncStateSnapshot, firstVersion: bigint, writes: number): Promise<void> {
    this.#gained.clear()
    this.#listed ??= await readListed(held)
    this.#dropBeginning(this.#listed)
    const isLarge = writes >= LARGE_COMMIT
    const uncounted = this.#collectUncounted(this.#listed, isLarge)
    this.#commitsSinceCount++
    const isDue = !isLarge || uncounted.size >= MOST_COUNTED || this.#commitsSinceCount >= COUNTED_EACH
    if (!held.ledger || !isDue) return
    this.#commitsSinceCount = 0
    this.#uncounted = new Map()
    for (const [name, owner] of uncounted) {
      if (this.#listed.has(name) || this.#few.get(name)) continue
      const earlier = await earlierStores(held, owner)
      if (!earlier) {
        this.#few.set(name, true, BYTES_OF_FEW)
        continue
      }
      const listed: ListedOwner = { owner, since: firstVersion, ...earlier }
      this.#listed.set(name, listed)
      this.#written.push(listed)
    }
  }

  #collectUncounted(listed: ReadonlyMap<string, ListedOwner>, isLarge: boolean): ReadonlyMap<string, Uint8Array> {
    const uncounted = this.#uncounted
    for (const [name, owner] of this.#next) uncounted.set(name, owner)
    this.#next = new Map()
    for (const [key, group] of this.#samples) {
      if (uncounted.size >= MOST_COUNTED) break
      if (!isLarge && (key[LAST_OF_ADDRESS]! & SAMPLED_OF_FEW) !== 0) continue
      const object = readHeldObject(group)
      if (!object?.store) continue
      const name = keyName(object.owner)
      if (listed.has(name) || this.#few.get(name)) continue
      if (!isLarge || this.#hasOtherSample(name, key)) uncounted.set(name, object.owner)
    }
    this.#samples = []
    for (const owner of this.#losers) uncounted.set(keyName(owner), owner)
    this.#losers = []
    return uncounted
  }

  /** Whether another store of an owner was sampled in a large commit. If none was, this one is remembered. */
  #hasOtherSample(ownerName: string, key: Uint8Array): boolean {
    const store = addressIn(key)
    const other = this.#sampled.get(ownerName)
    if (!other) this.#sampled.set(ownerName, store, BYTES_OF_SAMPLED)
    return other !== undefined && compareBytes(other, store) !== 0
  }

  get hasOwners(): boolean {
    return this.#listed !== undefined && this.#listed.size > 0
  }

  wroteAgain(ownerName: string, key: Uint8Array): void {
    const owner = this.#listed!.get(ownerName)
    if (owner) this.#note(owner, storeNameOf(key.subarray(STATE_KEY_ADDRESS_AT)))
  }

  wrote(store: Uint8Array, before: IndexedObject | undefined, after: IndexedObject | undefined): void {
    const isSameOwner = before?.store && after?.store && compareBytes(before.owner, after.owner) === 0
    if (before?.store) {
      this.#noteOf(before.owner, store)
      if (!isSameOwner) this.#lose(before.owner)
    }
    if (!after?.store || isSameOwner) return
    this.#noteOf(after.owner, store)
    this.#gain(after.owner, store)
  }

  #noteOf(owner: Uint8Array, store: Uint8Array): void {
    const found = this.hasOwners ? this.#listed!.get(keyName(owner)) : undefined
    if (found) this.#note(found, storeNameOf(store))
  }

  #note(owner: ListedOwner, storeName: number): void {
    if (!owner.names) {
      owner.names = new Set()
      this.#written.push(owner)
    }
    owner.names.add(storeName)
  }

  #lose(owner: Uint8Array): void {
    if (this.#losses++ % LOSSES_OF_COUNT === 0 && this.#losers.length < MOST_COUNTED)
      this.#losers.push(Uint8Array.from(owner))
  }

  #gain(owner: Uint8Array, store: Uint8Array): void {
    const name = keyName(owner)
    this.#few.delete(name)
    const gained = this.#gained.get(name) ?? []
    if (gained.push(storeNameOf(store)) === 1) this.#gained.set(name, gained)
    if (gained.length < MANY || this.#next.has(name) || this.#listed?.has(name)) return
    // A store that comes back counts once. Most owners gain few: a list takes less memory than a set.
    const different = new Set(gained)
    if (different.size < MANY) this.#gained.set(name, [...different])
    else this.#next.set(name, Uint8Array.from(owner))
  }

  /** The rows of the version at hand, after its writes were noted. */
  take(version: bigint): Write[] {
    const writes = this.#written.map((listed) => this.#rowOf(listed))
    if (writes.length > 0) this.#written = []
    for (const [name, owner] of this.#next) if (!this.#listed!.has(name)) this.#begin(name, owner, version + 1n)
    return writes
  }

  #rowOf(listed: ListedOwner): Write {
    const { owner, since, hasEarlier } = listed
    const names = listed.names!
    listed.names = undefined
    listed.hasEarlier = false
    const row: BegunRow['row'] = [changedStoresKey(owner), encodeRow({ since, names, hasEarlier })]
    if (this.#beginning.size === 0) return row
    const name = keyName(owner)
    if (!this.#beginning.delete(name)) return row
    this.#next.delete(name)
    this.#begun.push({ since, names, row })
    return row
  }

  /** Lists an owner from the next version on, if the commit has one. */
  #begin(name: string, owner: Uint8Array, since: bigint): void {
    if (this.#begun.length + this.#beginning.size >= MOST_BEGUN) return
    const listed: ListedOwner = { owner, since, names: new Set(this.#gained.get(name)), hasEarlier: false }
    this.#listed!.set(name, listed)
    this.#beginning.set(name, listed)
    this.#written.push(listed)
  }

  /** Forgets the owners whose list would have begun after the last version of a commit: the next one counts them. */
  #dropBeginning(listed: Map<string, ListedOwner>): void {
    if (this.#beginning.size === 0) return
    for (const name of this.#beginning.keys()) listed.delete(name)
    this.#written = []
    this.#beginning.clear()
  }

  /**
   * Completes the rows of the commit with the names of stores that owners had before it.
   * @param held the store before the commit
   */
  async complete(held: AsyncStateSnapshot): Promise<void> {
    const begun = this.#begun
    this.#begun = []
    for (const { since, names, row } of begun) {
      const earlier = held.ledger ? await namesOfStores(held, row[0].subarray(CHANGED_STORES_PREFIX.length)) : []
      const all = earlier && new Set([...earlier, ...names])
      if (all && all.size <= MOST_EARLIER) row[1] = encodeRow({ since, names: all, hasEarlier: true })
    }
  }
}

function encodeRow({
  names,
  ...row
}: Omit<ChangedStores, 'names'> & { readonly names: ReadonlySet<number> }): Uint8Array {
  return encodeChangedStores({ ...row, names: [...names].sort((a, b) => a - b) })
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
      listed.set(keyName(owner), {
        owner,
        since: decodeChangedStores(value).since,
        names: undefined,
        hasEarlier: false,
      })
    }
    start = entries.length === ROWS_OF_SCAN ? keyAfter(entries.at(-1)!.key) : next
  } while (start)
  return listed
}

/**
 * The names of all stores that an owner of many has or had in the window; undefined if it has few. If they are too
 * many, there are no names.
 */
async function earlierStores(
  held: AsyncStateSnapshot,
  owner: Uint8Array,
): Promise<Pick<ListedOwner, 'names' | 'hasEarlier'> | undefined> {
  // A page of changes looks at former stores, too. Their rows come first: rows of stores may lie among many deleted ones.
  const ended = await rowsOf(held, owner, 'endedStore', MANY)
  const owned = ended.length < MANY ? await rowsOf(held, owner, 'ownedStore', MANY - ended.length) : []
  if (ended.length + owned.length < MANY) return undefined
  const names = await namesOfStores(held, owner)
  return names ? { names, hasEarlier: true } : { names: new Set(), hasEarlier: false }
}

/** The names of all stores that an owner has or had in the window; undefined if they are too many. */
async function namesOfStores(held: AsyncStateSnapshot, owner: Uint8Array): Promise<Set<number> | undefined> {
  const names = new Set<number>()
  for (const family of ['endedStore', 'ownedStore'] as const) {
    const keys = await rowsOf(held, owner, family, MOST_EARLIER)
    if (keys.length === MOST_EARLIER) return undefined
    for (const key of keys)
      names.add(storeNameOf(family === 'ownedStore' ? key.subarray(HOLDINGS_PREFIX_LENGTH) : endedIn(key).second))
  }
  return names
}

/** Keys of the first rows of stores that an owner has, or had in the window. */
async function rowsOf(
  held: AsyncStateSnapshot,
  owner: Uint8Array,
  family: 'ownedStore' | 'endedStore',
  limit: number,
): Promise<readonly Uint8Array[]> {
  const start = family === 'endedStore' ? endedKey(family, owner, held.ledger!.oldestVersion + 1n, NO_STORE) : undefined
  const entries = await scanEntries(held.at(), holdingsPrefix(family, owner), { start, limit })
  return entries.map(({ key }) => key)
}
