import { isLedgerStateError } from '@ledger-state/core'
import { type BlockPaths, createBlockPaths } from '@ledger-state/feed'
import type { BlockProofs } from '@ledger-state/http'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import { storedAudit } from './audit-folder.js'

/** Time for which the record of an audit is reused. */
const RECORD_AGE_MS = 1_000

/** Proofs at ends of blocks, from the files that an audit keeps. */
export interface OpenBlockProofs {
  /** Undefined as long as there are none, and from a truncation of audited versions to the next audit. */
  current(): BlockProofs | undefined
  close(): void
}

/** Opens the proofs at ends of blocks that an audit keeps in its folder, now or later. */
export function openBlockProofs(engine: LmdbEngineReader, folder: string, log: Pick<Logger, 'error'>): OpenBlockProofs {
  let paths: BlockPaths | undefined
  let proofs: BlockProofs | undefined
  let used: string | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  function look(): void {
    try {
      const record = storedAudit(engine, folder)
      if (!record?.proofs) {
        close()
        return
      }
      const { hashSalt } = record
      const name = `${hashSalt} ${record.proofs.keysFile}`
      if (name === used) return
      if (proofs?.hashSalt !== hashSalt) close()
      paths ??= createBlockPaths(folder, hashSalt)
      // The audit may have replaced the files meanwhile: the next look finds the new ones.
      if (!paths.use(record.proofs)) return
      used = name
      const { endUpTo, endAfter, pathOf } = paths
      proofs = {
        hashSalt,
        endUpTo: endUpTo.bind(paths),
        endAfter: endAfter.bind(paths),
        pathOf: pathOf.bind(paths),
      }
    } catch (error) {
      // Files that the system does not read now leave those in use as they are.
      if (!isLedgerStateError(error, 'spill_failed')) close()
      log.error(error instanceof Error ? error.message : String(error))
    }
  }

  function close(): void {
    paths?.close()
    paths = undefined
    proofs = undefined
    used = undefined
  }

  return {
    current() {
      if (performance.now() - lookedAt >= RECORD_AGE_MS) {
        look()
        lookedAt = performance.now()
      }
      return proofs
    },
    close,
  }
}
