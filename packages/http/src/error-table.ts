import { isLedgerStateError } from '@ledger-state/core'

/** Codes of the published list that these operations answer with. */
type WireCode =
  | 'version_not_found'
  | 'version_pruned'
  | 'table_item_not_found'
  | 'invalid_input'
  | 'web_framework_error'
  | 'api_disabled'
  | 'health_check_failed'
  | 'internal_error'

interface ErrorAnswer {
  readonly status: number
  readonly wireCode: WireCode
}

const badRequest: ErrorAnswer = { status: 400, wireCode: 'web_framework_error' }
const badInput: ErrorAnswer = { status: 400, wireCode: 'invalid_input' }
const storedDataFault: ErrorAnswer = { status: 500, wireCode: 'internal_error' }

/** What a fault is to a client. A code that is not listed is our own: 500, and its message stays with us. */
const ANSWERS: Readonly<Record<string, ErrorAnswer | undefined>> = {
  invalid_request: badRequest,
  invalid_json: badRequest,
  invalid_type_tag: badInput,
  invalid_value: badInput,
  value_type_mismatch: badInput,
  output_disabled: { status: 403, wireCode: 'api_disabled' },
  origin_not_allowed: { status: 403, wireCode: 'web_framework_error' },
  route_not_found: { status: 404, wireCode: 'web_framework_error' },
  version_not_found: { status: 404, wireCode: 'version_not_found' },
  table_item_not_found: { status: 404, wireCode: 'table_item_not_found' },
  method_not_allowed: { status: 405, wireCode: 'web_framework_error' },
  version_pruned: { status: 410, wireCode: 'version_pruned' },
  body_too_large: { status: 413, wireCode: 'web_framework_error' },
  content_type_missing: { status: 415, wireCode: 'web_framework_error' },
  content_type_unsupported: { status: 415, wireCode: 'web_framework_error' },
  invalid_bcs: storedDataFault,
  invalid_module: storedDataFault,
  balance_overflow: storedDataFault,
  no_ledger: { status: 503, wireCode: 'internal_error' },
  overloaded: { status: 503, wireCode: 'internal_error' },
  unhealthy: { status: 503, wireCode: 'health_check_failed' },
}

const INTERNAL = { status: 500, wireCode: 'internal_error', message: 'internal error' } as const

/** Seconds after which a client may ask a store again that had nothing to answer with. */
const RETRY_AFTER_SECONDS = 5

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the fault is ours and belongs in the log. */
  readonly unexpected: boolean
}

/** The answer to a failed request. `archivalEndpoint` is told to who asks for what was pruned. */
export function errorToReply(error: unknown, archivalEndpoint: string | undefined): ErrorReply {
  const answer = isLedgerStateError(error) ? ANSWERS[error.code] : undefined
  if (!isLedgerStateError(error) || !answer) {
    const { status, wireCode, message } = INTERNAL
    return { status, headers: {}, body: JSON.stringify({ message, error_code: wireCode }), unexpected: true }
  }
  const { status, wireCode } = answer
  const members: Record<string, string | undefined> = { message: error.message, error_code: wireCode }
  if (error.code === 'version_pruned') {
    members.oldest_ledger_version = String(error.fields.oldestVersion)
    members.archival_endpoint = archivalEndpoint
  }
  const headers: Record<string, string> = {}
  if (status === 503) headers['retry-after'] = String(RETRY_AFTER_SECONDS)
  if (error.code === 'method_not_allowed') headers.allow = String(error.fields.allow)
  return { status, headers, body: JSON.stringify(members), unexpected: false }
}
