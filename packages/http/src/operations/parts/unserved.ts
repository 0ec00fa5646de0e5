import { operationNotServed } from '../../errors.js'
import type { Route } from './operation.js'

const TRANSACTIONS = 'this service does not keep whole transactions'
const EVENTS = 'this service does not keep events'
const SUBMISSION = 'this service keeps the state of a ledger, and accepts no transactions'

/** Kinds of the reference's operations that this service does not answer itself. */
export type UnservedKind = 'submit' | 'simulate' | 'transactions' | 'events'

/** An operation of the reference that this service does not answer itself. */
export interface UnservedOperation {
  readonly kind: UnservedKind
  readonly method: 'GET' | 'POST'
  /** Path with `{name}` for path parameters. */
  readonly path: string
  /** Names of its query parameters. */
  readonly query: readonly string[]
  /** Reason why it is not served. */
  readonly why: string
}

const PAGE = ['start', 'limit']
const SIMULATION = ['estimate_max_gas_amount', 'estimate_gas_unit_price', 'estimate_prioritized_gas_unit_price']

const ROWS: readonly (readonly [UnservedKind, 'GET' | 'POST', path: string, query: readonly string[], why: string])[] =
  [
    ['transactions', 'GET', '/v1/transactions', PAGE, TRANSACTIONS],
    ['submit', 'POST', '/v1/transactions', [], SUBMISSION],
    ['submit', 'POST', '/v1/transactions/batch', [], SUBMISSION],
    ['simulate', 'POST', '/v1/transactions/simulate', SIMULATION, SUBMISSION],
    ['submit', 'POST', '/v1/transactions/encode_submission', [], SUBMISSION],
    ['transactions', 'GET', '/v1/transactions/by_hash/{txn_hash}', [], TRANSACTIONS],
    ['transactions', 'GET', '/v1/transactions/wait_by_hash/{txn_hash}', [], TRANSACTIONS],
    ['transactions', 'GET', '/v1/transactions/by_version/{txn_version}', [], TRANSACTIONS],
    ['transactions', 'GET', '/v1/transactions/auxiliary_info', ['start_version', ...PAGE], TRANSACTIONS],
    ['transactions', 'GET', '/v1/accounts/{address}/transactions', PAGE, TRANSACTIONS],
    [
      'transactions',
      'GET',
      '/v1/accounts/{address}/transaction_summaries',
      ['start_version', 'end_version', 'limit'],
      TRANSACTIONS,
    ],
    ['events', 'GET', '/v1/accounts/{address}/events/{creation_number}', PAGE, EVENTS],
    ['events', 'GET', '/v1/accounts/{address}/events/{event_handle}/{field_name}', PAGE, EVENTS],
  ]

/** Reason why an operation on whole transactions is not served by a store that keeps none. */
export function unservedReason({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const row = ROWS.find(([, rowMethod, rowPath]) => rowMethod === method && rowPath === path)
  return row ? row[4] : TRANSACTIONS
}

/** All operations of the reference that this service does not answer itself, or only if it keeps whole transactions. */
export const UNSERVED_OPERATIONS: readonly UnservedOperation[] = ROWS.map(([kind, method, path, query, why]) => ({
  kind,
  method,
  path,
  query,
  why,
}))

/**
 * Routes that answer with the reason why an operation is never served. A client would take 404 for an answer about its
 * transaction.
 */
export const UNSERVED_ROUTES: readonly Route[] = UNSERVED_OPERATIONS.filter(
  ({ kind }) => kind === 'submit' || kind === 'simulate',
).map(({ method, path, why }) => ({
  method,
  path,
  negotiates: false,
  handle() {
    throw operationNotServed(method, path, why)
  },
}))
