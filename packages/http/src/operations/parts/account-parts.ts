import type { Asset } from '@ledger-state/ledger'
import { isStructTag, type StructTag } from '@ledger-state/type-tag'
import { invalidRequest, routeNotFound } from '../../errors.js'
import type { OperationRequest, Parameter } from './operation.js'
import { parseAddressParameter, parsePart } from './request-parts.js'

export const ADDRESS_PARAMETER: Parameter = {
  name: 'address',
  in: 'path',
  description: 'The account, with or without 0x.',
  schema: { $ref: '#/components/schemas/Address' },
}

export function parseAccountAddress({ params }: OperationRequest): Uint8Array {
  return parseAddressParameter('address', params.address!)
}

export const ASSET_TYPE_PARAMETER: Parameter = {
  name: 'asset_type',
  in: 'path',
  description: 'A coin type, or the metadata address of a fungible asset.',
  schema: { $ref: '#/components/schemas/AssetType' },
}

export function parseAssetType({ ledger, params }: OperationRequest): Asset {
  return parsePart('path `asset_type`', () => ledger.parseAsset(params.asset_type!))
}

/**
 * The last segment of a path. A path that ends with `/` has none, and does not exist.
 * @throws `route_not_found`
 */
export function expectLastSegment(segment: string | undefined): string {
  if (!segment) throw routeNotFound()
  return segment
}

export const RESOURCE_TYPE_PARAMETER: Parameter = {
  name: 'resource_type',
  in: 'path',
  description: 'The struct tag of the resource.',
  schema: { $ref: '#/components/schemas/MoveType' },
}

export function parseResourceType({ ledger, params }: OperationRequest): StructTag {
  const text = params.resource_type!
  const type = parsePart('path `resource_type`', () => ledger.parseType(text))
  if (!isStructTag(type)) throw invalidRequest.structTagExpected('path `resource_type`', text)
  return type
}

export function parseModuleName(text: string): string {
  if (!isIdentifier(text)) throw invalidRequest.moduleNameInvalid(text)
  return text
}

/** Whether a text is an identifier: letters, digits, `_` and `$`, no digit first; a single `_` or `$` is not one. */
export function isIdentifier(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isDigit = code >= 0x30 && code <= 0x39
    if (!(isLetter(code) || isMark(code) || (isDigit && at > 0))) return false
  }
  return text.length > 1 || (text.length === 1 && isLetter(text.charCodeAt(0)))
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
}

function isMark(code: number): boolean {
  return code === 0x5f || code === 0x24
}
