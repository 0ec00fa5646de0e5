import {
  type AsyncStateWriter,
  engineToAsync,
  noLedger,
  type StateEngineReader,
  type StateWriter,
} from '@ledger-state/engine'
import { decodeCommitMark, encodeCommitMark } from '@ledger-state/records'
import { CountedIngest, type IngestCounters } from '../commit/counters.js'
import type { IngestOptions } from '../commit/ingest-options.js'
import { ingestWith } from '../commit/ingest-source.js'
import { storeToSource } from '../slices/store-source.js'

/** Options for copying a store with an index of holdings. */
export interface IndexStoreOptions extends Pick<IngestOptions, 'signal' | 'progress' | 'observer' | 'onNotice'> {
  /** Name of the store that is copied, for messages. */
  readonly description: string
}

/**
 * The mark of a complete copy: that of the store, with the hash of all writes of the copy if that store has none. A
 * copy of a range is a store of its own that any source continues: the index depends on earlier versions, so it cannot
 * be joined with other ranges.
 * @param copied mark of the copy before
 */
function markOfCopy(copied: Uint8Array | undefined, mark: Uint8Array): Uint8Array {
  const held = decodeCommitMark(mark)
  const writesHash = held.writesHash ?? decodeCommitMark(copied).writesHash
  return encodeCommitMark({ ...held, writesHash, range: undefined })
}

/**
 * Fills an empty store with another one and with the index of holdings at all of its versions, and takes over its mark,
 * so that the copy continues from the same source. The copy has a hash of all writes, even if the other store has none. The same call resumes a copy that was cut short.
 * @throws `no_ledger`, and errors of the stores
 */
export async function indexStore(
  engine: StateWriter | AsyncStateWriter,
  store: StateEngineReader,
  { description, ...options }: IndexStoreOptions,
): Promise<IngestCounters> {
  const { ledger, mark } = store
  if (!ledger) throw noLedger()
  const writer = engine.kind === 'sync' ? engineToAsync(engine) : engine
  const counters = new CountedIngest(writer.ledger?.latestVersion)
  const { latestVersion: to } = ledger
  await ingestWith(writer, storeToSource(store, description), { ...options, to, assumeEmptyBase: true }, counters)
  if (mark && writer.ledger?.latestVersion === to)
    await writer.putMark(markOfCopy((await writer.snapshot()).mark, mark))
  return counters
}
