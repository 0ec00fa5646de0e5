import { join } from 'node:path'
import { type AuditRecord, readAuditRecord } from '@ledger-state/ingest'
import type { LmdbEngineReader } from '@ledger-state/state-engine'

/** The folder of the audit of a store, unless another one is named. */
export function auditFolder(dataDir: string): string {
  return join(dataDir, 'audit')
}

/** What was audited of a store, as far as it is valid for its present state; undefined if nothing is. */
export function storedAudit(engine: LmdbEngineReader, folder: string): AuditRecord | undefined {
  const record = readAuditRecord(folder)
  const { ledger, storeId } = engine
  if (!record || !ledger || record.storeId !== storeId || record.version > ledger.latestVersion) return undefined
  const isCut = ledger.truncations?.some(({ number, version }) => number > record.branch && version < record.version)
  return isCut ? undefined : record
}
