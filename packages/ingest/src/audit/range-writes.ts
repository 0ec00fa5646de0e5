import { setImmediate } from 'node:timers/promises'
import type { MergedWrites, StateEngineReader, StoredWrite } from '@ledger-state/engine'

/** An engine in a folder, whose files can be read in one pass. */
export interface AuditedEngine extends StateEngineReader {
  /** Identifies the store: another store in the same folder has another one. */
  readonly storeId: string
  readonly stats: { readonly keys: number; readonly memtableEntries: number }
  /** All writes of the store, in the order of their keys. The caller closes them. */
  openMergedWrites(): MergedWrites
}

/** Writes that are read in a turn of the event loop. */
const WRITES_AT_ONCE = 5_000

const ALL_KEYS = new Uint8Array(0)

/**
 * Writes that make up the state of the oldest version, those of a key in the order of their versions. They come from
 * files, where other versions need not be passed, unless the version is not merged yet.
 */
export function* writesUpTo(engine: AuditedEngine, merged: MergedWrites, oldest: bigint): Generator<StoredWrite> {
  if (merged.last !== undefined && merged.last >= oldest) yield* merged.writes(0n, oldest)
  else
    for (const entry of engine.at(oldest).scan(ALL_KEYS))
      yield { ...entry, isNewKey: true, annotation: entry.annotation }
}

/** Called with each write. If it returns a promise, the next write waits for it. */
export type WriteVisitor = (write: StoredWrite) => Promise<void> | undefined

/** Versions whose writes are read, and how the reading is stopped and slowed down. */
export interface WriteRangeOptions {
  readonly first: bigint
  readonly last: bigint
  readonly signal?: AbortSignal | undefined
  readonly pace?: (() => Promise<void>) | undefined
}

/**
 * Reads all writes of versions above the oldest: those in files in the order of their keys, then those that are not
 * merged, in the order of their versions.
 * @throws `version_pruned`, `version_truncated` if unmerged versions are cut off meanwhile
 */
export async function readRangeWrites(
  engine: AuditedEngine,
  { first, last, signal, pace }: WriteRangeOptions,
  visit: WriteVisitor,
): Promise<void> {
  const merged = engine.openMergedWrites()
  let count = 0
  const pause = async () => {
    await setImmediate()
    await pace?.()
    signal?.throwIfAborted()
  }
  try {
    const mergedLast = merged.last === undefined ? first - 1n : merged.last < last ? merged.last : last
    for (const write of merged.writes(first, mergedLast)) {
      const wait = visit(write)
      if (wait) await wait
      if (++count % WRITES_AT_ONCE === 0) await pause()
    }
    const next = mergedLast < first ? first : mergedLast + 1n
    if (next > last) return
    for (const { version, writes } of engine.versions(next, last)) {
      for (const [key, value, annotation] of writes) {
        const wait = visit({ version, key, isNewKey: true, value, annotation })
        if (wait) await wait
        if (++count % WRITES_AT_ONCE === 0) await pause()
      }
    }
  } finally {
    merged.close()
  }
}
