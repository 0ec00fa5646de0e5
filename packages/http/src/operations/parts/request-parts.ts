import { isJsonObject, type JsonObject, type JsonValue, jsonTypeName, jsonValueToText } from '@ledger-state/bcs'
import { hexToBytes, isLedgerStateError, parseAddress, parseU64 } from '@ledger-state/core'
import { type Asset, type Moment, parseTimestamp } from '@ledger-state/ledger'
import type { TypeTag } from '@ledger-state/type-tag'
import {
  contentTypeMissing,
  contentTypeUnsupported,
  faultOfMember,
  invalidParameter,
  invalidRequest,
} from '../../errors.js'
import {
  BATCH_LIMITS,
  type ContentLimits,
  type LazyList,
  parseJsonBytes,
  parseJsonList,
  READ_LIMITS,
} from '../../protocol/json-body.js'
import { isJsonContentType } from '../../protocol/media-types.js'
import { decodePercent, queryParameter } from '../../protocol/query.js'
import type { OperationRequest } from './operation.js'

// Parsers for parts of a request. Each refuses with the name of the part.

/** Most characters that a message shows of a body that is not an object. */
const LONGEST_QUOTE = 200

/** Runs a parser, and adds the name of the part to its errors. */
export function parsePart<T>(part: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidRequest.invalidPart(part, error.message)
    throw error
  }
}

export function parseAddressParameter(name: string, text: string): Uint8Array {
  return parsePart(`path \`${name}\``, () => parseAddress(text))
}

/** The state to read; undefined, the latest, if the query names none. */
export function parseAskedState(query: string): Moment | undefined {
  if (query === '') return undefined
  const version = parameterOf(query, 'ledger_version', parseU64)
  const timestampUsec = parameterOf(query, 'ledger_timestamp', parseTimestamp)
  if (timestampUsec === undefined) return version === undefined ? undefined : { version }
  if (version !== undefined) throw invalidParameter.versionAndTimestamp()
  return { timestampUsec }
}

/** Reads a query parameter; undefined if the query has none. If it is repeated, the first one counts. */
export function parameterOf<T>(query: string, name: string, parse: (text: string) => T): T | undefined {
  const text = queryParameter(query, name)
  if (text === undefined) return undefined
  // The reference decodes twice, and clients may rely on it.
  return parsePart(`parameter \`${name}\``, () => parse(decodePercent(text)))
}

export function expectJsonContentType(contentType: string | undefined): void {
  if (contentType === undefined) throw contentTypeMissing()
  if (!isJsonContentType(contentType)) throw contentTypeUnsupported.ofBody(contentType)
}

export interface TableItemBody {
  readonly keyType: string
  readonly valueType: string
  readonly key: JsonValue
}

export function parseTableItemBody(body: Buffer): TableItemBody {
  const members = parseJsonBody(body, 'TableItemRequest', READ_LIMITS)
  return {
    keyType: stringMember(members, 'key_type', 'TableItemRequest'),
    valueType: stringMember(members, 'value_type', 'TableItemRequest'),
    key: members.get('key') ?? null,
  }
}

export function parseRawTableItemBody(body: Buffer): { key: Uint8Array } {
  return { key: parseHexMember(parseJsonBody(body, 'RawTableItemRequest', READ_LIMITS), 'key', 'RawTableItemRequest') }
}

export function parseHexMember(members: JsonObject, name: string, type: string): Uint8Array {
  return parsePart(`request payload: member \`${name}\``, () => hexToBytes(stringMember(members, name, type)))
}

export function parseAddressMember(members: JsonObject, name: string, type: string): Uint8Array {
  return parsePart(`request payload: member \`${name}\``, () => parseAddress(stringMember(members, name, type)))
}

export function parseAssetMember({ ledger }: OperationRequest, members: JsonObject, name: string, type: string): Asset {
  return parsePart(`request payload: member \`${name}\``, () => ledger.parseAsset(stringMember(members, name, type)))
}

/**
 * Parses a type in a member of the body.
 * @throws `invalid_type_tag` that names the member
 */
export function parseTypeMember({ ledger }: Pick<OperationRequest, 'ledger'>, member: string, text: string): TypeTag {
  try {
    return ledger.parseType(text)
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    throw faultOfMember(member, error)
  }
}

/**
 * Size in bytes from which the elements of a batch are parsed one by one, which takes twice the time and less memory.
 */
const LONG_BATCH = 64 << 10

/** The elements of a batch. */
export interface BatchElements {
  readonly length: number
  element(at: number): JsonObject
}

export function parseBatchElements(body: Buffer, maxElements: number): BatchElements {
  const list = parseBatchList(body)
  if (list.length > maxElements) throw invalidRequest.batchTooLong(list.length, maxElements)
  for (let at = 0; at < list.length; at++) if (!list.isObject(at)) throw invalidRequest.batchElementNotAnObject(at)
  return { length: list.length, element: (at) => list.item(at) as JsonObject }
}

function parseBatchList(body: Buffer): LazyList {
  if (body.length > LONG_BATCH) {
    try {
      const list = parseJsonList(body, 'requests', BATCH_LIMITS)
      if (list) return list
    } catch (error) {
      // The parsers of the whole body find the fault again, because columns are counted in bytes here.
      if (!isLedgerStateError(error, 'invalid_json')) throw error
    }
  }
  const requests = parseJsonBody(body, 'BatchRequest', BATCH_LIMITS).get('requests')
  if (!Array.isArray(requests)) throw invalidRequest.batchNotAnArray()
  const item = (at: number): JsonValue => requests[at] as JsonValue
  return { length: requests.length, isObject: (at) => isJsonObject(item(at)), item }
}

/** The members of a body that must be a JSON object. An empty body counts as `null`. */
export function parseJsonBody(body: Buffer, type: string, limits: ContentLimits): JsonObject {
  const value = body.length === 0 ? null : parseContent(body, limits)
  if (isJsonObject(value)) return value
  throw invalidRequest.bodyNotAnObject(type, jsonValueToText(value, LONGEST_QUOTE))
}

function parseContent(body: Buffer, limits: ContentLimits): JsonValue {
  try {
    return parseJsonBytes(body, limits)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_json')) throw invalidRequest.invalidPart('request payload', error.message)
    throw error
  }
}

export function stringMember(members: JsonObject, name: string, type: string): string {
  return stringOf(members.get(name), name, type)
}

/**
 * A string member.
 * @param member name of the value in the message
 */
export function stringOf(value: JsonValue | undefined, member: string, type: string): string {
  if (typeof value === 'string') return value
  throw invalidRequest.memberNotAString(type, member, jsonTypeName(value ?? null))
}
