import { clip, LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `allow` has the methods, as in the header of this name. */
    method_not_allowed: { readonly allow: string }
    body_too_large: { readonly limitBytes: number }
    /** `nearestVersion` is the nearest version that has a proof. */
    proof_not_kept: { readonly nearestVersion: bigint }
    /** Seconds after which the upstream may be asked again. */
    upstream_busy: { readonly retryAfterSeconds: number }
  }
}

/** Codes for requests that are refused before, or without, reading the ledger. */
export type RequestErrorCode =
  | 'invalid_request'
  | 'unreadable_request'
  | 'headers_too_large'
  | 'request_timeout'
  | 'version_unsupported'
  | 'expectation_failed'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'origin_not_allowed'
  | 'body_too_large'
  | 'content_type_missing'
  | 'content_type_unsupported'
  | 'invalid_parameter'
  | 'output_disabled'
  | 'operation_disabled'
  | 'proof_not_kept'
  | 'view_not_allowed'
  | 'operation_not_served'
  | 'transaction_not_found'
  | 'transaction_hash_unknown'
  | 'transaction_not_kept'
  | 'struct_field_not_found'
  | 'block_hash_unknown'
  | 'overloaded'
  | 'upstream_failed'
  | 'upstream_of_another_chain'
  | 'upstream_busy'
  | 'version_not_reached'
  | 'unhealthy'
  | 'client_left'
  | 'chain_id_too_large'

export type RequestError = LedgerStateError<RequestErrorCode>

function invalidRequest(message: string): RequestError {
  return new LedgerStateError('invalid_request', message)
}

/**
 * Error for a part of a request.
 * @param part name of the part, such as "path `address`"
 */
export function invalidPart(part: string, why: string): RequestError {
  return invalidRequest(`failed to parse ${part}: ${why}`)
}

export function invalidPathEncoding(): RequestError {
  return invalidRequest('the path is not correctly percent-encoded UTF-8')
}

export function invalidPercentEncoding(text: string): RequestError {
  return invalidRequest(`malformed percent-encoding in ${JSON.stringify(clip(text))}`)
}

export function invalidDuration(text: string): RequestError {
  return invalidPart(
    'parameter `duration_secs`',
    `${JSON.stringify(clip(text))} is not a whole number of seconds (u32)`,
  )
}

export function moduleNameInvalid(text: string): RequestError {
  return invalidPart('path `module_name`', `Invalid identifier '${clip(text)}'`)
}

/**
 * Error for a type tag that does not name a struct.
 * @param part as in `invalidPart`
 */
export function structTagExpected(part: string, text: string): RequestError {
  return invalidPart(part, `${JSON.stringify(clip(text))} is not a struct tag 0x…::module::Name`)
}

export function typeArgumentsGiven(text: string): RequestError {
  return invalidPart(
    'path `struct_type`',
    `${JSON.stringify(clip(text))} has type arguments; give the struct without them`,
  )
}

export function limitInvalid(limit: bigint): RequestError {
  return invalidRequest(`${limit} is above 65535`)
}

export function orderInvalid(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is neither asc nor desc`)
}

export function holderOrderInvalid(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is neither address nor amount`)
}

export function activityCursorInvalid(text: string): RequestError {
  return invalidRequest(
    `${JSON.stringify(clip(text))} is not a cursor: expected a version, or a version, - and a number`,
  )
}

export function cursorTooLong(most: number): RequestError {
  return invalidRequest(`a cursor has at most ${most} bytes`)
}

export function pointsInvalid(points: bigint, least: number, most: number): RequestError {
  return invalidRequest(`expected ${least} to ${most} points, got ${points}`)
}

export function tooManyAssets(found: number, most: number): RequestError {
  return invalidRequest(`expected at most ${most} assets, got ${found}`)
}

export function cursorWith0x(): RequestError {
  return invalidRequest('expected a cursor in hex without 0x')
}

export function versionAndTimestamp(): RequestError {
  const message = 'both `ledger_version` and `ledger_timestamp` are given; give only one of them'
  return new LedgerStateError('invalid_parameter', message)
}

export function parameterUnknown(name: string, meant: string): RequestError {
  const message = `unknown parameter ${JSON.stringify(name)}; did you mean \`${meant}\`?`
  return new LedgerStateError('invalid_parameter', message)
}

export function rangeFromAboveTo(from: bigint, to: bigint): RequestError {
  return new LedgerStateError(
    'invalid_parameter',
    `\`from\` is version ${from}, which is above version ${to}, given as \`to\``,
  )
}

export function rangeFromAfterTo(): RequestError {
  return new LedgerStateError('invalid_parameter', 'the time given as `from` is after the time given as `to`')
}

/** Error for a limit of 0. The reference finds it after the version, and so does this service. */
export function limitZero(): RequestError {
  return new LedgerStateError('invalid_parameter', 'Given limit value (0) must not be zero')
}

export function withTransactionsInvalid(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is neither true nor false`)
}

export function transactionsNotKept(what: string): RequestError {
  const message = `${what} with transactions is not available: this service keeps states, not transactions`
  return new LedgerStateError('operation_disabled', message)
}

export function operationNotServed(method: string, path: string, why: string): RequestError {
  return new LedgerStateError('operation_not_served', `${method} ${path} is not served: ${why}`)
}

export function transactionNotFound(version: bigint): RequestError {
  return new LedgerStateError('transaction_not_found', `Transaction not found by Ledger version(${version})`)
}

/** @param hash hash in hex, with 0x */
export function transactionHashUnknown(hash: string): RequestError {
  return new LedgerStateError('transaction_hash_unknown', `Transaction not found by Transaction hash(${hash})`)
}

/** Error for a version of the window if the store does not keep its transaction. */
export function transactionNotKept(version: bigint): RequestError {
  const message = `the transaction of version ${version} is not kept: the store was not given it`
  return new LedgerStateError('transaction_not_kept', message)
}

export function structFieldNotFound(address: string, tag: string, field: string, version: bigint): RequestError {
  const message = `Struct Field not found by Address(${address}), Struct tag(${tag}), Field name(${field}) and Ledger version(${version})`
  return new LedgerStateError('struct_field_not_found', message)
}

export function notAnEventHandle(field: string, why: string): RequestError {
  const message = `Deserialization error, field(${field}) type is not a EventHandle struct: ${why}`
  return new LedgerStateError('invalid_parameter', message)
}

export function tooManyFilters(most: number): RequestError {
  return new LedgerStateError('invalid_parameter', `the query filters by more than ${most} fields`)
}

export function startAboveLatest(start: bigint, latest: bigint): RequestError {
  const message = `Given start value (${start}) is higher than the current ledger version, it must be < ${latest}`
  return new LedgerStateError('invalid_parameter', message)
}

export function hashTextInvalid(): RequestError {
  return invalidPart('path `txn_hash`', 'failed to parse "string(HashValue)": unable to parse HashValue')
}

/** Error for a u64 in the words of the reference. @param part as in `invalidPart` */
export function u64PartInvalid(part: string, text: string, why: string, isOptional: boolean): RequestError {
  const fault = `failed to parse "string(U64)": Parsing u64 string ${JSON.stringify(clip(text))} failed, caused by error: ${why}`
  return invalidPart(part, isOptional ? `${fault} (occurred while parsing "optional<string(U64)>")` : fault)
}

export function u16ParameterInvalid(name: string, why: string): RequestError {
  const fault = `failed to parse "integer(uint16)": ${why}`
  return invalidPart(`parameter \`${name}\``, `${fault} (occurred while parsing "optional<integer(uint16)>")`)
}

export function fieldNameInvalid(text: string): RequestError {
  return invalidPart('path `field_name`', `Invalid identifier '${clip(text)}'`)
}

export function itemCursorInvalid(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is not a cursor of this list`)
}

export function startVersionMissing(): RequestError {
  return invalidPart('parameter `start_version`', 'failed to parse "string(U64)": the value is required')
}

export function blockHashUnknown(height: bigint): RequestError {
  const message = `Block not found by Block height(${height}): the state does not contain its hash, which the BCS form needs; ask for JSON`
  return new LedgerStateError('block_hash_unknown', message)
}

/**
 * Error for a body that is not an object.
 * @param type name of the schema, such as `TableItemRequest`
 */
export function bodyNotAnObject(type: string, found: string): RequestError {
  return invalidRequest(`parse request payload error: Expected input type "${type}", found ${clip(found)}.`)
}

export function memberNotAnArray(type: string, member: string): RequestError {
  return invalidRequest(`parse request payload error: member \`${member}\` of "${type}" is not an array`)
}

/** Error in the words of the reference. */
export function functionNameInvalid(text: string): RequestError {
  return invalidRequest(
    `parse request payload error: failed to parse "string(EntryFunctionId)": Invalid entry function ID ${clip(text)} (occurred while parsing "ViewRequest")`,
  )
}

export function viewCallUndecodable(why: string): RequestError {
  return new LedgerStateError('invalid_parameter', `Failed to deserialize input into ViewRequest: ${why}`)
}

export function samplesInvalid(samples: bigint, most: number): RequestError {
  return invalidRequest(`expected 2 to ${most} samples, got ${samples}`)
}

export function everyAndSamples(): RequestError {
  return invalidRequest('both `every` and `samples` are given; give only one of them')
}

export function ignoredUnknown(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} cannot be ignored; only clock can`)
}

export function cursorInvalid(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is not a cursor of this history`)
}

/**
 * Error for a spent budget. The views of a batch share one budget, and a history needs the whole budget for each run.
 */
export function viewBudgetSpent(): RequestError {
  return invalidRequest('the earlier views have used up the budget of one request; send this one in a separate request')
}

export function viewsDisabled(): RequestError {
  return new LedgerStateError(
    'operation_disabled',
    'this service does not run view functions: it was started without them',
  )
}

/**
 * Error for a view that the filter excludes.
 * @param name name with the address as 64 hex digits
 */
export function viewNotAllowed(name: string): RequestError {
  return new LedgerStateError('view_not_allowed', `Function ${clip(name)} is not allowed`)
}

export function viewNameInvalid(text: string): RequestError {
  const message = `${JSON.stringify(clip(text))} does not name view functions; expected a name such as 0x1, 0x1::coin or 0x1::coin::balance`
  return new LedgerStateError('invalid_parameter', message)
}

export function stateKeyInvalid(why: string): RequestError {
  return new LedgerStateError('invalid_parameter', `member \`key\` is not the hex form of a BCS state key: ${why}`)
}

export function memberNotAString(type: string, member: string, found: string): RequestError {
  return invalidRequest(
    `parse request payload error: member \`${member}\` of "${type}": invalid type: ${found}, expected a string`,
  )
}

export function batchNotAnArray(): RequestError {
  return invalidRequest('member `requests` is not an array')
}

export function batchElementNotAnObject(at: number): RequestError {
  return invalidRequest(`requests[${at}] is not an object`)
}

export function batchTooLong(count: number, limit: number): RequestError {
  return invalidRequest(`expected at most ${limit} requests, got ${count}`)
}

export function batchAnswerTooLarge(limitBytes: number): RequestError {
  return invalidRequest(`the answers to this batch are longer than ${limitBytes} bytes; ask for fewer at once`)
}

export function bodyNotEncodedSo(encoding: string): RequestError {
  return invalidRequest(`the body cannot be decoded as its \`Content-Encoding: ${encoding}\` says`)
}

export function bodyInCrumbs(): RequestError {
  return invalidRequest('the body arrives in chunks of a few bytes each; send larger chunks')
}

/** The same error, with the member of the request that it is about before its message. */
export function faultOfMember(member: string, error: LedgerStateError): LedgerStateError {
  return new LedgerStateError(error.code, `${member}: ${error.message}`, error.fields)
}

/** The same error, with the URL of the upstream before its message. Clients must not see it. */
export function faultOfUpstream(
  url: string,
  error: LedgerStateError<'upstream_of_another_chain'>,
): LedgerStateError<'upstream_of_another_chain'> {
  return new LedgerStateError(error.code, `${url}: ${error.message}`)
}

export function bodyNotUtf8(): LedgerStateError<'invalid_json'> {
  return new LedgerStateError('invalid_json', 'the body is not UTF-8')
}

export function hostMissing(): RequestError {
  return invalidRequest('the client request does not include the `Host` header')
}

export function hostTwice(): RequestError {
  return invalidRequest('the client request includes the `Host` header more than once')
}

export function transferEncodingUnsupported(encoding: string): RequestError {
  return invalidRequest(`the \`Transfer-Encoding\` is not supported: ${clip(encoding)}; send chunked or none`)
}

export function versionUnsupported(version: string): RequestError {
  return new LedgerStateError('version_unsupported', `HTTP/${version} is not supported; send HTTP/1.1`)
}

export function expectationFailed(expectation: string): RequestError {
  return new LedgerStateError('expectation_failed', `the expectation ${clip(expectation)} is not supported`)
}

/** Error for bytes on a connection that never became a request. */
export function unreadableRequest(): RequestError {
  return new LedgerStateError('unreadable_request', 'the request could not be read: Bad Request')
}

export function headersTooLarge(): RequestError {
  return new LedgerStateError('headers_too_large', 'the request could not be read: Request Header Fields Too Large')
}

export function requestTimeout(): RequestError {
  return new LedgerStateError('request_timeout', 'the request did not arrive completely in time')
}

export function routeNotFound(): RequestError {
  return new LedgerStateError('route_not_found', 'not found')
}

/**
 * Error for a method that a path does not have.
 * @param allow the path's methods, as in the `Allow` header
 */
export function methodNotAllowed(allow: string): RequestError {
  return new LedgerStateError('method_not_allowed', 'method not allowed', { allow })
}

export function preflightMethodNotAllowed(): RequestError {
  return new LedgerStateError('origin_not_allowed', 'request-method not allowed')
}

export function bodyTooLarge(limitBytes: number): RequestError {
  return new LedgerStateError('body_too_large', `payload too large: the limit is ${limitBytes} bytes`, {
    limitBytes,
  })
}

/**
 * Error for too much JSON.
 * @param limitBytes limit for the JSON between its first and last character that is not white space
 */
export function contentTooLarge(limitBytes: number): RequestError {
  const message = `payload too large: the limit is ${limitBytes} bytes of JSON`
  return new LedgerStateError('body_too_large', message, { limitBytes })
}

export function contentTypeMissing(): RequestError {
  const message = 'the client request does not include the `Content-Type` header'
  return new LedgerStateError('content_type_missing', message)
}

export function contentTypeUnsupported(contentType: string): RequestError {
  const message = `the \`Content-Type\` requested by the client is not supported: ${clip(contentType)}; send application/json`
  return new LedgerStateError('content_type_unsupported', message)
}

export function contentEncodingUnsupported(encoding: string): RequestError {
  const message = `the \`Content-Encoding\` is not supported: ${clip(encoding)}; send gzip, deflate, br or none`
  return new LedgerStateError('content_type_unsupported', message)
}

/**
 * Error for a format that is not served.
 * @param what the operation, such as `Get table item`
 */
export function outputDisabled(what: string, format: string): RequestError {
  const message = `${what} with ${format.toUpperCase()} output is disabled on this endpoint`
  return new LedgerStateError('output_disabled', message)
}

export function onlyBcsOffered(what: string): RequestError {
  return new LedgerStateError('output_disabled', `${what} is not allowed. Only BCS is supported as an AcceptType.`)
}

export function overloaded(): RequestError {
  return new LedgerStateError('overloaded', 'the service is overloaded; try again later')
}

/**
 * Error for an upstream that fails.
 * @param why reason without the address of the upstream, as clients read it
 */
export function upstreamFailed(why: string, cause?: unknown): RequestError {
  const message = `the upstream did not give a usable answer: ${why}`
  return new LedgerStateError('upstream_failed', message, {}, { cause })
}

/** Statuses that a proxy or gateway in front of a server gives, and not the server itself. */
const GATEWAY_STATUSES: readonly number[] = [502, 504]

/** @param when what it was asked for, if that is not the request itself */
export function upstreamAnswered(status: number, when = ''): RequestError {
  const said = `it answers with status ${status}${when}`
  return upstreamFailed(
    GATEWAY_STATUSES.includes(status) ? `${said}: a proxy or gateway answered, not the upstream itself` : said,
  )
}

export function upstreamOfAnotherChain(theirs: bigint, ours: bigint): RequestError {
  const message = `the upstream serves chain ${theirs}; this is chain ${ours}`
  return new LedgerStateError('upstream_of_another_chain', message)
}

/** Error while an upstream has asked for a pause. */
export function upstreamBusy(retryAfterSeconds: number): RequestError {
  const message = `the upstream accepts no requests for ${retryAfterSeconds} s`
  return new LedgerStateError('upstream_busy', message, { retryAfterSeconds })
}

/** Error for a request that names a version that its client has seen and that did not come in time. */
export function versionNotReached(version: bigint, latest: bigint | undefined): RequestError {
  const message = `version ${version} is not served here yet; the newest is ${latest ?? 'none'}`
  return new LedgerStateError('version_not_reached', message)
}

export function ledgerTooOld(ledgerSeconds: bigint, allowedSeconds: number): RequestError {
  const message = `The latest ledger info timestamp is ${ledgerSeconds}s, which is beyond the allowed skew (${allowedSeconds}s).`
  return new LedgerStateError('unhealthy', message)
}

/** Error that ends work for a client that left. No one reads its message. */
export function clientLeft(): RequestError {
  return new LedgerStateError('client_left', 'the client left before its answer')
}

/** Error for a chain id that does not fit into one byte, as in the `chain-id` header and in the ledger info. */
export function chainIdTooLarge(chainId: bigint): RequestError {
  const message = `the ledger has chain id ${chainId}, but HTTP can only serve chain ids up to 255`
  return new LedgerStateError('chain_id_too_large', message)
}

export function proofNotKept(version: bigint, nearestVersion: bigint): RequestError {
  const message = `this store has no proof at version ${version}; the nearest version with a proof is ${nearestVersion}: ask with ledger_version=${nearestVersion}`
  return new LedgerStateError('proof_not_kept', message, { nearestVersion })
}

export function noProofsKept(): RequestError {
  return new LedgerStateError('operation_disabled', 'this service cannot serve proofs: it keeps no signed checkpoint')
}

export function noProofsOfSlice(): RequestError {
  const message =
    'this store cannot serve proofs: it keeps only part of the ledger, and a proof needs the whole state tree'
  return new LedgerStateError('operation_disabled', message)
}

/**
 * Error for an end of an epoch that is not kept.
 * @param before version of the ledger info that the end of the epoch must precede
 */
export function endingNotKept(parameter: 'proof_from' | 'from', version: bigint, before?: bigint): RequestError {
  const early = before === undefined ? '' : ` that precedes the ledger info of version ${before}`
  return invalidPart(`parameter \`${parameter}\``, `this store has no epoch change at version ${version}${early}`)
}

export function notABoolean(text: string): RequestError {
  return invalidRequest(`${JSON.stringify(clip(text))} is neither true nor false`)
}
