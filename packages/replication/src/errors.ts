import { LedgerStateError } from '@ledger-state/core'

/** Codes of errors of fetching a snapshot, besides the codes of the store. */
export type ReplicationErrorCode = 'source_failed' | 'store_corrupt'

type ReplicationError = LedgerStateError<ReplicationErrorCode>

export function notAFeed(url: string, found: string): ReplicationError {
  const message = `${url} does not serve a feed to replicas (found ${found}): use the address that the other node has as --serve-feed`
  return new LedgerStateError('source_failed', message)
}

export function snapshotRefused(url: string, status: number, text: string): ReplicationError {
  return new LedgerStateError('source_failed', `${url} answered ${status}: ${text}`)
}

export function notAManifest(url: string, found: string): ReplicationError {
  return new LedgerStateError('source_failed', `expected a list of snapshot files from ${url}, found ${found}`)
}

export function pieceDamaged(name: string, offset: number): ReplicationError {
  const message = `${name} arrived damaged: the piece at byte ${offset} does not have the hash that the source announced`
  return new LedgerStateError('source_failed', message)
}

/**
 * Error of a source that failed too often.
 * @param attempts how often the source did not answer, which its field `answers` says as well
 */
export function fetchFailed(url: string, attempts: number, why: string): ReplicationError {
  const message = `${url} failed ${attempts} times; the last time: ${why}`
  return new LedgerStateError('source_failed', message, { answers: attempts })
}

export function replicaRequestRefused(url: string, why: string): ReplicationError {
  return new LedgerStateError('source_failed', `${url} failed: ${why}`)
}

export function endedEarly(name: string, length: number, expected: number): ReplicationError {
  return new LedgerStateError('source_failed', `${name} ended after ${length} bytes; the source announced ${expected}`)
}

export function snapshotDamaged(url: string, problems: readonly string[]): ReplicationError {
  return new LedgerStateError('store_corrupt', `the snapshot of ${url} is damaged: ${problems.join('; ')}`)
}
