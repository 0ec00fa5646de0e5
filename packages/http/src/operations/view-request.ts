import type { JsonObject, JsonValue } from '@ledger-state/bcs'
import { ADDRESS_LENGTH, addressToShortHex, ByteReader, parseAddress } from '@ledger-state/core'
import type { ViewRequest } from '@ledger-state/ledger'
import { readName, readTypeTag } from '@ledger-state/type-tag'
import {
  bodyTooLarge,
  contentTypeMissing,
  contentTypeUnsupported,
  functionNameInvalid,
  memberNotAnArray,
} from '../errors.js'
import { READ_LIMITS } from '../protocol/json-body.js'
import { isJsonContentType, mediaTypeOf, VIEW_FUNCTION_BCS } from '../protocol/media-types.js'
import type { OperationRequest } from './operation.js'
import { parseJsonBody, parsePart, parseTypeMember, stringMember, stringOf } from './request-parts.js'

const TYPE = 'ViewRequest'

/** The call of a view function, out of the body. Type arguments of JSON are parsed when the rest of the request is. */
export interface ViewCall {
  readonly function: string
  typeArguments(): ViewRequest['typeArguments']
  readonly arguments: ViewRequest['arguments']
}

/** A body in JSON, or in the BCS that the reference takes. */
export function parseViewCall(request: OperationRequest): ViewCall {
  const { contentType, body } = request
  if (contentType === undefined) throw contentTypeMissing()
  if (isJsonContentType(contentType)) return callOfJson(request, parseJsonBody(body, TYPE, READ_LIMITS))
  if (mediaTypeOf(contentType) !== VIEW_FUNCTION_BCS) throw contentTypeUnsupported(contentType)
  if (body.length > READ_LIMITS.bytes) throw bodyTooLarge(READ_LIMITS.bytes)
  return parsePart('request payload', () => callOfBcs(new ByteReader(Uint8Array.from(body))))
}

function callOfJson(request: OperationRequest, members: JsonObject): ViewCall {
  const types = arrayMember(members, 'type_arguments')
  const name = canonicalName(stringMember(members, 'function', TYPE))
  const values = arrayMember(members, 'arguments')
  return {
    function: name,
    typeArguments: () =>
      types.map((text, at) => {
        const member = `type_arguments[${at}]`
        return parseTypeMember(request, member, stringOf(text, member, TYPE))
      }),
    arguments: values.map((value) => ({ kind: 'json', value })),
  }
}

function arrayMember(members: JsonObject, name: string): readonly JsonValue[] {
  const value = members.get(name)
  if (Array.isArray(value)) return value
  throw memberNotAnArray(TYPE, name)
}

/** `0x1::coin::balance`, whatever form the address has. */
function canonicalName(text: string): string {
  const [address, module, name, ...rest] = text.split('::')
  if (!module || !name || rest.length > 0) throw functionNameInvalid(text)
  return parsePart(
    'request payload: member `function`',
    () => `${addressToShortHex(parseAddress(address!))}::${module}::${name}`,
  )
}

/** Arguments are views of what is read. module (address, name) | function name | type arguments | arguments, each as a byte string */
function callOfBcs(reader: ByteReader): ViewCall {
  const address = addressToShortHex(reader.readBytes(ADDRESS_LENGTH))
  const module = readName(reader)
  const name = readName(reader)
  const typeArguments = readList(reader, () => readTypeTag(reader))
  const values = readList(reader, () => ({ kind: 'bcs' as const, bytes: reader.readByteString() }))
  reader.expectEnd()
  return { function: `${address}::${module}::${name}`, typeArguments: () => typeArguments, arguments: values }
}

function readList<T>(reader: ByteReader, readOne: () => T): T[] {
  const items: T[] = []
  for (let left = reader.readLength(); left > 0; left--) items.push(readOne())
  return items
}
