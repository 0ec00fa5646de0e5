import { ADDRESS_LENGTH, addressToShortHex } from '@ledger-state/core'

/** The integer types: the unsigned ones by width, then the signed ones. */
export const INTEGER_TYPES = [
  'u8',
  'u16',
  'u32',
  'u64',
  'u128',
  'u256',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const
/** Name of an integer type, such as `u64`. */
export type IntegerType = (typeof INTEGER_TYPES)[number]

/** The types without parts. `signer` has a name and no values. */
export const PRIMITIVE_TYPES = ['bool', ...INTEGER_TYPES, 'address', 'signer'] as const
/** The name of a type without parts. */
export type PrimitiveType = (typeof PRIMITIVE_TYPES)[number]

/** Bytes of the values of each type whose values all have the same length. */
export const FIXED_LENGTHS: Readonly<Record<string, number | undefined>> = {
  bool: 1,
  ...Object.fromEntries(INTEGER_TYPES.map((type) => [type, Number(type.slice(1)) / 8])),
  address: ADDRESS_LENGTH,
}

/** A type without parts. */
export interface PrimitiveTag {
  readonly kind: PrimitiveType
}

/** The type `vector<element>`. */
export interface VectorTag {
  readonly kind: 'vector'
  readonly element: TypeTag
}

/** A struct or enum with its type arguments. */
export interface StructTag {
  readonly kind: 'struct'
  /** Address of the module, 32 bytes. */
  readonly address: Uint8Array
  readonly module: string
  readonly name: string
  readonly typeArguments: readonly TypeTag[]
}

/** A parameter or result of a function type. */
export interface FunctionSlot {
  readonly passing: 'reference' | 'mutableReference' | 'value'
  readonly type: TypeTag
}

/** The type of a function value. It occurs in type arguments of stored types. The parser accepts no text for it. */
export interface FunctionTag {
  readonly kind: 'function'
  readonly parameters: readonly FunctionSlot[]
  readonly results: readonly FunctionSlot[]
  /** Abilities of the function, as bits: copy 1, drop 2, store 4, key 8. */
  readonly abilities: number
}

/** The name of a Move type. Immutable. */
export type TypeTag = PrimitiveTag | VectorTag | StructTag | FunctionTag

const PRIMITIVE_TAGS: ReadonlyMap<string, PrimitiveTag> = new Map(PRIMITIVE_TYPES.map((kind) => [kind, { kind }]))

/** Tag of the primitive type with this name; undefined if there is none. */
export function primitiveTag(name: string): PrimitiveTag | undefined {
  return PRIMITIVE_TAGS.get(name)
}

/** Whether a tag names a struct or an enum. */
export function isStructTag(tag: TypeTag): tag is StructTag {
  return tag.kind === 'struct'
}

/**
 * Text of a tag in its canonical form: short lower-case addresses, `", "` between type arguments, no other spaces, no
 * empty `<>`. Type names on chain have this form, so hashes over it (paired metadata) agree with the chain's.
 */
export function typeTagToText(tag: TypeTag): string {
  return textAfter('', tag)
}

/**
 * Appends the text of a tag to another text. Each part is copied once this way, and not once for each level around it.
 */
function textAfter(before: string, tag: TypeTag): string {
  switch (tag.kind) {
    case 'vector':
      return `${textAfter(`${before}vector<`, tag.element)}>`
    case 'struct': {
      const { typeArguments } = tag
      let text = before + structToText(tag)
      for (let at = 0; at < typeArguments.length; at++) {
        text = textAfter(text + (at === 0 ? '<' : ', '), typeArguments[at]!)
      }
      return typeArguments.length === 0 ? text : `${text}>`
    }
    case 'function':
      return `${before}|${slotsToText(tag.parameters)}|(${slotsToText(tag.results)})${abilitiesToText(tag.abilities)}`
    default:
      return before + tag.kind
  }
}

function structToText({ address, module, name }: StructTag): string {
  return `${addressToShortHex(address)}::${module}::${name}`
}

const PASSING_PREFIX = { reference: '&', mutableReference: '&mut ', value: '' } as const
const ABILITY_NAMES = ['copy', 'drop', 'store', 'key']

function slotsToText(slots: readonly FunctionSlot[]): string {
  return slots.map(({ passing, type }) => PASSING_PREFIX[passing] + typeTagToText(type)).join(', ')
}

function abilitiesToText(abilities: number): string {
  const names = ABILITY_NAMES.filter((_, bit) => abilities & (1 << bit))
  return names.length === 0 ? '' : ` has ${names.join(' + ')}`
}

/** Number of types in a tag, including the tag itself. */
export function typeTagSize(tag: TypeTag): number {
  switch (tag.kind) {
    case 'vector':
      return 1 + typeTagSize(tag.element)
    case 'struct': {
      let size = 1
      for (const argument of tag.typeArguments) size += typeTagSize(argument)
      return size
    }
    case 'function':
      return [...tag.parameters, ...tag.results].reduce((sum, { type }) => sum + typeTagSize(type), 1)
    default:
      return 1
  }
}

/** Whether two tags name the same type, however their texts were written. */
export function typeTagsEqual(a: TypeTag, b: TypeTag): boolean {
  return typeTagToText(a) === typeTagToText(b)
}
