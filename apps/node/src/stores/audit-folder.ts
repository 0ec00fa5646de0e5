import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import type { AuditedVersions } from '@ledger-state/http'
import { type AuditRecord, readAuditRecord } from '@ledger-state/ingest'
import type { LmdbEngineReader } from '@ledger-state/state-engine'

/** An engine whose store may be audited. */
type AuditedEngine = Pick<LmdbEngineReader, 'ledger' | 'storeId'>

/** The folder of the audit of a store, unless another one is named. */
export function auditFolder(dataDir: string): string {
  return join(dataDir, 'audit')
}

/** Time for which the record of an audit is reused. */
const RECORD_AGE_MS = 1_000

/** Reads the audited versions of a served store, at most once a second. */
export function watchAudit(engine: AuditedEngine, folder: string): () => AuditedVersions | undefined {
  let readAt = Number.NEGATIVE_INFINITY
  let known: AuditedVersions | undefined
  return () => {
    if (performance.now() - readAt < RECORD_AGE_MS) return known
    readAt = performance.now()
    try {
      const record = storedAudit(engine, folder)
      known = record && { from: record.from, version: record.version, findings: record.findingCount }
    } catch (error) {
      // The versions that were known as audited still are.
      if (!isLedgerStateError(error, 'spill_failed')) throw error
    }
    return known
  }
}

/**
 * The audit of a store, as far as it is valid for its present state; undefined if nothing is.
 * @throws `spill_failed` if the system does not read its record
 */
export function storedAudit(engine: AuditedEngine, folder: string): AuditRecord | undefined {
  const record = readAuditRecord(folder)
  const { ledger, storeId } = engine
  if (!record || !ledger || record.storeId !== storeId || record.version > ledger.latestVersion) return undefined
  const isCut = ledger.truncations?.some(({ number, version }) => number > record.branch && version < record.version)
  return isCut ? undefined : record
}
