import { declareErrors, LedgerStateError } from '@ledger-state/core'

/** Error codes of fetching a snapshot, in addition to the codes of the store. */
export type ReplicationErrorCode = 'source_failed' | 'store_corrupt'

type ReplicationError = LedgerStateError<ReplicationErrorCode>

export const sourceFailed = declareErrors('source_failed', {
  notAFeed: (url: string, found: string) =>
    `${url} does not serve a feed to replicas (found ${found}): use the address that the other node has as --serve-feed`,
  snapshotRefused: (url: string, status: number, text: string) => `${url} answered ${status}: ${text}`,
  notAManifest: (url: string, found: string) => `expected a list of snapshot files from ${url}, found ${found}`,
  pieceDamaged: (name: string, offset: number) =>
    `${name} arrived damaged: the piece at byte ${offset} does not have the hash that the source announced`,
  /**
   * Error of a source that failed too often.
   * @param attempts how often the source did not answer, which its field `answers` says as well
   */
  fetchFailed: (url: string, attempts: number, why: string) => [
    `${url} failed ${attempts} times; the last time: ${why}`,
    { answers: attempts },
  ],
  replicaRequestRefused: (url: string, why: string) => `${url} failed: ${why}`,
  endedEarly: (name: string, length: number, expected: number) =>
    `${name} ended after ${length} bytes; the source announced ${expected}`,
})

export function snapshotDamaged(url: string, problems: readonly string[]): ReplicationError {
  return new LedgerStateError('store_corrupt', `the snapshot of ${url} is damaged: ${problems.join('; ')}`)
}
