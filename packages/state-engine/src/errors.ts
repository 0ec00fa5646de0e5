import { declareErrors, LedgerStateError } from '@ledger-state/core'
import type { StoreErrorCode } from '@ledger-state/engine'

type StoreError = LedgerStateError<StoreErrorCode>

export const invalidArgumentErrors = declareErrors('invalid_argument', {
  noSegments: (path: string) => `the store in ${path} is empty: it has no segment files`,
  commitsOutsideSegments: (path: string) =>
    `the newest commits of the store in ${path} are not in segment files yet: its writer merges them`,
  otherSegments: (path: string) => `${path} does not belong to a part that can be joined with the others`,
  notSuccessive: (before: bigint, next: bigint) =>
    `the stores do not follow each other: version ${before} is followed by version ${next}`,
  notAFolder: (path: string) => `${path} is not a folder`,
  commitTooLong: (bytes: number, most: number) =>
    `a commit of ${bytes} bytes is too long; at most ${most}: commit fewer versions at once`,
  mountPoint: (path: string) =>
    `${path} is a mount point: name a folder in it, because the finished store is renamed into place`,
  folderNotEmpty: (path: string) => `the folder ${path} is not empty: a store needs an empty folder`,
})

export const storeMissing = declareErrors('store_missing', {
  notFound: (path: string) => `there is no ledger store in ${path}`,
  /** Error of a data file that is not the one that was opened. `fate` says what happened to the file. */
  storeFileGone: (file: string, fate: 'removed' | 'replaced') => [
    `${file} was ${fate} while it was open; further writes would be lost`,
    { fate },
  ],
})

export function folderHasStore(path: string): StoreError {
  return new LedgerStateError('store_not_empty', `${path} already holds a store`)
}

/** Error of a store that another process, or another thread of this one, has open as its writer. */
export function storeLocked(holder: string, cause: unknown): StoreError {
  const message = `another writer has this store open and holds ${holder}; stop it first`
  return new LedgerStateError('store_locked', message, { holder: 'another' }, { cause })
}

export const storeFailedErrors = declareErrors('store_failed', {
  nodeTooOld: (what: string, first: string) => `${what} needs Node.js ${first} or newer; this is ${process.version}`,
  storeNotReadable: (path: string, why: string, cause: unknown) => [
    `this process cannot read ${path}: ${why}`,
    {},
    cause,
  ],
  /** Error of a process with the same number as a process of another container that has the store open. */
  processNumberTaken: (processId: number) => [
    `a process of another container or pid namespace has this store open and has the same process id, ${processId}, but LMDB identifies readers by process id: run both in one pid namespace (docker run --pid, shareProcessNamespace), or restart this process to get another id`,
    { processId },
  ],
  /** Error of a reader that sees a state whose files are gone: `lmdb/last-transaction.ts`. It is over with the next commit. */
  olderState: (file: string, cause: unknown) => [
    `LMDB shows an older state than the newest until the writer's next transaction, and this process cannot write to ${file}-lock to correct that: try again after the next commit`,
    {},
    cause,
  ],
  notBegun: (cause: unknown) => ['LMDB could not begin a transaction; nothing has changed: try again', {}, cause],
  /** Error of a part of the memtable whose files would lack writes. Its WAL file stays. */
  writesLeftOut: (written: number, expected: number) =>
    `a merge would have kept ${written} of ${expected} writes, so it was undone; no commit is lost: reopen the store`,
  writerBroken: (cause: unknown) => [
    'the store failed: a commit could not be written or undone; reopen the store',
    {},
    cause,
  ],
})

export const storeReadOnly = declareErrors('store_read_only', {
  openForReading: () => 'the store is open for reading only',
  storeNotWritable: (path: string, why: string, cause: unknown) => [
    `this process cannot write to ${path}: ${why}`,
    {},
    cause,
  ],
})

export const storeFormat = declareErrors('store_format', {
  notAStore: (file: string, why: string, cause?: unknown) => [`${file} is not a ledger store: ${why}`, {}, cause],
  layoutUnknown: (file: string, version: number, ours: number) => [
    `${file} has layout ${version}, but this program reads layout ${ours}: ingest again into an empty folder`,
    { version },
  ],
})

export const storeCorruptErrors = declareErrors('store_corrupt', {
  fileDamaged: (file: string, offset: number, why: string) => [
    `the store is damaged: ${file} at byte ${offset}: ${why}`,
    { offset },
  ],
  dataFileCutShort: (file: string, found: number, needed: number) => [
    `the store is damaged: the file is cut short: ${found} of ${needed} bytes (${file})`,
    { found, needed },
  ],
})

export function storeFull(path: string, cause: unknown): StoreError {
  return new LedgerStateError('store_full', `the disk of ${path} is full`, {}, { cause })
}

/** Error of a WAL file that lacks the commits from `first` to `until - 1`. `because` says how that is known. */
export function commitsMissing(
  file: string,
  offset: number,
  first: number,
  until: number,
  because: string,
): StoreError {
  const missingCommits = until - first
  if (missingCommits < 1)
    return storeCorruptErrors.fileDamaged(file, offset, `the record that seals it is missing: ${because}`)
  const which = missingCommits === 1 ? `commit ${first} is` : `${missingCommits} commits are`
  const range = missingCommits === 1 ? '' : ` (${first} to ${until - 1})`
  const message = `the store is damaged: ${file} at byte ${offset}: ${which} missing or damaged${range}: ${because}`
  return new LedgerStateError('store_corrupt', message, { offset, missingCommits })
}
