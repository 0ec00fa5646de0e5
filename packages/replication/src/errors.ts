import { declareErrors, LedgerStateError } from '@ledger-state/core'

/** Error codes of fetching a snapshot, in addition to the codes of the store. */
export type ReplicationErrorCode =
  | 'source_failed'
  | 'store_corrupt'
  | 'invalid_argument'
  | 'version_gap'
  | 'ledger_fork'
  | 'chain_id_mismatch'

type ReplicationError = LedgerStateError<ReplicationErrorCode>

export const rangeErrors = {
  ...declareErrors('invalid_argument', {
    notARange: (path: string) =>
      `the store in ${path} was not filled with a range: ledger-state ingest BACKUP --range FROM-TO --data-dir ${path}`,
    notFinished: (path: string, range: string) =>
      `the range in ${path} is not finished: run ledger-state ingest BACKUP --range ${range} --data-dir ${path} again`,
    otherTransactions: (before: string, next: string) =>
      `${before} and ${next} keep different parts of transactions: fill both with the same --keep-transactions`,
    inPlaceOfUnfinished: (path: string) =>
      `the joined store would be assembled in ${path}, which has a range: rename that folder, or join into another one`,
    overlap: (before: string, next: string, version: bigint) => `${before} and ${next} both have version ${version}`,
  }),
  ...declareErrors('version_gap', {
    gap: (before: string, next: string, expected: bigint, found: bigint) => [
      `${next} begins with version ${found}, but ${before} ends with version ${expected - 1n}: fill the gap with ledger-state ingest BACKUP --range ${expected}-${found - 1n}`,
      { expected, found },
    ],
  }),
  ...declareErrors('ledger_fork', {
    otherLedger: (before: string, next: string, version: bigint) => [
      `${next} does not continue the ledger of ${before}: the accumulator before version ${version} differs`,
      { version },
    ],
  }),
  ...declareErrors('chain_id_mismatch', {
    otherChain: (next: string, found: bigint, before: string, held: bigint) =>
      `${next} has chain ${found}, ${before} has chain ${held}`,
  }),
}

export function nothingToPush(path: string): ReplicationError {
  return new LedgerStateError('invalid_argument', `the store in ${path} is empty: it has no segment files`)
}

export const manifestErrors = {
  ...declareErrors('source_failed', {
    missing: (place: string) =>
      `there is no manifest of segment files at ${place}: ledger-state segments push writes one`,
    notAManifest: (place: string, why: string) => `${place} is not a manifest of segment files: ${why}`,
    notAFolder: (root: string) =>
      `${root} is not a folder: name the folder into which ledger-state segments push wrote`,
    unreadable: (place: string, cause: Error) => [`${place} cannot be read: ${cause.message}`, {}, cause],
  }),
  ...declareErrors('store_corrupt', {
    fileMissing: (place: string) => `${place} is missing, but the manifest names it: push the store again`,
    otherLength: (place: string, found: number, told: number) =>
      `${place} has ${found} bytes, the manifest says ${told}: push the store again, or fetch from another location`,
    otherHash: (place: string) =>
      `${place} does not have the SHA-256 that the manifest says: push the store again, or fetch from another location`,
    otherContent: (place: string, what: string) => `${place} has other ${what} than the manifest says`,
    damaged: (root: string, problems: readonly string[]) =>
      `the files at ${root} are not a sound store: ${problems.join('; ')}`,
  }),
}

export const sourceFailed = declareErrors('source_failed', {
  notAFeed: (url: string, found: string) =>
    `${url} does not serve a feed to replicas (found ${found}): use the address that the other node has as --serve-feed`,
  snapshotRefused: (url: string, status: number, text: string) => `${url} answered ${status}: ${text}`,
  notAManifest: (url: string, found: string) => `expected a list of snapshot files from ${url}, found ${found}`,
  pieceDamaged: (name: string, offset: number) =>
    `${name} arrived damaged: the piece at byte ${offset} does not have the hash that the source announced`,
  /**
   * Error of a source that failed too often.
   * @param attempts how often the source did not answer, also in the field `answers`
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

export function joinedDamaged(path: string, problems: readonly string[]): ReplicationError {
  return new LedgerStateError(
    'store_corrupt',
    `the store that was joined for ${path} is damaged: ${problems.join('; ')}`,
  )
}
