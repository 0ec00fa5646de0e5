import type { KeyedEntry } from '@ledger-state/core'
import { isOwnKey } from '@ledger-state/records'
import { EntryBatch } from './entry-batch.js'
import type { LeafStore } from './leaf-store.js'
import type { RootThreads } from './root-threads.js'

/** Bytes of entries that are sent to a thread at once. */
const BATCH_BYTES = 256 * 1_024
/** Most batches that are being hashed or added. */
const MOST_UNDER_WAY = 16

/** Entries of a state in groups, in any order. */
export type EntryPages = Iterable<readonly KeyedEntry[]> | AsyncIterable<readonly KeyedEntry[]>

/** Callback for progress, and a signal that ends the work. */
export interface HashingOptions {
  readonly onProgress?: ((keys: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Hashes all entries into leaves.
 * @returns the number of keys
 */
export async function hashPages(
  pages: EntryPages,
  threads: RootThreads,
  leaves: LeafStore,
  { onProgress, signal }: HashingOptions,
): Promise<number> {
  let keys = 0
  let failure: { readonly error: unknown } | undefined
  const underWay = new Set<Promise<void>>()
  /** Leaves are added one batch after the other. */
  let added = Promise.resolve()
  const send = async (batch: EntryBatch) => {
    await threads.ready()
    if (failure) throw failure.error
    const hashed = threads.run({ kind: 'hash', batch: batch.toBytes() })
    const done = (async () => {
      const result = (await hashed) as Uint8Array
      added = added.then(() => leaves.add(result))
      await added
    })().catch((error: unknown) => {
      failure ??= { error }
    })
    underWay.add(done)
    void done.then(() => underWay.delete(done))
    // This also bounds the leaves that wait to be written to files, which may be slower than hashing.
    if (underWay.size > MOST_UNDER_WAY) await Promise.race(underWay)
  }
  let batch = new EntryBatch(BATCH_BYTES)
  try {
    for await (const page of pages) {
      for (const entry of page) {
        if (isOwnKey(entry.key)) continue
        keys++
        if (batch.add(entry)) continue
        await send(batch)
        batch = new EntryBatch(BATCH_BYTES)
        batch.add(entry)
      }
      onProgress?.(keys)
      signal?.throwIfAborted()
    }
    if (!batch.isEmpty) await send(batch)
  } finally {
    await Promise.all(underWay)
  }
  if (failure) throw failure.error
  onProgress?.(keys)
  return keys
}
