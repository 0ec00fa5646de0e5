import { join } from 'node:path'
import { isPresent } from '@ledger-state/core/files'
import { usage } from '../errors.js'
import type { StorePlace } from './store-place.js'

/** A file in a folder that `index` fills, until the copy is complete. */
export function begunCopyFile(folder: string): string {
  return join(folder, 'index.begun')
}

/**
 * Refuses an unfinished copy, for everything but `index` that writes. Once complete, the copy claims the proofs and
 * signatures of the store that it copies, also for versions that someone else wrote in the meantime.
 * @throws `usage`
 */
export function expectNoBegunCopy(place: StorePlace): void {
  if (place.kind !== 'folder') return
  const file = begunCopyFile(place.dataDir)
  if (isPresent(file)) throw usage.copyNotComplete(place.dataDir, file)
}
