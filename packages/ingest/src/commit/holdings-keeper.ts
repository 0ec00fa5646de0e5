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
import { FollowedCoin, type FollowedKey, FollowedObject } from './followed-key.js'

const NOTHING = new Uint8Array(0)
/** Bytes of remembered names of coin types. */
const COINS_BYTES = 256 * 1024

export interface HoldingsKeeperOptions {
  /** Whether a new store gets the index, and a store that has it keeps it. */
  readonly isWanted: boolean
  /** Called with one line for people. */
  onNotice(message: string): void
}

/** A key that a batch writes, followed from its value before the batch. */
interface BatchKey {
  readonly key: Uint8Array
  readonly followed: FollowedKey
}

/** A version, and its writes that the index may depend on. */
interface ReadVersion {
  readonly record: VersionWrites
  readonly hasRows: boolean
  readonly writes: readonly { readonly followed: FollowedKey; readonly value: Uint8Array | null }[]
}

/**
 * Derives the index of holdings from the writes of the state, and says in the store from which version on it is there.
 * The rows that a source has of its own index are dropped, so the index depends on nothing but the state.
 */
export class HoldingsKeeper {
  readonly #options: HoldingsKeeperOptions
  readonly #coins = new SizedCache<CoinName>(COINS_BYTES)

  constructor(options: HoldingsKeeperOptions) {
    this.#options = options
  }

  /**
   * Adds the changes of the index to versions that are to be committed.
   * @param held the store before these versions
   */
  async add(held: AsyncStateSnapshot, versions: readonly VersionWrites[]): Promise<readonly VersionWrites[]> {
    const isEmpty = held.ledger === undefined
    const isKept = !isEmpty && (await held.at().load([HOLDINGS_KEY]))[0] !== undefined
    const { isWanted, onNotice } = this.#options
    if (isWanted && (isEmpty || isKept)) {
      return withFirst(await this.#addChanges(held, versions), isEmpty && [HOLDINGS_KEY, NOTHING])
    }
    if (isKept) onNotice(`holdings are not indexed from version ${versions[0]!.version} on`)
    return withFirst(versions.map(withoutRows), isKept && [HOLDINGS_KEY, null])
  }

  /** The entries of a part of a state, with those of the index. */
  addToState(entries: readonly KeyedEntry[]): readonly KeyedEntry[] {
    const state = entries.some(({ key }) => isHoldingsKey(key))
      ? entries.filter(({ key }) => !isHoldingsKey(key))
      : entries
    if (!this.#options.isWanted) return state
    const rows: KeyedEntry[] = []
    for (const { key, value, version } of state) {
      const followed = this.#follow(key)
      if (!followed) continue
      for (const [row, content] of followed.write(version, value)) rows.push({ key: row, value: content!, version })
    }
    return rows.length === 0 ? state : [...state, ...rows]
  }

  /** Adds the changes of the index. The values before the versions are read in one pass. */
  async #addChanges(held: AsyncStateSnapshot, versions: readonly VersionWrites[]): Promise<VersionWrites[]> {
    const keys = new Map<string, BatchKey>()
    const read = versions.map((record) => this.#readVersion(record, keys))
    if (held.ledger && keys.size > 0) {
      const all = [...keys.values()]
      const entries = await held.at().load(all.map(({ key }) => key))
      for (const [at, entry] of entries.entries()) if (entry) all[at]!.followed.begin(entry.value)
    }
    return read.map(withChanges)
  }

  /** Looks once at each write of a version: most are neither of an object nor of a coin store. */
  #readVersion(record: VersionWrites, keys: Map<string, BatchKey>): ReadVersion {
    const writes: { followed: FollowedKey; value: Uint8Array | null }[] = []
    let hasRows = false
    for (const write of record.writes) {
      const key = write[0]
      const kind = key[0]
      if (kind === 0) {
        const followed = this.#followIn(keys, key)
        if (followed) writes.push({ followed, value: write[1] })
      } else if (kind !== 1 && isHoldingsKey(key)) hasRows = true
    }
    return { record, hasRows, writes }
  }

  #followIn(keys: Map<string, BatchKey>, key: Uint8Array): FollowedKey | undefined {
    if (!isObjectKey(key) && !coinTypeIn(key)) return undefined
    const name = keyName(key)
    const known = keys.get(name)
    if (known) return known.followed
    const followed = this.#follow(key)
    if (followed) keys.set(name, { key, followed })
    return followed
  }

  #follow(key: Uint8Array): FollowedKey | undefined {
    if (isObjectKey(key)) return new FollowedObject(addressIn(key))
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

function withChanges({ record, hasRows, writes }: ReadVersion): VersionWrites {
  const given = hasRows ? withoutRows(record) : record
  const changes = writes.flatMap(({ followed, value }) => followed.write(record.version, value))
  return changes.length === 0 ? given : { ...given, writes: [...given.writes, ...changes] }
}

/** A version without the rows of an index that its source has. */
function withoutRows(record: VersionWrites): VersionWrites {
  if (!record.writes.some(([key]) => isHoldingsKey(key))) return record
  return { ...record, writes: record.writes.filter(([key]) => !isHoldingsKey(key)) }
}

/** Adds a write to the first of some versions, if there is one. */
function withFirst(versions: readonly VersionWrites[], write: Write | false): readonly VersionWrites[] {
  if (!write) return versions
  const first = versions[0]!
  return [{ ...first, writes: [...first.writes, write] }, ...versions.slice(1)]
}
