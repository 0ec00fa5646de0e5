import type { BcsErrorCode } from '@ledger-state/bcs'
import { clip, isLedgerStateError, type LedgerStateError, type ParseErrorCode } from '@ledger-state/core'
import type { AsyncErrorCode, StateErrorCode } from '@ledger-state/engine'
import type { LedgerErrorCode } from '@ledger-state/ledger'
import type { TypeTagErrorCode } from '@ledger-state/type-tag'
import type { RequestErrorCode } from '../errors.js'

/** Codes of the published list that these operations use. */
type WireCode =
  | 'version_not_found'
  | 'version_pruned'
  | 'table_item_not_found'
  | 'account_not_found'
  | 'resource_not_found'
  | 'module_not_found'
  | 'block_not_found'
  | 'transaction_not_found'
  | 'struct_field_not_found'
  | 'state_value_not_found'
  | 'block_pruned'
  | 'invalid_input'
  | 'web_framework_error'
  | 'api_disabled'
  | 'health_check_failed'
  | 'internal_error'

interface ErrorAnswer {
  readonly status: number
  readonly wireCode: WireCode
  /** Message for clients, if the error's message names things of the operator. */
  readonly message?: string
}

type KnownErrorCode =
  | RequestErrorCode
  | StateErrorCode
  | AsyncErrorCode
  | ParseErrorCode
  | TypeTagErrorCode
  | BcsErrorCode
  | LedgerErrorCode
  // Code for a module of the ledger that cannot be read; `ledger` passes it on.
  | 'invalid_module'

const OURS = undefined
/** Status under which a client that left before its answer is counted. It is never sent. */
export const CLIENT_LEFT = 499
const badRequest: ErrorAnswer = { status: 400, wireCode: 'web_framework_error' }
const badInput: ErrorAnswer = { status: 400, wireCode: 'invalid_input' }
const storedDataFault: ErrorAnswer = { status: 500, wireCode: 'internal_error' }

/** Answers by error code. All other errors are faults of the service: status 500, and the message is not sent. */
const ANSWERS: Readonly<Record<KnownErrorCode, ErrorAnswer | undefined>> = {
  invalid_request: badRequest,
  unreadable_request: badRequest,
  invalid_json: badRequest,
  // Parsers of parts of a request name the part. Such an error without a part has come from elsewhere.
  invalid_address: OURS,
  invalid_hex: OURS,
  invalid_u64: OURS,
  invalid_timestamp: OURS,
  // `ledger` has separate codes that say which type these are about.
  unsupported_type: OURS,
  type_too_large: OURS,
  invalid_type_tag: badInput,
  invalid_value: badInput,
  value_type_mismatch: badInput,
  invalid_parameter: badInput,
  read_too_large: badInput,
  holdings_not_indexed: { status: 403, wireCode: 'api_disabled' },
  transactions_not_indexed: { status: 403, wireCode: 'api_disabled' },
  output_disabled: { status: 403, wireCode: 'api_disabled' },
  view_not_allowed: { status: 403, wireCode: 'invalid_input' },
  view_argument_invalid: badInput,
  view_failed: badInput,
  view_result_unreadable: { status: 400, wireCode: 'internal_error' },
  operation_not_served: { status: 403, wireCode: 'api_disabled' },
  operation_disabled: { status: 403, wireCode: 'api_disabled' },
  origin_not_allowed: { status: 403, wireCode: 'web_framework_error' },
  route_not_found: { status: 404, wireCode: 'web_framework_error' },
  version_not_found: { status: 404, wireCode: 'version_not_found' },
  table_item_not_found: { status: 404, wireCode: 'table_item_not_found' },
  account_not_found: { status: 404, wireCode: 'account_not_found' },
  resource_not_found: { status: 404, wireCode: 'resource_not_found' },
  account_module_not_found: { status: 404, wireCode: 'module_not_found' },
  block_not_found: { status: 404, wireCode: 'block_not_found' },
  state_value_not_found: { status: 404, wireCode: 'state_value_not_found' },
  transaction_not_found: { status: 404, wireCode: 'transaction_not_found' },
  transaction_hash_unknown: { status: 404, wireCode: 'transaction_not_found' },
  transaction_not_kept: { status: 410, wireCode: 'version_pruned' },
  struct_field_not_found: { status: 404, wireCode: 'struct_field_not_found' },
  block_hash_unknown: { status: 404, wireCode: 'block_not_found' },
  method_not_allowed: { status: 405, wireCode: 'web_framework_error' },
  request_timeout: { status: 408, wireCode: 'web_framework_error' },
  // The version was cut off while the request was answered.
  version_truncated: { status: 404, wireCode: 'version_not_found' },
  proof_not_kept: { status: 410, wireCode: 'version_pruned' },
  version_pruned: { status: 410, wireCode: 'version_pruned' },
  block_pruned: { status: 410, wireCode: 'block_pruned' },
  body_too_large: { status: 413, wireCode: 'web_framework_error' },
  content_type_missing: { status: 415, wireCode: 'web_framework_error' },
  content_type_unsupported: { status: 415, wireCode: 'web_framework_error' },
  expectation_failed: { status: 417, wireCode: 'web_framework_error' },
  headers_too_large: { status: 431, wireCode: 'web_framework_error' },
  // No answer has this status. It separates requests that clients ended from those that the service ended.
  client_left: { status: CLIENT_LEFT, wireCode: 'web_framework_error' },
  invalid_bcs: storedDataFault,
  stored_data_invalid: storedDataFault,
  invalid_module: storedDataFault,
  balance_overflow: storedDataFault,
  chain_id_too_large: OURS,
  no_ledger: { status: 503, wireCode: 'internal_error' },
  version_not_reached: { status: 503, wireCode: 'version_not_found' },
  // The error names the database, with its host and user.
  unavailable: { status: 503, wireCode: 'internal_error', message: 'the store of the ledger does not answer' },
  overloaded: { status: 503, wireCode: 'internal_error' },
  upstream_failed: { status: 503, wireCode: 'internal_error' },
  upstream_of_another_chain: { status: 503, wireCode: 'internal_error' },
  upstream_busy: { status: 503, wireCode: 'internal_error' },
  unhealthy: { status: 503, wireCode: 'health_check_failed' },
  version_unsupported: { status: 505, wireCode: 'web_framework_error' },
}

/** Codes of errors to requests that a service with all versions, or with more than states, may be able to answer. */
const SERVED_BY_ARCHIVE: ReadonlySet<string> = new Set([
  'version_pruned',
  'block_pruned',
  'operation_not_served',
  'transaction_hash_unknown',
  'transaction_not_kept',
  'transactions_not_indexed',
])

const INTERNAL = { status: 500, wireCode: 'internal_error', message: 'internal error' } as const

/** Seconds after which a client may ask again, if the store had nothing to answer with. */
const RETRY_AFTER_SECONDS = 5

/** Longest message. Messages quote the request, and answers echo no more of it. */
export const MAX_MESSAGE_LENGTH = 1_024
/**
 * Longest message about a missing item. Clients match its text with the key; `ledger` quotes 16,384 characters of it.
 */
export const MAX_MISSING_ITEM_MESSAGE_LENGTH = 17_000

export interface ErrorReply {
  readonly status: number
  /** Names and values of headers, alternating. */
  readonly headers: readonly string[]
  readonly body: string
  /** Whether the fault is the service's, and belongs in the log. */
  readonly unexpected: boolean
}

/** The answer to a failed request. Clients that ask for pruned versions get `archivalEndpoint`. */
export function errorToReply(error: unknown, archivalEndpoint: string | undefined): ErrorReply {
  const answer = isLedgerStateError(error) ? answerOf(error.code) : undefined
  if (!isLedgerStateError(error) || !answer) {
    const { status, wireCode, message } = INTERNAL
    return { status, headers: [], body: JSON.stringify({ message, error_code: wireCode }), unexpected: true }
  }
  const { status, wireCode } = answer
  const members: Record<string, string | number | undefined> = {
    message: answer.message ?? clip(error.message, maxMessageLength(error.code)),
    error_code: wireCode,
  }
  if (isLedgerStateError(error, 'view_failed')) members.vm_error_code = error.fields.vmErrorCode
  if (isLedgerStateError(error, 'version_pruned')) members.oldest_ledger_version = String(error.fields.oldestVersion)
  if (isLedgerStateError(error, 'proof_not_kept') && error.fields.nearestVersion !== undefined)
    members.nearest_proof_version = String(error.fields.nearestVersion)
  if (SERVED_BY_ARCHIVE.has(error.code)) members.archival_endpoint = archivalEndpoint
  const headers: string[] = []
  if (status === 503) headers.push('retry-after', String(retryAfterSeconds(error)))
  if (isLedgerStateError(error, 'method_not_allowed')) headers.push('allow', error.fields.allow)
  return { status, headers, body: JSON.stringify(members), unexpected: false }
}

function retryAfterSeconds(error: LedgerStateError): number {
  return isLedgerStateError(error, 'upstream_busy') ? error.fields.retryAfterSeconds : RETRY_AFTER_SECONDS
}

function maxMessageLength(code: string): number {
  return code === 'table_item_not_found' ? MAX_MISSING_ITEM_MESSAGE_LENGTH : MAX_MESSAGE_LENGTH
}

function answerOf(code: string): ErrorAnswer | undefined {
  return Object.hasOwn(ANSWERS, code) ? ANSWERS[code as keyof typeof ANSWERS] : undefined
}
