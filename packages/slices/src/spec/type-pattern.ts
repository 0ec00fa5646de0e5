import { addressToShortHex, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, type StructTag, typeTagsEqual, typeTagToText } from '@ledger-state/type-tag'
import { invalidTypePattern } from '../errors.js'

/** Pattern of types whose resources are kept at any address. */
export interface TypePattern {
  /** Address of 32 bytes. */
  readonly address: Uint8Array
  /** Module; undefined for all modules of the address. */
  readonly module: string | undefined
  /** Type; undefined for all types of the module. */
  readonly name: string | undefined
  /** The type with the arguments that match; undefined if all arguments match. */
  readonly tag: StructTag | undefined
}

const WILDCARD = /^(0x[0-9a-fA-F]{1,64})::(?:([A-Za-z_][A-Za-z0-9_$]*)::)?\*$/

/**
 * Reads `0x1::module::Name`, which matches with any type arguments, `0x1::module::Name<…>`, which matches exactly,
 * `0x1::module::*` or `0x1::*`.
 * @throws `invalid_type_tag`
 */
export function parseTypePattern(text: string): TypePattern {
  const wildcard = WILDCARD.exec(text)
  if (wildcard) return { address: parseAddress(wildcard[1]!), module: wildcard[2], name: undefined, tag: undefined }
  if (text.includes('*')) throw invalidTypePattern(text)
  const tag = parseStructTag(text)
  const { address, module, name, typeArguments } = tag
  return { address, module, name, tag: typeArguments.length > 0 ? tag : undefined }
}

/** Text that `parseTypePattern` reads back; equal patterns have equal texts. */
export function typePatternToText({ address, module, name, tag }: TypePattern): string {
  if (tag) return typeTagToText(tag)
  return [addressToShortHex(address), ...(module === undefined ? [] : [module]), name ?? '*'].join('::')
}

/** Whether a pattern matches a type. */
export function matchesType(pattern: TypePattern, tag: StructTag): boolean {
  if (pattern.tag) return typeTagsEqual(pattern.tag, tag)
  if (pattern.name !== undefined && pattern.name !== tag.name) return false
  if (pattern.module !== undefined && pattern.module !== tag.module) return false
  return compareBytes(pattern.address, tag.address) === 0
}
