import { LedgerHasher } from '@ledger-state/proof'
import type { Vouching } from '@ledger-state/records'
import type { BackupStorage } from '../files/backup-storage.js'
import type { LedgerSource, Reading, SourceOptions } from './source.js'
import { Voucher } from './voucher.js'

/**
 * Opens the ends of epochs of a backup, which hold no versions. Reading them proves the validators of all epochs. If
 * the store holds versions, it is instead compared with the ends of epochs within its window.
 */
export function openEpochEndings(storage: BackupStorage, options: SourceOptions): LedgerSource {
  const voucher = new Voucher(storage, new LedgerHasher(options.hashSalt), options)
  let vouching: Vouching | undefined
  let isCompared = false
  return {
    description: 'backup of epoch changes',
    chainId: undefined,
    position: storage.root,
    mark: undefined,
    get vouching() {
      return vouching
    },
    signedPoints(reading) {
      isCompared = true
      return voucher.endingsWithin(reading)
    },
    takeEndings: () => voucher.takeEndings(),
    progress: { done: 0, total: 0, unit: 'versions' },
    // biome-ignore lint/correctness/useYield: it holds no versions
    async *versions({ vouching: held }: Reading = {}) {
      if (!isCompared && !held) vouching = await voucher.vouchForAll()
    },
    async close() {
      await voucher.close()
      await storage.close()
    },
  }
}
