import { isStructTag, type StructTag } from '@ledger-state/type-tag'
import { moduleNameInvalid, routeNotFound, structTagExpected } from '../errors.js'
import type { OperationRequest, Parameter } from './operation.js'
import { parseAddressParameter, parsePart } from './request-parts.js'

export const ADDRESS_PARAMETER: Parameter = {
  name: 'address',
  in: 'path',
  description: 'The account, with or without 0x.',
  schema: { $ref: '#/components/schemas/Address' },
}

const MODULE_NAME = /^(?:[a-zA-Z][a-zA-Z0-9_$]*|[_$][a-zA-Z0-9_$]+)$/

export function parseAccountAddress({ params }: OperationRequest): Uint8Array {
  return parseAddressParameter('address', params.address!)
}

/** A path that ends with `/` has no last segment, and there is no such path. @throws `route_not_found` */
export function expectLastSegment(segment: string | undefined): string {
  if (!segment) throw routeNotFound()
  return segment
}

export function parseResourceType({ ledger, params }: OperationRequest): StructTag {
  const text = params.resource_type!
  const type = parsePart('path `resource_type`', () => ledger.parseType(text))
  if (!isStructTag(type)) throw structTagExpected('path `resource_type`', text)
  return type
}

export function parseModuleName({ params }: OperationRequest): string {
  const text = params.module_name!
  if (!MODULE_NAME.test(text)) throw moduleNameInvalid(text)
  return text
}
