import type { Layout3Key } from './layout-3-records.js'
import type { Layout3Store } from './layout-3-store.js'
import type { Pace } from './pace.js'

/** The range is divided into so many equal parts; a slice is made of parts that together fit into its memory. */
const PARTS = 4_096
const KEYS_BETWEEN_TURNS = 1_000
/** What this program holds for a write, and for a key, besides its bytes. */
const WRITE_BYTES = 32
const KEY_BYTES = 300

/** A key of which a slice has writes. */
export type SliceKey = Pick<Layout3Key, 'keyId' | 'value'> & { readonly key: Uint8Array }

export interface SortedWrite {
  readonly version: bigint
  readonly supersededBy: bigint | undefined
  readonly key: SliceKey
}

export interface WriteCounts {
  readonly first: bigint
  readonly last: bigint
  /** Versions of a part. */
  readonly width: bigint
  /** Of each part, what its writes take in memory. */
  readonly bytes: readonly number[]
  readonly writes: number
}

/** One pass over all keys. */
export async function countWrites(store: Layout3Store, first: bigint, last: bigint, pace: Pace): Promise<WriteCounts> {
  const width = (last - first) / BigInt(PARTS) + 1n
  const bytes = new Array<number>(PARTS).fill(0)
  let writes = 0
  await eachKey(store, first, pace, (key) => {
    let partBefore = -1
    for (const { version, supersededBy } of store.writes(key, first)) {
      if (version < first) continue
      const part = Number((version - first) / width)
      bytes[part]! += WRITE_BYTES
      if (supersededBy === undefined && key.value instanceof Uint8Array) bytes[part]! += key.value.length
      if (part !== partBefore) bytes[part]! += KEY_BYTES + key.stored.length
      partBefore = part
      writes++
    }
  })
  return { first, last, width, bytes, writes }
}

/** All writes of the counted versions in the order of versions; a pass over all keys for each slice of so many bytes. */
export async function* sortWrites(
  store: Layout3Store,
  counts: WriteCounts,
  sliceBytes: number,
  pace: Pace,
): AsyncGenerator<SortedWrite> {
  const { first, last, width, bytes } = counts
  let start = 0
  while (start < PARTS) {
    let end = start + 1
    for (let sum = bytes[start]!; end < PARTS && sum + bytes[end]! <= sliceBytes; end++) sum += bytes[end]!
    const from = first + BigInt(start) * width
    const to = first + BigInt(end) * width - 1n
    if (from <= last) yield* await sortSlice(store, from, to < last ? to : last, pace)
    start = end
  }
}

async function sortSlice(store: Layout3Store, from: bigint, to: bigint, pace: Pace): Promise<Iterable<SortedWrite>> {
  const slice = new Slice(from)
  await eachKey(store, from, pace, (key) => {
    let sliceKey: SliceKey | undefined
    for (const { version, supersededBy } of store.writes(key, from)) {
      if (version < from) continue
      if (version > to) break
      sliceKey ??= { key: store.keyOf(key), keyId: key.keyId, value: key.version <= to ? key.value : null }
      slice.add(sliceKey, version, supersededBy)
    }
  })
  return slice.sorted()
}

/** Writes as plain numbers, 28 bytes each; versions count from the first of the slice. */
class Slice {
  readonly #from: bigint
  readonly #keys: SliceKey[] = []
  readonly #keyAt: number[] = []
  readonly #versions: number[] = []
  readonly #supersededBy: number[] = []

  constructor(from: bigint) {
    this.#from = from
  }

  add(key: SliceKey, version: bigint, supersededBy: bigint | undefined): void {
    if (this.#keys.at(-1) !== key) this.#keys.push(key)
    this.#keyAt.push(this.#keys.length - 1)
    this.#versions.push(Number(version - this.#from))
    this.#supersededBy.push(supersededBy === undefined ? NEVER : Number(supersededBy - this.#from))
  }

  *sorted(): Generator<SortedWrite> {
    const versions = this.#versions
    const order = Uint32Array.from(versions, (_, at) => at).sort((a, b) => versions[a]! - versions[b]!)
    for (const at of order) {
      const next = this.#supersededBy[at]!
      yield {
        key: this.#keys[this.#keyAt[at]!]!,
        version: this.#from + BigInt(versions[at]!),
        supersededBy: next === NEVER ? undefined : this.#from + BigInt(next),
      }
    }
  }
}

const NEVER = -1

async function eachKey(
  store: Layout3Store,
  newestFrom: bigint,
  pace: Pace,
  work: (key: Layout3Key) => void,
): Promise<void> {
  let left = KEYS_BETWEEN_TURNS
  for (const key of store.keys({ newestFrom })) {
    work(key)
    if (--left > 0) continue
    await pace.turn()
    left = KEYS_BETWEEN_TURNS
  }
}
