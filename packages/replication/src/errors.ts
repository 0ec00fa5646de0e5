import { LedgerStateError } from '@ledger-state/core'

/** What fetching a snapshot may fail with, besides the codes of the store. */
export type ReplicationErrorCode = 'source_failed' | 'store_corrupt' | 'store_not_empty'

type ReplicationError = LedgerStateError<ReplicationErrorCode>

export function notAFeed(url: string, found: string): ReplicationError {
  const message = `${url} serves no feed to replicas (found ${found}): name the address that another node was given as --serve-feed`
  return new LedgerStateError('source_failed', message)
}

export function snapshotRefused(url: string, status: number, text: string): ReplicationError {
  return new LedgerStateError('source_failed', `${url} answered ${status}: ${text}`)
}

export function fileOfOtherLength(url: string, found: number, expected: number): ReplicationError {
  return new LedgerStateError('source_failed', `${url} has ${found} bytes, ${expected} were announced`)
}

export function fetchFailed(url: string, attempts: number, why: string): ReplicationError {
  return new LedgerStateError('source_failed', `${url} failed ${attempts} times; the last time: ${why}`)
}

export function snapshotDamaged(url: string, problems: readonly string[]): ReplicationError {
  return new LedgerStateError('store_corrupt', `the snapshot of ${url} is damaged: ${problems.join('; ')}`)
}
