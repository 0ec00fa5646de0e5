import { clip, declareErrors, LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `allow` has the methods, as in the header of this name. */
    method_not_allowed: { readonly allow: string }
    body_too_large: { readonly limitBytes: number }
    /** `nearestVersion` is the nearest version that has a proof, if that is known. */
    proof_not_kept: { readonly nearestVersion?: bigint }
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

function unparsed(part: string, why: string): string {
  return `failed to parse ${part}: ${why}`
}

export const invalidRequest = declareErrors('invalid_request', {
  /**
   * Error for a part of a request.
   * @param part name of the part, such as "path `address`"
   */
  invalidPart: unparsed,
  invalidDuration: (text: string) => `${JSON.stringify(clip(text))} is not a whole number of seconds (u32)`,
  moduleNameInvalid: (text: string) => unparsed('path `module_name`', `Invalid identifier '${clip(text)}'`),
  /**
   * Error for a type tag that does not name a struct.
   * @param part as in `invalidPart`
   */
  structTagExpected: (part: string, text: string) =>
    unparsed(part, `${JSON.stringify(clip(text))} is not a struct tag 0x…::module::Name`),
  typeArgumentsGiven: (text: string) =>
    unparsed('path `struct_type`', `${JSON.stringify(clip(text))} has type arguments; give the struct without them`),
  hashTextInvalid: () => unparsed('path `txn_hash`', 'failed to parse "string(HashValue)": unable to parse HashValue'),
  /** Error for a u64 in the words of the reference. @param part as in `invalidPart` */
  u64PartInvalid: (part: string, text: string, why: string, isOptional: boolean) => {
    const fault = `failed to parse "string(U64)": Parsing u64 string ${JSON.stringify(clip(text))} failed, caused by error: ${why}`
    return unparsed(part, isOptional ? `${fault} (occurred while parsing "optional<string(U64)>")` : fault)
  },
  u16ParameterInvalid: (name: string, why: string) => {
    const fault = `failed to parse "integer(uint16)": ${why}`
    return unparsed(`parameter \`${name}\``, `${fault} (occurred while parsing "optional<integer(uint16)>")`)
  },
  fieldNameInvalid: (text: string) => unparsed('path `field_name`', `Invalid identifier '${clip(text)}'`),
  startVersionMissing: () =>
    unparsed('parameter `start_version`', 'failed to parse "string(U64)": the value is required'),
  /**
   * Error for an epoch change that is not kept.
   * @param before version of the ledger info that the epoch change must precede
   */
  endingNotKept: (parameter: 'proof_from' | 'from', version: bigint, before?: bigint) => {
    const early = before === undefined ? '' : ` that precedes the ledger info of version ${before}`
    return unparsed(`parameter \`${parameter}\``, `this store has no epoch change at version ${version}${early}`)
  },
  invalidPathEncoding: () => 'the path is not correctly percent-encoded UTF-8',
  invalidPercentEncoding: (text: string) => `malformed percent-encoding in ${JSON.stringify(clip(text))}`,
  limitInvalid: (limit: bigint) => `${limit} is above 65535`,
  orderInvalid: (text: string) => `${JSON.stringify(clip(text))} is neither asc nor desc`,
  holderOrderInvalid: (text: string) => `${JSON.stringify(clip(text))} is neither address nor amount`,
  activityCursorInvalid: (text: string) =>
    `${JSON.stringify(clip(text))} is not a cursor: expected a version, or a version, - and a number`,
  cursorTooLong: (most: number) => `a cursor has at most ${most} bytes`,
  pointsInvalid: (points: bigint, least: number, most: number) => `expected ${least} to ${most} points, got ${points}`,
  tooManyAssets: (found: number, most: number) => `expected at most ${most} assets, got ${found}`,
  cursorWith0x: () => 'expected a cursor in hex without 0x',
  withTransactionsInvalid: (text: string) => `${JSON.stringify(clip(text))} is neither true nor false`,
  /**
   * Error for a body that is not an object.
   * @param type name of the schema, such as `TableItemRequest`
   */
  bodyNotAnObject: (type: string, found: string) =>
    `parse request payload error: Expected input type "${type}", found ${clip(found)}.`,
  memberNotAnArray: (type: string, member: string) =>
    `parse request payload error: member \`${member}\` of "${type}" is not an array`,
  /** Error in the words of the reference. */
  functionNameInvalid: (text: string) =>
    `parse request payload error: failed to parse "string(EntryFunctionId)": Invalid entry function ID ${clip(text)} (occurred while parsing "ViewRequest")`,
  samplesInvalid: (samples: bigint, most: number) => `expected 2 to ${most} samples, got ${samples}`,
  everyAndSamples: () => 'both `every` and `samples` are given; give only one of them',
  ignoredUnknown: (text: string) => `${JSON.stringify(clip(text))} cannot be ignored; only clock can`,
  eventIdInvalid: (text: string) => `${JSON.stringify(clip(text))} is not the id of an entry of this stream`,
  cursorInvalid: (text: string) => `${JSON.stringify(clip(text))} is not a cursor of this list`,
  /**
   * Error for a spent budget. The views of a batch share one budget, and a history needs the whole budget for each run.
   */
  viewBudgetSpent: () =>
    'the earlier views have used up the budget of one request; send this one in a separate request',
  memberNotAString: (type: string, member: string, found: string) =>
    `parse request payload error: member \`${member}\` of "${type}": invalid type: ${found}, expected a string`,
  batchNotAnArray: () => 'member `requests` is not an array',
  batchElementNotAnObject: (at: number) => `requests[${at}] is not an object`,
  batchTooLong: (count: number, limit: number) => `expected at most ${limit} requests, got ${count}`,
  batchAnswerTooLarge: (limitBytes: number) =>
    `the answers to this batch are longer than ${limitBytes} bytes; ask for fewer at once`,
  bodyNotEncodedSo: (encoding: string) => `the body cannot be decoded as its \`Content-Encoding: ${encoding}\` says`,
  bodyInCrumbs: () => 'the body is sent in chunks of a few bytes each; send larger chunks',
  hostMissing: () => 'the client request does not include the `Host` header',
  hostTwice: () => 'the client request includes the `Host` header more than once',
  transferEncodingUnsupported: (encoding: string) =>
    `the \`Transfer-Encoding\` is not supported: ${clip(encoding)}; send chunked or none`,
  notABoolean: (text: string) => `${JSON.stringify(clip(text))} is neither true nor false`,
})

export const invalidParameter = declareErrors('invalid_parameter', {
  versionTwice: () =>
    'the version is given in several places; give it in one of the query, the header and the variables',
  versionAndTimestamp: () => 'both `ledger_version` and `ledger_timestamp` are given; give only one of them',
  parameterUnknown: (name: string, meant: string) =>
    `unknown parameter ${JSON.stringify(name)}; did you mean \`${meant}\`?`,
  readsRange: (name: string, hasEnd: boolean) =>
    `unknown parameter ${JSON.stringify(name)}: this operation reads a range of versions; give ${hasEnd ? 'its end as `to`, a version or a time' : 'its beginning as `from`'}`,
  noProofOfOperation: () =>
    'this operation has no proofs; `GET /v1/spec` shows the operations that have the parameter `proof`',
  proofRepeated: () => 'the parameter `proof` occurs more than once',
  proofTooLarge: (most: number) =>
    `the values that this answer depends on have more than ${most} bytes, the limit of a proof`,
  tooManyPaths: (most: number) =>
    `this view reads more than ${most} values: it can be proven only at versions whose whole tree the node keeps`,
  noProofsKept: () => 'this service cannot serve proofs: it keeps no signed checkpoint',
  noProofsOfSlice: () =>
    'this store cannot serve proofs: it keeps only part of the ledger, and a proof needs the whole state tree',
  rangeFromAboveTo: (from: bigint, to: bigint) =>
    `\`from\` is version ${from}, which is above version ${to}, given as \`to\``,
  rangeFromAfterTo: () => 'the time given as `from` is after the time given as `to`',
  /** Error for a limit of 0. The reference finds it after the version, and so does this service. */
  limitZero: () => 'Given limit value (0) must not be zero',
  notAnEventHandle: (field: string, why: string) =>
    `Deserialization error, field(${field}) type is not a EventHandle struct: ${why}`,
  streamFilters: (names: readonly string[]) =>
    `a stream cannot be filtered by ${names.map((name) => `\`${name}\``).join(' and ')} together`,
  tableTypesWithoutTable: () => 'give `key_type` and `value_type` together, and only with `table`',
  filtersTogether: (name: string, filter: string) =>
    `\`${name}\` is not a parameter by itself: write each filter as \`${filter}=VALUE\``,
  tooManyFilters: (most: number) => `the query filters by more than ${most} fields`,
  startAboveLatest: (start: bigint, latest: bigint) =>
    `Given start value (${start}) is higher than the current ledger version, it must be < ${latest}`,
  viewCallUndecodable: (why: string) => `Failed to deserialize input into ViewRequest: ${why}`,
  viewNameInvalid: (text: string) =>
    `${JSON.stringify(clip(text))} does not name view functions; expected a name such as 0x1, 0x1::coin or 0x1::coin::balance`,
  stateKeyInvalid: (why: string) => `member \`key\` is not the hex form of a BCS state key: ${why}`,
})

export const operationDisabled = declareErrors('operation_disabled', {
  transactionsNotKept: (what: string) =>
    `${what} with transactions is not available: this service does not keep transactions`,
  streamsDisabled: () =>
    'this service has no live stream: it reads a state on other machines, or was started without a source of changes',
  streamInBatch: () => 'a stream cannot be an element of a batch',
  /** Error for an element of a batch that no batch does. */
  pathInBatch: (path: string) => `${path} cannot be an element of a batch: request it separately`,
  eventsNotKept: () => 'events cannot be streamed: this service does not keep events',
  viewsDisabled: () => 'view functions are disabled on this service',
})

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

/** Errors for transactions that a store does not keep. */
export const transactionNotKept = declareErrors('transaction_not_kept', {
  /** Error for a version of the window if the store was not given its transaction. */
  notGiven: (version: bigint) => [
    `the transaction of version ${version} is not kept: the source of the store did not have it`,
    {},
  ],
  /** Error for a version whose transaction a slice does not keep. */
  notInSlice: (version: bigint) => [
    `this store keeps only part of the ledger: the transaction of version ${version} was sent by no account of the slice and changed none`,
    {},
  ],
  /** Error for a hash that a slice does not have. @param hash hash in hex, with 0x */
  hashNotInSlice: (hash: string) => [
    `this store keeps only part of the ledger, in which there is no transaction with hash ${hash}`,
    {},
  ],
})

export function structFieldNotFound(address: string, tag: string, field: string, version: bigint): RequestError {
  const message = `Struct Field not found by Address(${address}), Struct tag(${tag}), Field name(${field}) and Ledger version(${version})`
  return new LedgerStateError('struct_field_not_found', message)
}

export function blockHashUnknown(height: bigint): RequestError {
  const message = `Block not found by Block height(${height}): the state does not contain its hash, which the BCS form needs; ask for JSON`
  return new LedgerStateError('block_hash_unknown', message)
}

/**
 * Error for a view that the filter excludes.
 * @param name name with the address as 64 hex digits
 */
export function viewNotAllowed(name: string): RequestError {
  return new LedgerStateError('view_not_allowed', `Function ${clip(name)} is not allowed`)
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

export const bodyTooLarge = declareErrors('body_too_large', {
  longerThan: (limitBytes: number) => [
    `payload too large: the limit is ${limitBytes} bytes`,
    {
      limitBytes,
    },
  ],
  /**
   * Error for too much JSON.
   * @param limitBytes limit for the JSON between its first and last character that is not white space
   */
  contentTooLarge: (limitBytes: number) => [
    `payload too large: the limit is ${limitBytes} bytes of JSON`,
    { limitBytes },
  ],
})

export function contentTypeMissing(): RequestError {
  const message = 'the client request does not include the `Content-Type` header'
  return new LedgerStateError('content_type_missing', message)
}

export const contentTypeUnsupported = declareErrors('content_type_unsupported', {
  ofBody: (contentType: string) =>
    `the \`Content-Type\` requested by the client is not supported: ${clip(contentType)}; send application/json`,
  contentEncodingUnsupported: (encoding: string) =>
    `the \`Content-Encoding\` is not supported: ${clip(encoding)}; send gzip, deflate, br or none`,
})

export const outputDisabled = declareErrors('output_disabled', {
  /**
   * Error for a format that is not served.
   * @param what the operation, such as `Get table item`
   */
  format: (what: string, format: string) => `${what} with ${format.toUpperCase()} output is disabled on this endpoint`,
  onlyBcsOffered: (what: string) => `${what} is not allowed. Only BCS is supported as an AcceptType.`,
})

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

/** @param when names the question, if that is not the request itself */
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

export const proofNotKept = declareErrors('proof_not_kept', {
  ofState: (version: bigint, nearestVersion: bigint) => [
    `this store has no proof at version ${version}; the nearest version with a proof is ${nearestVersion}: ask with ledger_version=${nearestVersion}`,
    { nearestVersion },
  ],
  notSigned: (version: bigint, nearestVersion: bigint) => [
    `this store has no ledger info with signatures that covers version ${version}; the newest version that one covers is ${nearestVersion}`,
    { nearestVersion },
  ],
  pathNotKept: (version: bigint) =>
    `this store does not keep the transactions that lead from version ${version} to a ledger info with signatures`,
})
