import { isLedgerStateError } from '@ledger-state/core'
import { type Answer, type OperationRequest, type Route, STATE_PARAMETERS } from '../operations/parts/operation.js'
import { UNSERVED_OPERATIONS } from '../operations/parts/unserved.js'
import { parseViewCall } from '../operations/parts/view-request.js'
import { queryParameter } from '../protocol/query.js'
import type { Forwardable, ForwardableRequest, Forwarder } from './forwarder.js'

const GAS_PRICE: Forwardable = { kind: 'gas', method: 'GET', path: '/v1/estimate_gas_price', query: [] }

/** Members that name a version, by the paths of operations that answer with one transaction. */
const ONE_TRANSACTION: ReadonlySet<string> = new Set([
  '/v1/transactions/by_hash/{txn_hash}',
  '/v1/transactions/wait_by_hash/{txn_hash}',
  '/v1/transactions/by_version/{txn_version}',
])

const UNSERVED: readonly Forwardable[] = UNSERVED_OPERATIONS.map(({ kind, method, path, query }) => ({
  kind,
  method,
  path,
  query,
  ...(ONE_TRANSACTION.has(path) && { versionMember: 'version', isTransaction: true }),
}))

const BLOCKS: readonly Forwardable[] = ['/v1/blocks/by_height/{block_height}', '/v1/blocks/by_version/{version}'].map(
  (path) => ({ kind: 'blocks', method: 'GET', path, query: ['with_transactions'], versionMember: 'last_version' }),
)

const VERSION = ['ledger_version']
const PAGE = ['ledger_version', 'start', 'limit']

/** Reads whose only format is BCS. */
const RAW: ReadonlySet<string> = new Set(['/v1/tables/{table_handle}/raw_item', '/v1/experimental/state_values/raw'])

/** Reads of state that the reference has, too. If this service has pruned the version, an upstream may have it. */
const STATE_READS: readonly Forwardable[] = (
  [
    ['POST', '/v1/tables/{table_handle}/item', VERSION],
    ['POST', '/v1/tables/{table_handle}/raw_item', VERSION],
    ['GET', '/v1/accounts/{address}/balance/{asset_type}', VERSION],
    ['GET', '/v1/accounts/{address}', VERSION],
    ['GET', '/v1/accounts/{address}/resources', PAGE],
    ['GET', '/v1/accounts/{address}/resource/{resource_type}', VERSION],
    ['GET', '/v1/accounts/{address}/modules', PAGE],
    ['GET', '/v1/accounts/{address}/module/{module_name}', VERSION],
    ['GET', '/v1/blocks/by_height/{block_height}', []],
    ['GET', '/v1/blocks/by_version/{version}', []],
    ['POST', '/v1/view', VERSION],
    ['POST', '/v1/experimental/state_values/raw', VERSION],
  ] as const
).map(([method, path, query]) => ({ kind: 'state', method, path, query, readsState: true, isRaw: RAW.has(path) }))

/** Whether stores that keep whole transactions serve operations of a kind themselves. */
function isKeptBySome(kind: Forwardable['kind']): boolean {
  return kind === 'transactions' || kind === 'events'
}

/**
 * Routes of operations that are forwarded and never served here. They come after the routes of served operations, and
 * replace them.
 */
export function createForwardRoutes(forwarder: Forwarder): Route[] {
  return [GAS_PRICE, ...UNSERVED]
    .filter(({ kind }) => forwarder.forwards(kind) && !isKeptBySome(kind))
    .map((forwardable) => ({
      method: forwardable.method,
      path: forwardable.path,
      negotiates: true,
      handle: (request: ForwardableRequest) => forwarder.forward(request, forwardable),
    }))
}

/** An operation that is served here, with some of its requests forwarded. */
export function routeWithForwarding<R extends Route>(route: R, forwarder: Forwarder): R {
  const isThis = ({ method, path }: Forwardable): boolean => method === route.method && path === route.path
  const block = forwarder.forwards('blocks') ? BLOCKS.find(isThis) : undefined
  const kept = UNSERVED.find((one) => isThis(one) && isKeptBySome(one.kind) && forwarder.forwards(one.kind))
  if (kept)
    return { ...route, handle: (request: ForwardableRequest) => keptHereOrThere(route, request, forwarder, kept) }
  const read = forwarder.forwards('state') ? STATE_READS.find(isThis) : undefined
  const withPruned = read
    ? (request: ForwardableRequest) => readHereOrThere(route, request, forwarder, read)
    : undefined
  if (!block) return withPruned ? { ...route, handle: withPruned } : route
  const handle = withPruned ?? ((request: ForwardableRequest) => route.handle(request))
  return {
    ...route,
    handle(request: ForwardableRequest) {
      const asksForTransactions = queryParameter(request.query, 'with_transactions') === 'true'
      return asksForTransactions ? blockHereOrThere(route, request, forwarder, block) : handle(request)
    },
  }
}

/** Answers from whole transactions that are kept here, and forwards other requests. */
function keptHereOrThere(
  route: Route,
  request: ForwardableRequest,
  forwarder: Forwarder,
  there: Forwardable,
): Answer | Promise<Answer> {
  return orElse(route, request, (error) => {
    // A fullnode always reads its newest state here.
    const namesState = STATE_PARAMETERS.some(({ name }) => queryParameter(request.query, name) !== undefined)
    if (namesState || !isLedgerStateError(error, ...NOT_KEPT_HERE)) throw error
    return forwarder.forward(request, there)
  })
}

/** Answers with a block and its transactions, if they are kept here. */
function blockHereOrThere(
  route: Route,
  request: ForwardableRequest,
  forwarder: Forwarder,
  there: Forwardable,
): Answer | Promise<Answer> {
  return orElse(route, request, (error) => {
    if (!isLedgerStateError(error, ...NOT_KEPT_HERE, ...NO_BLOCK_HERE)) throw error
    return forwarder.forward(request, there)
  })
}

const NO_BLOCK_HERE = ['operation_disabled', 'block_pruned', 'block_not_found', 'version_not_found'] as const

const NOT_KEPT_HERE = [
  'no_ledger',
  'operation_not_served',
  'transaction_not_found',
  'transaction_hash_unknown',
  'transaction_not_kept',
  'transactions_not_indexed',
  'version_pruned',
] as const

/** Runs an operation, or another one if it fails. A fullnode gives no proofs, so a request for one stays here. */
function orElse(
  route: Route,
  request: ForwardableRequest,
  otherwise: (error: unknown) => Promise<Answer>,
): Answer | Promise<Answer> {
  if ((queryParameter(request.query, 'proof') ?? 'false') !== 'false') return route.handle(request)
  try {
    const found = route.handle(request)
    return found instanceof Promise ? found.catch(otherwise) : found
  } catch (error) {
    return otherwise(error)
  }
}

function readHereOrThere(
  route: Route,
  request: ForwardableRequest,
  forwarder: Forwarder,
  read: Forwardable,
): Answer | Promise<Answer> {
  const orThere = (error: unknown): Promise<Answer> => {
    // A fullnode does not know states by their times.
    const isPruned = isLedgerStateError(error, 'version_pruned', 'block_pruned')
    if (!isPruned || queryParameter(request.query, 'ledger_timestamp') !== undefined) throw error
    if (read.path === '/v1/view') expectViewAllowed(request)
    return forwarder.forward(request, read)
  }
  return orElse(route, request, orThere)
}

/**
 * Checks the operator's filter, which applies to views that run elsewhere, too. It is normally checked when a view
 * begins, and this one does not begin here.
 */
function expectViewAllowed(request: OperationRequest): void {
  const { address, module, function: name } = parseViewCall(request)()
  request.views.rules.expectAllowed(address, module, name)
}
