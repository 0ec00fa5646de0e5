import type { LedgerSource } from '@ledger-state/feed'
import type { SliceOptions } from '@ledger-state/slices/take'
import { type SliceSettings, sliceSpecOf } from '../config/slice-settings.js'
import type { StorePlace } from '../stores/store-place.js'

/**
 * Options of a slice for an ingest into a store.
 * @param reopen opens the source again, if it can be read more than once
 */
export function sliceOptionsOf(
  slice: SliceSettings,
  place: StorePlace,
  reopen: (() => Promise<LedgerSource>) | undefined,
): SliceOptions<LedgerSource> {
  return { spec: sliceSpecOf(slice), reopen, folder: place.kind === 'folder' ? place.dataDir : undefined }
}
