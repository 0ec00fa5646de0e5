import type { JsonObject, JsonValue } from '@ledger-state/bcs'
import { ADDRESS_LENGTH, ByteReader, isLedgerStateError, parseAddress } from '@ledger-state/core'
import type { ViewRequest } from '@ledger-state/ledger'
import { MAX_TYPE_NESTING, MAX_TYPE_TEXT_LENGTH, readName, readTypeTag, type TypeTag } from '@ledger-state/type-tag'
import {
  bodyTooLarge,
  contentTypeMissing,
  contentTypeUnsupported,
  invalidParameter,
  invalidRequest,
} from '../../errors.js'
import { BATCH_LIMITS, READ_LIMITS } from '../../protocol/json-body.js'
import { isJsonContentType, mediaTypeOf, VIEW_FUNCTION_BCS } from '../../protocol/media-types.js'
import { isIdentifier } from './account-parts.js'
import type { OperationRequest } from './operation.js'
import { parseJsonBody, parseTypeMember, stringMember, stringOf } from './request-parts.js'

const TYPE = 'ViewRequest'

/**
 * Reads the call of a view function from the body, as far as the reference reads it before it looks for the version.
 * The returned function reads the rest: the type arguments of JSON, or all of BCS.
 */
export function parseViewCall(request: Pick<OperationRequest, 'contentType' | 'body' | 'ledger'>): () => ViewRequest {
  const { contentType, body } = request
  if (contentType === undefined) throw contentTypeMissing()
  if (isJsonContentType(contentType)) return parseJsonCall(request, parseJsonBody(body, TYPE, READ_LIMITS))
  if (mediaTypeOf(contentType) !== VIEW_FUNCTION_BCS) throw contentTypeUnsupported.ofBody(contentType)
  if (body.length > BATCH_LIMITS.bytes) throw bodyTooLarge.longerThan(BATCH_LIMITS.bytes)
  return () => readBcsCall(Uint8Array.from(body))
}

function parseJsonCall(request: Pick<OperationRequest, 'ledger'>, members: JsonObject): () => ViewRequest {
  const name = parseViewFunction(stringMember(members, 'function', TYPE))
  const types = arrayMember(members, 'type_arguments').map((text, at) => stringOf(text, `type_arguments[${at}]`, TYPE))
  const json = arrayMember(members, 'arguments')
  return () => ({
    ...name,
    typeArguments: types.map((text, at) => parseTypeMember(request, `type_arguments[${at}]`, text)),
    arguments: { json },
  })
}

function arrayMember(members: JsonObject, name: string): readonly JsonValue[] {
  const value = members.get(name)
  if (Array.isArray(value)) return value
  throw invalidRequest.memberNotAnArray(TYPE, name)
}

/**
 * Parses `0x1::coin::balance`, with any form of the address.
 * @throws `invalid_request`
 */
export function parseViewFunction(text: string): Pick<ViewRequest, 'address' | 'module' | 'function'> {
  const lastAt = text.lastIndexOf('::')
  const firstAt = text.indexOf('::')
  const [module, name] = [text.slice(firstAt + 2, Math.max(lastAt, firstAt)), text.slice(lastAt + 2)]
  if (firstAt === lastAt || !isIdentifier(module) || !isIdentifier(name)) throw invalidRequest.functionNameInvalid(text)
  try {
    return { address: parseAddress(text.slice(0, firstAt)), module, function: name }
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidRequest.functionNameInvalid(text)
    throw error
  }
}

/** Reads module (address, name) | function name | type arguments | arguments, each as a byte string. */
function readBcsCall(bytes: Uint8Array): ViewRequest {
  const reader = new ByteReader(bytes)
  try {
    const address = reader.readBytes(ADDRESS_LENGTH)
    const module = readName(reader)
    const name = readName(reader)
    const typeArguments = readTypes(reader)
    const bcs = readList(reader, () => reader.readByteString())
    reader.expectEnd()
    return { address, module, function: name, typeArguments, arguments: { bcs } }
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidParameter.viewCallUndecodable(error.message)
    throw error
  }
}

/**
 * Reads type arguments: as many bytes as a type in JSON may have characters. A type has at most 8 levels with its innermost one,
 * after which the reference stops decoding; one in JSON may have 9.
 */
function readTypes(reader: ByteReader): TypeTag[] {
  const { bytes, offset } = reader
  const end = Math.min(reader.end, offset + MAX_TYPE_TEXT_LENGTH)
  const within = new ByteReader(bytes, offset, end)
  try {
    return readList(within, () => readTypeTag(within, 1, MAX_TYPE_NESTING))
  } catch (error) {
    const isCut = end < reader.end && isLedgerStateError(error, 'invalid_bcs') && error.fields.offset === end
    throw isCut ? reader.fault(`the type arguments have more than ${MAX_TYPE_TEXT_LENGTH} bytes`) : error
  } finally {
    reader.offset = within.offset
  }
}

/** Reads a list of at most as many items as a body in JSON may have values: an item of one byte takes a hundred in memory. */
function readList<T>(reader: ByteReader, readOne: () => T): T[] {
  const start = reader.offset
  const count = reader.readLength()
  if (count > READ_LIMITS.values) throw reader.fault(`a list of more than ${READ_LIMITS.values} items`, start)
  const items: T[] = []
  for (let left = count; left > 0; left--) items.push(readOne())
  return items
}
