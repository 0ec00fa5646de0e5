import type { KeyedEntry, VersionWrites, Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { HOLDINGS_KEY, isHoldingsKey, isObjectKey } from '@ledger-state/records'
import { EndedRows } from './ended-rows.js'
import { FollowedCoins, type NumberedCoin } from './followed-coins.js'
import { FollowedObjects } from './followed-objects.js'
import { ManyStores } from './many-stores.js'
import type { ValuesBefore } from './values-before.js'

const NOTHING = new Uint8Array(0)
const NO_WRITES: Write[] = []

export interface HoldingsKeeperOptions {
  /** Whether a new store gets the index, and a store that has it keeps it. */
  readonly isWanted: boolean
  /** Number of objects, and of coin stores, that commits remember at least; by default 100,000, in up to 40 MB. */
  readonly remembered?: number | undefined
  /** Called with one line for people. */
  onNotice(message: string): void
}

/** Writes of versions that the index may depend on, in flat lists: an object for each write takes longer. */
class ReadWrites {
  readonly writes: Write[] = []
  /** Coin types of the writes of coin stores; undefined for objects. */
  readonly coins: (NumberedCoin | undefined)[] = []
  /** Places of objects and of coin stores: p, or ~p if the write is known to change nothing. */
  readonly places: number[] = []
  /** For each version, the number of these writes up to its end. */
  readonly ends: number[] = []
  /** Numbers of the versions whose source has rows of its own index. */
  readonly withRows = new Set<number>()
  /** Number of all writes, also those on which the index does not depend. */
  count = 0

  add(write: Write, coin: NumberedCoin | undefined, place: number): void {
    this.writes.push(write)
    this.coins.push(coin)
    this.places.push(place)
  }
}

/**
 * Derives the index of holdings from the writes of the state, and records in the store its first version.
 * The rows that a source has of its own index are dropped, so the index depends on nothing but the state.
 */
export class HoldingsKeeper {
  readonly #options: HoldingsKeeperOptions
  readonly #ended = new EndedRows()
  readonly #many = new ManyStores()
  readonly #objects: FollowedObjects
  readonly #coins: FollowedCoins
  /** What the next commit writes. */
  #read = new ReadWrites()
  /** Whether the store has the index; undefined until it was read. */
  #isKept: boolean | undefined

  constructor(options: HoldingsKeeperOptions) {
    this.#options = options
    this.#objects = new FollowedObjects(this.#many, options.remembered)
    this.#coins = new FollowedCoins(options.remembered)
  }

  /**
   * Reads the next version of a commit. Call it when the version has just been read: its bytes are then in the cache of
   * the processor. It looks at each write once, because most are neither of an object nor of a coin store.
   */
  add({ writes }: VersionWrites): void {
    if (!this.#options.isWanted || this.#isKept === false) return
    const read = this.#read
    for (const write of writes) {
      const key = write[0]
      const kind = key[0]
      if (kind === 0) this.#readWrite(write, read)
      else if (kind !== 1 && isHoldingsKey(key)) read.withRows.add(read.ends.length)
    }
    read.ends.push(read.places.length)
    read.count += writes.length
  }

  #readWrite(write: Write, read: ReadWrites): void {
    const key = write[0]
    if (isObjectKey(key)) {
      const place = this.#objects.placeOf(key)
      read.add(write, undefined, this.#objects.isSame(place, write[1]) ? ~place : place)
      this.#many.sample(key, write[1])
      return
    }
    const coin = this.#coins.coinIn(key)
    if (!coin) return
    const place = this.#coins.placeOf(key, coin)
    if (!this.#coins.isSame(place, write[1])) read.add(write, coin, place)
  }

  /**
   * Prepares the versions that were added since the last call, and are to be committed.
   * @param held the store before these versions
   * @param versions they may have more writes of the store's own keys than when they were added
   * @param before is asked for the values that the index needs
   * @returns adds the changes of the index; to be called once `before` is loaded
   */
  async prepare(
    held: AsyncStateSnapshot,
    versions: readonly VersionWrites[],
    before: ValuesBefore,
  ): Promise<() => Promise<readonly VersionWrites[]>> {
    const isEmpty = held.ledger === undefined
    const isKept = !isEmpty && (this.#isKept ?? (await held.at().load([HOLDINGS_KEY]))[0] !== undefined)
    const { isWanted, onNotice } = this.#options
    this.#isKept = isWanted && (isEmpty || isKept)
    if (this.#isKept) {
      const read = this.#takeRead(before)
      await this.#many.open(held, versions[0]!.version, read.count)
      const first = isEmpty ? [[HOLDINGS_KEY, NOTHING] as const] : await this.#ended.next(held)
      return async () => {
        const indexed = this.#withRows(versions, read, before)
        await this.#many.complete(held)
        return withFirst(indexed, first)
      }
    }
    this.#read = new ReadWrites()
    if (isKept) onNotice(`holdings are not indexed since version ${versions[0]!.version}`)
    return async () => withFirst(versions.map(withoutRows), isKept ? [[HOLDINGS_KEY, null]] : [])
  }

  /** The entries of a part of a state and of its index. */
  addToState(entries: readonly KeyedEntry[]): readonly KeyedEntry[] {
    const state = entries.some(({ key }) => isHoldingsKey(key))
      ? entries.filter(({ key }) => !isHoldingsKey(key))
      : entries
    if (!this.#options.isWanted) return state
    const rows: KeyedEntry[] = []
    for (const { key, value, version } of state) {
      // A list of all owners would take more memory than the rest of an import. Later writes find those of many stores.
      for (const [row, content] of this.#rowsOf(key, version, value)) rows.push({ key: row, value: content!, version })
    }
    return rows.length === 0 ? state : [...state, ...rows]
  }

  #rowsOf(key: Uint8Array, version: bigint, value: Uint8Array): readonly Write[] {
    if (isObjectKey(key)) return this.#objects.rowsOf(key, version, value)
    const coin = this.#coins.coinIn(key)
    return coin ? this.#coins.rowsOf(key, coin, version, value) : []
  }

  #takeRead(before: ValuesBefore): ReadWrites {
    const read = this.#read
    this.#read = new ReadWrites()
    this.#objects.ask(before)
    this.#coins.ask(before)
    return read
  }

  #withRows(versions: readonly VersionWrites[], read: ReadWrites, before: ValuesBefore): VersionWrites[] {
    this.#objects.load(before)
    this.#coins.load(before)
    const changed = versions.map((record, at) => this.#withChanges(record, read, at))
    this.#objects.forgetOld()
    this.#coins.forgetOld()
    return changed
  }

  #withChanges(record: VersionWrites, read: ReadWrites, index: number): VersionWrites {
    const { version } = record
    const { ends, withRows } = read
    let changes: Write[] | undefined
    for (let at = ends[index - 1] ?? 0; at < ends[index]!; at++) {
      const changed = this.#changesOf(read, at, version)
      if (changed.length === 0) continue
      if (changes) changes.push(...changed)
      else changes = changed
    }
    const given = withRows.has(index) ? withoutRows(record) : record
    const listed = this.#many.take(version)
    if (!changes && listed.length === 0) return given
    if (changes) this.#ended.count(changes)
    return { version, block: record.block, writes: given.writes.concat(changes ?? [], listed) }
  }

  #changesOf({ writes, coins, places }: ReadWrites, at: number, version: bigint): Write[] {
    const place = places[at]!
    if (place < 0) {
      if (this.#many.hasOwners) this.#objects.noteSame(~place, writes[at]![0])
      return NO_WRITES
    }
    const [key, value] = writes[at]!
    const coin = coins[at]
    return coin ? this.#coins.write(place, coin, version, key, value) : this.#objects.write(place, version, key, value)
  }
}

/** A version without the rows of an index that its source has. */
function withoutRows(record: VersionWrites): VersionWrites {
  if (!record.writes.some(([key]) => isHoldingsKey(key))) return record
  return { ...record, writes: record.writes.filter(([key]) => !isHoldingsKey(key)) }
}

/** Adds writes to the first of some versions. */
function withFirst(versions: readonly VersionWrites[], writes: readonly Write[]): readonly VersionWrites[] {
  if (writes.length === 0) return versions
  const first = versions[0]!
  return [{ ...first, writes: [...first.writes, ...writes] }, ...versions.slice(1)]
}
