import type { KeyedEntry } from '@ledger-state/core'
import { isOwnKey } from '@ledger-state/records'
import { BatchSender } from './batch-sender.js'
import { EntryBatch } from './entry-batch.js'
import type { LeafStore } from './leaf-store.js'
import type { RootThreads } from './root-threads.js'

/** Bytes of entries that are sent to a thread at once. */
const BATCH_BYTES = 256 * 1_024

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
  const sender = new BatchSender(threads, (hashed) => leaves.add(hashed as Uint8Array))
  const send = (full: EntryBatch) => sender.send({ kind: 'hash', batch: full.toBytes() })
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
    await sender.settle()
  }
  await sender.finish()
  onProgress?.(keys)
  return keys
}
