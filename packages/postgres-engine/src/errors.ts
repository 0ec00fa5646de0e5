import { LedgerStateError } from '@ledger-state/core'
import type { AsyncErrorCode, StoreErrorCode } from '@ledger-state/engine'

type PostgresError = LedgerStateError<StoreErrorCode | AsyncErrorCode>

// In messages, `server` is `user@host:port/database`: no message has a password.

export function urlWrong(why: string): PostgresError {
  return new LedgerStateError('invalid_argument', `the URL of the store ${why}; expected postgres://USER@HOST/DATABASE`)
}

export function unavailable(server: string, why: string, cause?: unknown): PostgresError {
  return new LedgerStateError('unavailable', `the store ${server} does not answer: ${why}`, {}, { cause })
}

export function refusedLogin(server: string, why: string): PostgresError {
  return new LedgerStateError('store_failed', `the server refuses ${server}: ${why}`)
}

export function databaseMissing(server: string): PostgresError {
  return new LedgerStateError('store_missing', `there is no such database: ${server}`)
}

export function storeAbsent(server: string): PostgresError {
  return new LedgerStateError('store_missing', `there is no ledger store in ${server}`)
}

export function layoutUnknown(server: string, version: number, ours: number): PostgresError {
  const message = `the store ${server} has layout ${version}, but this program reads layout ${ours}: ingest again into an empty database`
  return new LedgerStateError('store_format', message, { version })
}

export function noRights(server: string, why: string): PostgresError {
  return new LedgerStateError('store_failed', `the user of ${server} is missing a privilege: ${why}`)
}

export function readOnlyServer(server: string): PostgresError {
  return new LedgerStateError('store_read_only', `${server} does not accept writes: it is a standby or read-only`)
}

export function writerElsewhere(server: string): PostgresError {
  return new LedgerStateError('store_locked', `another writer has the store ${server} open; stop it first`)
}

export function writerDeposed(server: string): PostgresError {
  return new LedgerStateError(
    'store_locked',
    `another writer has taken over the store ${server}; this one has stopped writing`,
  )
}

export function storeDamaged(server: string, why: string, cause?: unknown): PostgresError {
  return new LedgerStateError('store_corrupt', `the store ${server} is damaged: ${why}`, {}, { cause })
}

export function serverFull(server: string, cause: unknown): PostgresError {
  return new LedgerStateError('store_full', `the disk of ${server} is full`, {}, { cause })
}

export function statementFailed(server: string, why: string, cause: unknown): PostgresError {
  return new LedgerStateError('store_failed', `the store ${server} failed: ${why}`, {}, { cause })
}

/** Error of a number above PostgreSQL's greatest `bigint`. */
export function numberTooLarge(what: string, found: bigint): PostgresError {
  return new LedgerStateError('invalid_argument', `${what} is ${found}; a store on PostgreSQL accepts at most 2^63 - 1`)
}
