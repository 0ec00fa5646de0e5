import { isUtf8 } from 'node:buffer'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypeName,
  jsonValueToText,
  parseJson,
} from '@ledger-state/bcs'
import { clip, hexToBytes, LedgerStateError, parseAddress, parseU64, SizedCache } from '@ledger-state/core'
import { type Asset, parseAsset } from '@ledger-state/ledger'
import { parseTypeTag, type TypeTag } from '@ledger-state/type-tag'

// Parts of a request, each read by a function that refuses with the name of the part.

function invalidRequest(message: string): LedgerStateError {
  return new LedgerStateError('invalid_request', message)
}

function parsePart<T>(part: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof LedgerStateError) throw invalidRequest(`failed to parse ${part}: ${error.message}`)
    throw error
  }
}

export function parseAddressParameter(name: string, text: string): Uint8Array {
  return parsePart(`path \`${name}\``, () => parseAddress(text))
}

export function parseAssetParameter(text: string): Asset {
  return parsePart('path `asset_type`', () => parseAsset(text))
}

/** The version to read, undefined where the query names none. Of repeated parameters the first counts. */
export function parseLedgerVersion(query: string): bigint | undefined {
  const text = queryParameter(query, 'ledger_version')
  if (text === undefined) return undefined
  return parsePart('parameter `ledger_version`', () => parseU64(decodePercent(text)))
}

/** The first value of a query parameter, form-decoded. */
export function queryParameter(query: string, name: string): string | undefined {
  if (query === '') return undefined
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    const rawName = equals < 0 ? pair : pair.slice(0, equals)
    if (rawName !== name && !(rawName.includes('%') && decodePercent(rawName) === name)) continue
    return equals < 0 ? '' : decodePercent(pair.slice(equals + 1).replaceAll('+', ' '))
  }
  return undefined
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidRequest(`malformed percent-encoding in ${JSON.stringify(clip(text))}`)
  }
}

const JSON_CONTENT_TYPE = /^application\/(?:json|[^;\s]+\+json)\s*(?:;|$)/i

export function expectJsonContentType(contentType: string | undefined): void {
  if (contentType === undefined) {
    throw new LedgerStateError('content_type_missing', 'the client request does not include the `Content-Type` header')
  }
  if (!JSON_CONTENT_TYPE.test(contentType.trim())) {
    const message = `the \`Content-Type\` requested by the client is not supported: ${clip(contentType)}; send application/json`
    throw new LedgerStateError('content_type_unsupported', message)
  }
}

export interface TableItemBody {
  readonly keyType: string
  readonly valueType: string
  readonly key: JsonValue
}

export function parseTableItemBody(body: Buffer | undefined): TableItemBody {
  const members = parseJsonBody(body, 'TableItemRequest')
  return {
    keyType: stringMember(members, 'key_type', 'TableItemRequest'),
    valueType: stringMember(members, 'value_type', 'TableItemRequest'),
    key: members.get('key') ?? null,
  }
}

export function parseRawTableItemBody(body: Buffer | undefined): { key: Uint8Array } {
  return { key: parseHexMember(parseJsonBody(body, 'RawTableItemRequest'), 'key', 'RawTableItemRequest') }
}

export function parseHexMember(members: JsonObject, name: string, type: string): Uint8Array {
  return parsePart(`request payload: member \`${name}\``, () => hexToBytes(stringMember(members, name, type)))
}

export function parseAddressMember(members: JsonObject, name: string, type: string): Uint8Array {
  return parsePart(`request payload: member \`${name}\``, () => parseAddress(stringMember(members, name, type)))
}

export function parseAssetMember(members: JsonObject, name: string, type: string): Asset {
  return parsePart(`request payload: member \`${name}\``, () => parseAsset(stringMember(members, name, type)))
}

/** Clients ask for few types many times, and a tag that was seen finds its codec faster. */
const PARSED_TYPES = new SizedCache<string, TypeTag>(1 << 20)

/** @throws `invalid_type_tag` that names the member */
export function parseTypeMember(member: string, text: string): TypeTag {
  const known = PARSED_TYPES.get(text)
  if (known) return known
  try {
    const tag = parseTypeTag(text)
    PARSED_TYPES.set(text, tag, 256 + 4 * text.length)
    return tag
  } catch (error) {
    if (!(error instanceof LedgerStateError)) throw error
    throw new LedgerStateError(error.code, `${member}: ${error.message}`, error.fields)
  }
}

/** The members of a body that is a JSON object. An empty body counts as `null`. */
export function parseJsonBody(body: Buffer | undefined, type: string): JsonObject {
  const value = body === undefined || body.length === 0 ? null : parseBody(body)
  if (isJsonObject(value)) return value
  const found = clip(jsonValueToText(value))
  throw invalidRequest(`parse request payload error: Expected input type "${type}", found ${found}.`)
}

function parseBody(body: Buffer): JsonValue {
  return parsePart('request payload', () => {
    if (!isUtf8(body)) throw new LedgerStateError('invalid_json', 'the body is not UTF-8')
    return parseJson(body.toString('utf8'))
  })
}

export function stringMember(members: JsonObject, name: string, type: string): string {
  const value = members.get(name)
  if (typeof value === 'string') return value
  throw invalidRequest(
    `parse request payload error: member \`${name}\` of "${type}": invalid type: ${jsonTypeName(value ?? null)}, expected a string`,
  )
}
