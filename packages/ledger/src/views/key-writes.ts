import { nearestWrite, type StateReader } from '@ledger-state/engine'

/** Knowledge about one key: it has no write between `from` and `at`. */
interface KnownWrite {
  /** Version from which the search began. */
  readonly from: bigint
  /** Version of the write that was found; undefined if there is none up to the end of the range. */
  readonly at: bigint | undefined
}

/** Finds the versions that write any of a set of keys. It searches for each write once, even when the set changes. */
export interface KeyWrites {
  /**
   * The version nearest to `version`, in the direction of the search, that writes one of the keys; undefined if none
   * does.
   */
  nearest(keys: ReadonlyMap<string, Uint8Array>, version: bigint): bigint | undefined
  /** The keys, of those last asked for, that a version writes. */
  writtenAt(version: bigint): readonly Uint8Array[]
  /** Whether the nearest write of a key, of those last asked for, is at `version` or nearer. The key is in hex. */
  isWrittenUpTo(version: bigint, text: string): boolean
}

/** Searches upwards for the first write above a version, up to `last`. */
export function createWritesAbove(reader: StateReader, last: bigint): KeyWrites {
  return new NearestWrites(
    (key, version) => nearestWrite(reader, key, { above: version, last }) ?? undefined,
    ({ from, at }, version) => from <= version && (at === undefined || at > version),
    (a, b) => a < b,
  )
}

/** Searches downwards for the newest write at or below a version. */
export function createWritesUntil(reader: StateReader): KeyWrites {
  return new NearestWrites(
    (key, version) => nearestWrite(reader, key, { until: version }) ?? undefined,
    ({ from, at }, version) => from >= version && (at === undefined || at <= version),
    (a, b) => a > b,
  )
}

class NearestWrites implements KeyWrites {
  readonly #find: (key: Uint8Array, version: bigint) => bigint | undefined
  readonly #stillHolds: (known: KnownWrite, version: bigint) => boolean
  readonly #isNearer: (a: bigint, b: bigint) => boolean
  #known = new Map<string, KnownWrite>()
  #asked: ReadonlyMap<string, Uint8Array> = new Map()

  constructor(
    find: (key: Uint8Array, version: bigint) => bigint | undefined,
    stillHolds: (known: KnownWrite, version: bigint) => boolean,
    isNearer: (a: bigint, b: bigint) => boolean,
  ) {
    this.#find = find
    this.#stillHolds = stillHolds
    this.#isNearer = isNearer
  }

  nearest(keys: ReadonlyMap<string, Uint8Array>, version: bigint): bigint | undefined {
    // Keys that the last run did not read are forgotten, so that memory is bounded by the keys of one run.
    const known = new Map<string, KnownWrite>()
    let nearest: bigint | undefined
    for (const [text, key] of keys) {
      const before = this.#known.get(text)
      const write =
        before && this.#stillHolds(before, version) ? before : { from: version, at: this.#find(key, version) }
      known.set(text, write)
      if (write.at !== undefined && (nearest === undefined || this.#isNearer(write.at, nearest))) nearest = write.at
    }
    this.#known = known
    this.#asked = keys
    return nearest
  }

  writtenAt(version: bigint): readonly Uint8Array[] {
    return [...this.#asked].flatMap(([text, key]) => (this.#known.get(text)?.at === version ? [key] : []))
  }

  isWrittenUpTo(version: bigint, text: string): boolean {
    const at = this.#known.get(text)?.at
    return at !== undefined && !this.#isNearer(version, at)
  }
}
