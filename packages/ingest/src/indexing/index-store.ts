import {
  type AsyncStateWriter,
  engineToAsync,
  noLedger,
  type StateEngineReader,
  type StateWriter,
} from '@ledger-state/engine'
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
 * Fills an empty store with another one and with the index of holdings at all of its versions, and takes over its mark,
 * so that the copy continues from the same source. The same call resumes a copy that was cut short.
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
  if (mark && writer.ledger?.latestVersion === to) await writer.putMark(mark)
  return counters
}
