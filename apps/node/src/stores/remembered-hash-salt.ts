import { isLedgerStateError } from '@ledger-state/core'
import { decodeCommitMark } from '@ledger-state/records'
import { openReader } from './open-reader.js'
import type { StorePlace } from './store-place.js'

/**
 * The word before the name of each hash that a store remembers from its sources. Undefined if there is none, or no
 * store that can be read; opening it for writing reports why.
 */
export async function rememberedHashSalt(place: StorePlace): Promise<string | undefined> {
  try {
    const engine = await openReader(place)
    try {
      const { mark } = engine.kind === 'sync' ? engine : await engine.snapshot()
      return decodeCommitMark(mark).hashSalt
    } finally {
      await engine.close()
    }
  } catch (error) {
    if (isLedgerStateError(error)) return undefined
    throw error
  }
}
