import { declareErrors, LedgerStateError } from '@ledger-state/core'
import type { AsyncErrorCode, StoreErrorCode } from '@ledger-state/engine'

type PostgresError = LedgerStateError<StoreErrorCode | AsyncErrorCode>

// In messages, `server` is `user@host:port/database`: no message has a password.

export const invalidArgument = declareErrors('invalid_argument', {
  urlWrong: (why: string) => `the URL of the store ${why}; expected postgres://USER@HOST/DATABASE`,
  /** Error of a number above PostgreSQL's greatest `bigint`. */
  numberTooLarge: (what: string, found: bigint) =>
    `${what} is ${found}; a store on PostgreSQL accepts at most 2^63 - 1`,
})

export function unavailable(server: string, why: string, cause?: unknown): PostgresError {
  return new LedgerStateError('unavailable', `the store ${server} does not answer: ${why}`, {}, { cause })
}

/** Error of a server that lost commits. The same call succeeds only once the store was opened again. */
export function workLost(server: string): PostgresError {
  const message = `the store ${server} is older than when this writer wrote to it, as after a failover to a standby that lagged behind; open the store again, and write the missing versions again`
  return new LedgerStateError('unavailable', message)
}

export const storeFailed = declareErrors('store_failed', {
  refusedLogin: (server: string, why: string) => `the server refuses ${server}: ${why}`,
  noRights: (server: string, why: string) => `the user of ${server} is missing a privilege: ${why}`,
  statementFailed: (server: string, why: string, cause: unknown) => [`the store ${server} failed: ${why}`, {}, cause],
})

export const storeMissing = declareErrors('store_missing', {
  databaseMissing: (server: string) => `there is no such database: ${server}`,
  storeAbsent: (server: string) => `there is no ledger store in ${server}`,
})

export function layoutUnknown(server: string, version: number, ours: number): PostgresError {
  const message = `the store ${server} has layout ${version}, but this program reads layout ${ours}: ingest again into an empty database`
  return new LedgerStateError('store_format', message, { version })
}

export function readOnlyServer(server: string): PostgresError {
  return new LedgerStateError('store_read_only', `${server} does not accept writes: it is a standby or read-only`)
}

export const storeLocked = declareErrors('store_locked', {
  writerElsewhere: (server: string) => `another writer has the store ${server} open; stop it first`,
  writerDeposed: (server: string) => `another writer has taken over the store ${server}; this one has stopped writing`,
})

export function storeDamaged(server: string, why: string, cause?: unknown): PostgresError {
  return new LedgerStateError('store_corrupt', `the store ${server} is damaged: ${why}`, {}, { cause })
}

export function serverFull(server: string, cause: unknown): PostgresError {
  return new LedgerStateError('store_full', `the disk of ${server} is full`, {}, { cause })
}
