import { type KeyedEntry, SizedCache, type VersionWrites, type Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import {
  addressIn,
  type CoinName,
  coinNameOf,
  coinTypeIn,
  HOLDINGS_KEY,
  isHoldingsKey,
  isObjectKey,
  readCoinType,
} from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'
import { EndedRows } from './ended-rows.js'
import { FollowedCoin, type FollowedKey, FollowedObject, type StoreNotes } from './followed-key.js'
import { ManyStores } from './many-stores.js'
import type { ValuesBefore } from './values-before.js'

const NOTHING = new Uint8Array(0)
const NO_NOTES: StoreNotes = { wrote() {} }
/** Bytes of remembered names of coin types. */
const COINS_BYTES = 256 * 1024
/** Bytes of keys that are followed from one commit to the next. */
const FOLLOWED_BYTES = 32 * 1024 * 1024

export interface HoldingsKeeperOptions {
  /** Whether a new store gets the index, and a store that has it keeps it. */
  readonly isWanted: boolean
  /** Called with one line for people. */
  onNotice(message: string): void
}

/** A key that a batch writes. */
interface BatchKey {
  readonly followed: FollowedKey
  /** Whether its value before the batch is looked up. */
  readonly isNew: boolean
  /** Bytes that it took before the batch. */
  readonly bytes: number | undefined
}

/** The writes of a batch that the index may depend on. An object for each write would make the index a quarter dearer. */
interface ReadBatch {
  readonly keys: Map<string, BatchKey>
  readonly followed: FollowedKey[]
  /** Their values, as many. */
  readonly values: (Uint8Array | null)[]
  /** For each version, the number of these writes up to its end. */
  readonly ends: number[]
  /** Versions whose source has rows of its own index. */
  readonly withRows: Set<VersionWrites>
}

/**
 * Derives the index of holdings from the writes of the state, and records in the store its first version.
 * The rows that a source has of its own index are dropped, so the index depends on nothing but the state.
 */
export class HoldingsKeeper {
  readonly #options: HoldingsKeeperOptions
  readonly #coins = new SizedCache<CoinName>(COINS_BYTES)
  /** Keys that earlier commits wrote, with their newest values: these are not looked up again. */
  readonly #followed = new SizedCache<FollowedKey>(FOLLOWED_BYTES)
  readonly #ended = new EndedRows()
  readonly #many = new ManyStores()
  /** Whether the store has the index; undefined until it was read. */
  #isKept: boolean | undefined

  constructor(options: HoldingsKeeperOptions) {
    this.#options = options
  }

  /**
   * Prepares versions that are to be committed.
   * @param held the store before these versions
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
      const changed = this.#readVersions(versions, before)
      const writes = versions.reduce((sum, { writes }) => sum + writes.length, 0)
      await this.#many.open(held, versions[0]!.version, writes)
      const first = isEmpty ? [[HOLDINGS_KEY, NOTHING] as const] : await this.#ended.next(held)
      return async () => {
        const indexed = changed()
        await this.#many.complete(held)
        return withFirst(indexed, first)
      }
    }
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
      const followed = this.#follow(key, NO_NOTES)
      if (!followed) continue
      for (const [row, content] of followed.write(version, value)) rows.push({ key: row, value: content!, version })
    }
    return rows.length === 0 ? state : [...state, ...rows]
  }

  #readVersions(versions: readonly VersionWrites[], before: ValuesBefore): () => VersionWrites[] {
    const batch: ReadBatch = { keys: new Map(), followed: [], values: [], ends: [], withRows: new Set() }
    for (const record of versions) this.#readVersion(record, batch, before)
    return () => {
      for (const [name, { followed, isNew }] of batch.keys) {
        const value = isNew ? before.get(name) : undefined
        if (value) followed.begin(value)
      }
      const changed = versions.map((record, at) => this.#withChanges(record, batch, at))
      for (const [name, { followed, isNew, bytes }] of batch.keys)
        if (isNew || followed.bytes !== bytes) this.#keep(name, followed, isNew)
      return changed
    }
  }

  #withChanges(record: VersionWrites, { followed, values, ends, withRows }: ReadBatch, index: number): VersionWrites {
    let changes: Write[] | undefined
    for (let at = ends[index - 1] ?? 0; at < ends[index]!; at++) {
      const writes = followed[at]!.write(record.version, values[at]!)
      if (writes.length > 0) changes = changes ? [...changes, ...writes] : [...writes]
    }
    const given = withRows.has(record) ? withoutRows(record) : record
    const listed = this.#many.take(record.version)
    if (!changes && listed.length === 0) return given
    if (changes) this.#ended.count(changes)
    return { ...given, writes: [...given.writes, ...(changes ?? []), ...listed] }
  }

  /** Looks once at each write of a version: most are neither of an object nor of a coin store. */
  #readVersion(record: VersionWrites, batch: ReadBatch, before: ValuesBefore): void {
    for (const [key, value] of record.writes) {
      const kind = key[0]
      if (kind === 0) {
        const followed = this.#followIn(batch.keys, key, before)
        if (!followed) continue
        batch.followed.push(followed)
        batch.values.push(value)
        this.#many.sample(key, value)
      } else if (kind !== 1 && isHoldingsKey(key)) batch.withRows.add(record)
    }
    batch.ends.push(batch.followed.length)
  }

  #followIn(keys: Map<string, BatchKey>, key: Uint8Array, before: ValuesBefore): FollowedKey | undefined {
    if (!isObjectKey(key) && !coinTypeIn(key)) return undefined
    const name = keyName(key)
    const known = keys.get(name)
    if (known) return known.followed
    const kept = this.#followed.get(name)
    const followed = kept ?? this.#follow(key, this.#many)
    if (!followed) return undefined
    keys.set(name, { followed, isNew: !kept, bytes: followed.bytes })
    if (!kept) before.ask(name, key)
    return followed
  }

  #keep(name: string, followed: FollowedKey, isNew: boolean): void {
    const { bytes } = followed
    // A view of a written value would keep the memory of its source.
    if (bytes !== undefined) this.#followed.set(name, followed, bytes + name.length)
    else if (!isNew) this.#followed.delete(name)
  }

  #follow(key: Uint8Array, notes: StoreNotes): FollowedKey | undefined {
    if (isObjectKey(key)) return new FollowedObject(addressIn(key), notes)
    const coin = this.#coinIn(key)
    return coin && new FollowedCoin(coin, addressIn(key))
  }

  #coinIn(key: Uint8Array): CoinName | undefined {
    const bcs = coinTypeIn(key)
    if (!bcs) return undefined
    const text = keyName(bcs)
    const known = this.#coins.get(text)
    if (known) return known
    const tag = readCoinType(bcs)
    if (!tag) return undefined
    const coin = coinNameOf(tag)
    this.#coins.set(text, coin, text.length + 4 * coin.text.length)
    return coin
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
