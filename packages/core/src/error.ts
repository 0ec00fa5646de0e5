/**
 * Every failure that crosses a package border is a `LedgerStateError` with one of these codes.
 * The set is closed; what a code means to an HTTP client is decided in one table of `@ledger-state/http`.
 */
export type ErrorCode =
  // texts and bytes that do not parse
  | 'invalid_address'
  | 'invalid_hex'
  | 'invalid_u64'
  | 'invalid_type_tag'
  | 'invalid_json'
  | 'invalid_bcs'
  | 'invalid_value'
  | 'invalid_module'
  | 'invalid_feed'
  | 'invalid_genesis'
  | 'invalid_backup'
  | 'verification_failed'
  | 'ledger_fork'
  | 'source_failed'
  // types
  | 'module_not_found'
  | 'struct_not_found'
  | 'type_argument_count'
  | 'unsupported_type'
  | 'type_too_large'
  // reads
  | 'no_ledger'
  | 'version_not_found'
  | 'version_pruned'
  | 'table_item_not_found'
  | 'value_type_mismatch'
  | 'balance_overflow'
  // the store
  | 'invalid_argument'
  | 'version_gap'
  | 'base_missing'
  | 'block_order'
  | 'chain_id_mismatch'
  | 'duplicate_key'
  | 'key_too_long'
  | 'value_too_long'
  | 'store_missing'
  | 'store_not_empty'
  | 'store_locked'
  | 'store_read_only'
  | 'store_closed'
  | 'store_full'
  | 'store_format'
  | 'store_corrupt'
  | 'store_failed'
  // requests
  | 'invalid_request'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'origin_not_allowed'
  | 'body_too_large'
  | 'content_type_missing'
  | 'content_type_unsupported'
  | 'output_disabled'
  | 'overloaded'
  | 'unhealthy'
  // command lines
  | 'usage'

/** Facts about a failure, for programs; `message` says the same to people. */
export type ErrorFields = Readonly<Record<string, string | number | bigint | undefined>>

export class LedgerStateError extends Error {
  override readonly name = 'LedgerStateError'
  readonly code: ErrorCode
  readonly fields: ErrorFields

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.fields = fields
  }
}

/** Whether `error` is ours, and, where codes are given, has one of them. */
export function isLedgerStateError(error: unknown, ...codes: ErrorCode[]): error is LedgerStateError {
  return error instanceof LedgerStateError && (codes.length === 0 || codes.includes(error.code))
}
