import type { KeyedEntry, VersionWrites } from '@ledger-state/core'
import { type AsyncStateWriter, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { copyNotEmpty } from '../errors.js'
import type { ExportSource } from './export-source.js'

// Writes after which a batch ends with the next block that begins, so that readers of the copy see whole blocks.
const BATCH_WRITES = 10_000
const BATCH_BYTES = 16 * 1024 * 1024
/** Number of batches at which a block is split. */
const OVERFULL_BATCHES = 8
const PART_ENTRIES = 2_000

export interface CopyProgress {
  readonly entries: number
  /** The newest version that was copied; undefined before the first. */
  readonly version: bigint | undefined
}

/**
 * Copies a store into an empty one of any kind: the state at its oldest version, then version after version. The copy
 * has the mark of the store, so that its source can continue with the copy.
 * @throws errors of both stores; `store_not_empty`; the reason of the signal
 */
export async function copyStore(
  from: ExportSource,
  to: StateWriter | AsyncStateWriter,
  { name, onProgress, signal }: { name: string; onProgress: (progress: CopyProgress) => void; signal: AbortSignal },
): Promise<void> {
  const writer = to.kind === 'sync' ? engineToAsync(to) : to
  if ((await writer.snapshot()).ledger) throw copyNotEmpty(name)
  const { ledger, mark } = from
  if (!ledger) return
  const { oldestVersion, latestVersion, chainId } = ledger
  let entries = 0
  const tell = (version?: bigint): void => {
    signal.throwIfAborted()
    onProgress({ entries, version })
  }
  const state = await writer.beginImport(oldestVersion)
  for await (const part of inParts(from.entries(oldestVersion))) {
    await state.add(part)
    entries += part.length
    tell()
  }
  const { block } = await from.blockAt(oldestVersion)
  const isWhole = oldestVersion === latestVersion
  await state.finish({ block, chainId, complete: from.isComplete, ...(isWhole && { mark }) })
  if (isWhole) return
  for await (const batch of inBatches(from.versions(oldestVersion + 1n, latestVersion))) {
    const last = batch.at(-1)!.version
    await writer.commit(batch, { chainId, ...(last === latestVersion && { mark }) })
    tell(last)
  }
}

async function* inParts(entries: Iterable<KeyedEntry> | AsyncIterable<KeyedEntry>): AsyncGenerator<KeyedEntry[]> {
  let part: KeyedEntry[] = []
  let bytes = 0
  for await (const entry of entries) {
    part.push(entry)
    bytes += entry.key.length + entry.value.length
    if (part.length < PART_ENTRIES && bytes < BATCH_BYTES) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

async function* inBatches(
  versions: Iterable<VersionWrites> | AsyncIterable<VersionWrites>,
): AsyncGenerator<VersionWrites[]> {
  let batch: VersionWrites[] = []
  let writes = 0
  let bytes = 0
  for await (const one of versions) {
    const most = one.block ? 1 : OVERFULL_BATCHES
    if (writes >= most * BATCH_WRITES || bytes >= most * BATCH_BYTES) {
      yield batch
      batch = []
      writes = 0
      bytes = 0
    }
    batch.push(one)
    // A version without writes is work, too.
    writes += one.writes.length + 1
    for (const [key, value] of one.writes) bytes += key.length + (value?.length ?? 0)
  }
  if (batch.length > 0) yield batch
}
