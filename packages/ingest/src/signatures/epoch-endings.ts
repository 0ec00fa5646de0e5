import type { KeyedEntry, Write } from '@ledger-state/core'
import type { AsyncStateReader, AsyncStateSnapshot, StateEngineReader } from '@ledger-state/engine'
import { EPOCH_ENDING_PREFIX, epochEndingKey, epochOfKey } from '@ledger-state/records'
import { type PackedEpochChange, unpackEnding } from '@ledger-state/records/epoch-change'
import { pendingEndings } from './pending-writes.js'

/** An epoch change that a store keeps. */
export interface KeptEnding {
  readonly epoch: bigint
  /** BCS of the ledger info with its signatures, as backups have it. */
  readonly bytes: Uint8Array
}

/**
 * Writes for those epoch changes that a store does not keep yet.
 * @param held ledger of the store; undefined if it is empty
 */
export async function endingWrites(
  held: AsyncStateSnapshot | undefined,
  endings: readonly PackedEpochChange[],
): Promise<Write[]> {
  const writes = endings.map(({ epoch, packed }): Write => [epochEndingKey(epoch), packed])
  if (!held?.ledger || writes.length === 0) return writes
  const kept = await held.at().load(writes.map(([key]) => key))
  return writes.filter((_, at) => kept[at] === undefined)
}

/**
 * Reads the epoch changes that a store keeps, in order. It checks nothing.
 * @throws `untrusted` if one is damaged; `no_ledger`
 * @example
 * ```ts
 * import { createMemoryEngine } from '@ledger-state/engine'
 * import { readEpochEndings } from '@ledger-state/ingest'
 *
 * const engine = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
 * let count = 0
 * for await (const ending of readEpochEndings(engine)) count++
 * console.log(count) // 0
 * ```
 */
export async function* readEpochEndings(engine: StateEngineReader | AsyncStateReader): AsyncGenerator<KeptEnding> {
  let previous: Uint8Array | undefined
  for await (const { key, value } of keptEntries(engine)) {
    const epoch = epochOfKey(key)
    const bytes = unpackEnding({ epoch, packed: value }, previous)
    yield { epoch, bytes }
    previous = bytes
  }
}

async function* keptEntries(engine: StateEngineReader | AsyncStateReader): AsyncGenerator<KeyedEntry> {
  if (engine.kind === 'sync') {
    const { mark } = engine
    yield* engine.at().scan(EPOCH_ENDING_PREFIX)
    yield* pendingEntries(engine.ledger!.latestVersion, mark)
    return
  }
  const snapshot = await engine.snapshot()
  const view = snapshot.at()
  for (let start: Uint8Array | undefined = EPOCH_ENDING_PREFIX; start; ) {
    const page = await view.scan(EPOCH_ENDING_PREFIX, { start })
    yield* page.entries
    start = page.next
  }
  yield* pendingEntries(snapshot.ledger!.latestVersion, snapshot.mark)
}

/** Epoch changes that the next commit writes; they follow all that are written. */
function pendingEntries(version: bigint, mark: Uint8Array | undefined): readonly KeyedEntry[] {
  return pendingEndings(mark).map(([key, value]) => ({ key, value, version }))
}
