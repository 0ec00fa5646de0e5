import type { Revision, StateReader } from '@ledger-state/engine'

/** The values of keys between a version and the next state. */
export interface StoredState {
  readonly version: bigint
  /** Values in the order of the keys; null for a key that does not exist. */
  readonly values: readonly (Uint8Array | null)[]
}

// Below the oldest version of the window only the newest revision of each key is known. Together these revisions are
// one state. It has the version of the newest of them, and lasts until the oldest version at least.

/**
 * The states of keys at or below version `last`, the newest first: one for each version that wrote one of the keys.
 * Only the states that are taken cost anything.
 */
export function* statesNewestFirst(
  reader: StateReader,
  keys: readonly Uint8Array[],
  last: bigint,
  oldestVersion: bigint,
): Generator<StoredState> {
  const [key, ...others] = keys
  if (key && others.length === 0) {
    for (const { version, value } of reader.history(key, { last, order: 'desc' })) {
      yield { version, values: [value] }
      if (version <= oldestVersion) return
    }
    return
  }
  const streams = keys.map((one) => openStream(reader.history(one, { last, order: 'desc' })))
  try {
    const heads = streams.map(take)
    while (heads.some((head) => head !== undefined)) {
      const version = heads.reduce((newest, head) => (head && head.version > newest ? head.version : newest), 0n)
      yield { version, values: heads.map((head) => head?.value ?? null) }
      if (version <= oldestVersion) return
      for (const [at, stream] of streams.entries()) if (heads[at]?.version === version) heads[at] = take(stream)
    }
  } finally {
    streams.forEach(close)
  }
}

/**
 * The states of keys from version `first` to `last`, the oldest first. Before them comes the state at `first`, if one
 * of the keys was written earlier.
 */
export function* statesOldestFirst(
  reader: StateReader,
  keys: readonly Uint8Array[],
  first: bigint,
  last: bigint,
  oldestVersion: bigint,
): Generator<StoredState> {
  const before = first > oldestVersion ? first - 1n : oldestVersion
  const opening = keys.map((key) => newestUntil(reader, key, before))
  const values = opening.map((revision) => revision?.value ?? null)
  const written = opening.flatMap((revision) => (revision ? [revision.version] : []))
  if (written.length > 0) yield { version: written.reduce((a, b) => (a > b ? a : b)), values: [...values] }

  const streams = keys.map((key) => openStream(reader.history(key, { first: before + 1n, last, order: 'asc' })))
  try {
    const heads = streams.map(take)
    for (;;) {
      const version = oldestOf(heads)
      if (version === undefined) return
      for (const [at, stream] of streams.entries()) {
        const head = heads[at]
        if (head?.version !== version) continue
        values[at] = head.value
        heads[at] = take(stream)
      }
      yield { version, values: [...values] }
    }
  } finally {
    streams.forEach(close)
  }
}

function oldestOf(revisions: readonly (Revision | undefined)[]): bigint | undefined {
  const versions = revisions.flatMap((revision) => (revision ? [revision.version] : []))
  return versions.length === 0 ? undefined : versions.reduce((a, b) => (a < b ? a : b))
}

function newestUntil(reader: StateReader, key: Uint8Array, last: bigint): Revision | undefined {
  for (const revision of reader.history(key, { last, order: 'desc' })) return revision
  return undefined
}

function openStream<T>(items: Iterable<T>): Iterator<T> {
  return items[Symbol.iterator]()
}

function take(stream: Iterator<Revision>): Revision | undefined {
  const { done, value } = stream.next()
  return done ? undefined : value
}

/** Closes a stream that was not read to its end and may hold a snapshot of the store. */
function close(stream: Iterator<Revision>): void {
  stream.return?.()
}
