import { LedgerHasher } from '@ledger-state/proof'
import type { TrustedState } from '@ledger-state/records'
import type { BackupStorage } from '../files/backup-storage.js'
import { SignatureVerifier } from './signature-verifier.js'
import type { LedgerSource, Reading, SourceOptions } from './source.js'

/**
 * Opens the epoch changes of a backup, which hold no versions. Reading them proves the validators of all epochs. If
 * the store holds versions, it is instead compared with the epoch changes within its window.
 */
export function openEpochEndings(storage: BackupStorage, options: SourceOptions): LedgerSource {
  const hasher = new LedgerHasher(options.hashSalt)
  const verifier = new SignatureVerifier(storage, hasher, options)
  let trustedState: TrustedState | undefined
  let isCompared = false
  return {
    description: 'backup of epoch changes',
    chainId: undefined,
    position: storage.root,
    mark: undefined,
    hashSalt: hasher.salt,
    get trustedState() {
      return trustedState
    },
    signedPoints(reading) {
      isCompared = true
      return verifier.endingsWithin(reading)
    },
    takeEndings: () => verifier.takeEndings(),
    progress: { done: 0, total: 0, unit: 'versions' },
    // biome-ignore lint/correctness/useYield: it holds no versions
    async *versions({ trustedState: held }: Reading = {}) {
      if (!isCompared && !held) trustedState = await verifier.verifyAll()
    },
    async close() {
      await verifier.close()
      await storage.close()
    },
  }
}
