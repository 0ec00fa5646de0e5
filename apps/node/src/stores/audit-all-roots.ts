import { type AuditRecord, auditRoots } from '@ledger-state/ingest'
import { DEFAULT_HASH_SALT } from '@ledger-state/proof'
import { decodeCommitMark } from '@ledger-state/records'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import { noLedgerErrors, stateRootUnknown } from '../errors.js'
import { formatCount, formatDuration } from '../terminal/amounts.js'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.js'
import { lockAudit } from './audit-lock.js'
import { auditedStore } from './audited-store.js'

export interface AuditAllOptions {
  /** Folder of the audit. */
  readonly folder: string
  /** Whether to begin at the oldest version, whatever was audited before. */
  readonly isAgain?: boolean | undefined
  /** The word before the name of each hash; by default the one that the store remembers. */
  readonly hashSalt?: string | undefined
  readonly threads?: number | undefined
  /** Bounds of memory: see `AuditRootsOptions`. */
  readonly memoryBytes?: number | undefined
  readonly rangeWrites?: number | undefined
  /**
   * Disk for proofs at ends of blocks, in percent of the size of the store; 0 for none. By default, proofs are kept as by
   * the audit before.
   */
  readonly proofsBudget?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Waits until the work may continue; see `AuditRootsOptions`. */
  readonly pace?: (() => Promise<void>) | undefined
  /** Line of progress; by default one on standard error. */
  readonly line?: ProgressLine | undefined
}

/**
 * Computes the root of the state at the end of each block of a store, and compares it with the ledger's.
 * @param name name of the store for messages
 * @throws `no_ledger`; `audit_running`; `state_root_unknown` if the store keeps no root, or keeps a slice, or began on an assumed empty
 * base; errors of `auditRoots`
 */
export async function auditAllRoots(
  engine: LmdbEngineReader,
  name: string,
  { hashSalt, proofsBudget, line = createProgressLine(process.stderr), ...options }: AuditAllOptions,
): Promise<AuditRecord> {
  const store = await auditedStore(engine)
  if (await store.isSlice()) throw stateRootUnknown.sliceHasNoRoot()
  if (!store.isComplete) throw stateRootUnknown.assumedBaseHasNoRoot()
  const { ledger } = store
  if (!ledger) throw noLedgerErrors.emptyStore(name)
  const newest = await store.newestRoot(ledger.latestVersion)
  if (!newest || newest.version < ledger.oldestVersion) {
    throw stateRootUnknown.inRange(name, ledger.oldestVersion, ledger.latestVersion)
  }
  const target = newest.version
  const release = lockAudit(options.folder)
  let began: { readonly seconds: number; readonly writes: number } | undefined
  try {
    return await auditRoots(engine, {
      ...options,
      target,
      proofBytes: proofsBudget === undefined ? undefined : Math.ceil((engine.stats.fileBytes * proofsBudget) / 100),
      hashSalt: hashSalt ?? decodeCommitMark(store.mark).hashSalt ?? DEFAULT_HASH_SALT,
      onProgress: ({ version, doneWrites, totalWrites }) =>
        line.update((seconds) => {
          began ??= { seconds, writes: doneWrites }
          const rate = (doneWrites - began.writes) / Math.max(seconds - began.seconds, 0.001)
          const left = rate > 0 ? `, ${formatDuration((totalWrites - doneWrites) / rate)} left` : ''
          const share = totalWrites > 0 ? Math.min(1, doneWrites / totalWrites) : 0
          return `auditing: ${(share * 100).toFixed(1)} %${left}, ${formatCount(Math.round(rate))} writes/s, audited to ${version}`
        }),
    })
  } finally {
    release()
    line.finish()
  }
}
