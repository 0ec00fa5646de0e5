import { type KeyedEntry, SizedCache, type VersionWrites, type Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import {
  addressIn,
  type CoinName,
  coinChanges,
  coinNameOf,
  coinTypeIn,
  HOLDINGS_KEY,
  isHoldingsKey,
  isObjectKey,
  objectChanges,
  readCoinStore,
  readCoinType,
  readHeldObject,
} from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'

const NOTHING = new Uint8Array(0)
/** Bytes of remembered names of coin types. */
const COINS_BYTES = 256 * 1024

export interface HoldingsKeeperOptions {
  /** Whether a new store gets the index, and a store that has it keeps it. */
  readonly isWanted: boolean
  /** Called with one line for people. */
  onNotice(message: string): void
}

/** Returns the changes of the index at a version that writes a value of one key, after the earlier calls. */
type Follow = (version: bigint, value: Uint8Array | null) => readonly Write[]

/** Begins to follow a key, which has this value or none. */
type Begin = (value: Uint8Array | undefined) => Follow

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
      const follows = await this.#follow(held, versions)
      return withFirst(
        versions.map((version) => withChanges(version, follows)),
        isEmpty && [HOLDINGS_KEY, NOTHING],
      )
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
      const follow = this.#beginOf(key)?.(undefined)
      for (const [row, content] of follow?.(version, value) ?? []) rows.push({ key: row, value: content!, version })
    }
    return rows.length === 0 ? state : [...state, ...rows]
  }

  /** Follows all keys that the versions write. Their values in the store are read in one pass. */
  async #follow(held: AsyncStateSnapshot, versions: readonly VersionWrites[]): Promise<ReadonlyMap<string, Follow>> {
    const begun = new Map<string, { readonly key: Uint8Array; readonly begin: Begin }>()
    for (const { writes } of versions) {
      for (const [key] of writes) {
        const begin = this.#beginOf(key)
        if (begin) begun.set(keyName(key), { key, begin })
      }
    }
    const all = [...begun]
    const entries = held.ledger && all.length > 0 ? await held.at().load(all.map(([, { key }]) => key)) : []
    return new Map(all.map(([name, { begin }], at) => [name, begin(entries[at]?.value)]))
  }

  #beginOf(key: Uint8Array): Begin | undefined {
    if (isObjectKey(key)) return objectFollower(addressIn(key))
    const coin = this.#coinIn(key)
    return coin && coinFollower(coin, addressIn(key))
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

function objectFollower(address: Uint8Array): Begin {
  return (value) => {
    let before = value && readHeldObject(value)
    return (version, written) => {
      const after = written ? readHeldObject(written) : undefined
      const changes = objectChanges(address, version, before, after)
      before = after
      return changes
    }
  }
}

function coinFollower(coin: CoinName, account: Uint8Array): Begin {
  return (value) => {
    let existed = value !== undefined && readCoinStore(value) !== undefined
    return (version, written) => {
      const exists = written !== null && readCoinStore(written) !== undefined
      const changes = coinChanges(coin, account, version, existed, exists)
      existed = exists
      return changes
    }
  }
}

function withChanges(given: VersionWrites, follows: ReadonlyMap<string, Follow>): VersionWrites {
  const record = withoutRows(given)
  const { version, writes } = record
  const changes: Write[] = []
  for (const [key, value] of writes) {
    if (key[0] !== 0) continue
    const follow = follows.get(keyName(key))
    if (follow) changes.push(...follow(version, value))
  }
  return changes.length === 0 ? record : { ...record, writes: [...writes, ...changes] }
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
