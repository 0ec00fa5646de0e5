import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import {
  databaseMissing,
  noRights,
  readOnlyServer,
  refusedLogin,
  serverFull,
  statementFailed,
  storeDamaged,
  unavailable,
} from '../errors.js'

// Codes: https://www.postgresql.org/docs/18/errcodes-appendix.html

/** Connections that ended, servers that start, stop or are full: the same statement may succeed later. */
const PASSING = /^(08|57P0|53300|55P03|40|25P03|57014|XX000.*terminat)/

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

/** Whether the server answered that the statement cannot be done now, or did not answer at all. */
export function isPassing(error: unknown): boolean {
  if (isLedgerStateError(error)) return error.code === 'unavailable'
  const state = sqlState(error)
  return state === undefined ? error instanceof Error && !(error instanceof TypeError) : PASSING.test(state)
}

/** What a failure of the driver or the server is to callers. Parameters of statements never show in a message. */
export function toStoreError(error: unknown, server: string): LedgerStateError {
  if (isLedgerStateError(error)) return error
  const { message, code } = error as ServerError
  const state = sqlState(error)
  if (isPassing(error)) return unavailable(server, message === '' ? String(code) : message, error)
  if (state === undefined) return statementFailed(server, message, error)
  if (state.startsWith('28')) return refusedLogin(server, message)
  if (state === '3D000') return databaseMissing(server)
  if (state === '42501') return noRights(server, message)
  if (state === '25006') return readOnlyServer(server)
  if (state === '53100') return serverFull(server, error)
  if (state.startsWith('42')) return storeDamaged(server, message, error)
  return statementFailed(server, message, error)
}
