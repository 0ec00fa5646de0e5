import { operationNotServed } from '../errors.js'
import type { Route } from './operation.js'

const TRANSACTIONS = 'this service keeps states, not transactions'
const EVENTS = 'this service keeps states, not events'
const SUBMISSION = 'this service keeps the state of a ledger, and takes no transactions'

/** Operations of the reference that are not served, and why. */
const UNSERVED: readonly (readonly [method: 'GET' | 'POST', path: string, why: string])[] = [
  ['GET', '/v1/transactions', TRANSACTIONS],
  ['POST', '/v1/transactions', SUBMISSION],
  ['POST', '/v1/transactions/batch', SUBMISSION],
  ['POST', '/v1/transactions/simulate', SUBMISSION],
  ['POST', '/v1/transactions/encode_submission', SUBMISSION],
  ['GET', '/v1/transactions/by_hash/{txn_hash}', TRANSACTIONS],
  ['GET', '/v1/transactions/wait_by_hash/{txn_hash}', TRANSACTIONS],
  ['GET', '/v1/transactions/by_version/{txn_version}', TRANSACTIONS],
  ['GET', '/v1/transactions/auxiliary_info', TRANSACTIONS],
  ['GET', '/v1/accounts/{address}/transactions', TRANSACTIONS],
  ['GET', '/v1/accounts/{address}/transaction_summaries', TRANSACTIONS],
  ['GET', '/v1/accounts/{address}/events/{event_handle}', EVENTS],
  ['GET', '/v1/accounts/{address}/events/{event_handle}/{field_name}', EVENTS],
]

/** Routes that say why an operation is not served: a client that got 404 would take it for an answer about its transaction. */
export const UNSERVED_ROUTES: readonly Route[] = UNSERVED.map(([method, path, why]) => ({
  method,
  path,
  negotiates: false,
  handle() {
    throw operationNotServed(method, path, why)
  },
}))
