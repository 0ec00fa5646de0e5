import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import { readOnlyServer, serverFull, storeDamaged, storeFailed, storeMissing, unavailable } from '../errors.js'

// Codes: https://www.postgresql.org/docs/18/errcodes-appendix.html

/**
 * Codes of failures after which the same statement may succeed: broken connections, and servers that start, stop or are
 * full.
 */
const PASSING = /^(08|57P0|53300|55P03|40|25P03|57014)/
/** Errors of Citus without a code of their kind: a worker or a coordinator ends, or a shard moves or is split. */
const PASSING_INTERNAL = /^XX000 .*(connection|terminat|postmaster|node|shard)/
/** Error for a shard that was moved and dropped at its old place since the statement was planned. */
const MOVED_SHARD = /^42P01 .*"ledger_state\.(entries|keys)_\d+"/

interface ServerError {
  readonly code?: string
  readonly message: string
  readonly severity?: string
}

function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as ServerError
  // Errors of sockets have codes, too, such as ECONNREFUSED.
  return severity === undefined ? undefined : code
}

export function isMissingTable(error: unknown): boolean {
  const state = sqlState(error)
  return state === '42P01' || state === '3F000'
}

/** Whether an error of `toStoreError` says that the server does not support statements of this form. */
export function isNotSupported(error: unknown): boolean {
  return isLedgerStateError(error) && sqlState(error.cause ?? {}) === '0A000'
}

/** Whether the statement may succeed later: the server did not answer, or said that it cannot run it now. */
export function isPassing(error: unknown): boolean {
  if (isLedgerStateError(error)) return error.code === 'unavailable'
  const state = sqlState(error)
  if (state === undefined) return error instanceof Error && !(error instanceof TypeError)
  const text = `${state} ${(error as ServerError).message}`
  return PASSING.test(state) || PASSING_INTERNAL.test(text) || MOVED_SHARD.test(text)
}

/**
 * Converts a failure of the driver or the server to the error for callers. Messages never show parameters of
 * statements.
 */
export function toStoreError(error: unknown, server: string): LedgerStateError {
  if (isLedgerStateError(error)) return error
  const { message, code } = error as ServerError
  const state = sqlState(error)
  if (isPassing(error)) return unavailable(server, message === '' ? String(code) : message, error)
  if (state === undefined) return storeFailed.statementFailed(server, message, error)
  if (state.startsWith('28')) return storeFailed.refusedLogin(server, message)
  if (state === '3D000') return storeMissing.databaseMissing(server)
  if (state === '42501') return storeFailed.noRights(server, message)
  if (state === '25006') return readOnlyServer(server)
  if (state === '53100') return serverFull(server, error)
  if (state.startsWith('42')) return storeDamaged(server, message, error)
  return storeFailed.statementFailed(server, message, error)
}
