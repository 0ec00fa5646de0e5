import { ByteWriter, clip, hexToBytes, LedgerStateError, parseAddress } from '@ledger-state/core'
import { isJsonObject, JsonNumber, type JsonObject, type JsonValue, jsonTypeName } from './json-value.js'
import { INTEGER_WIDTH, type Layout, type LayoutField, type LayoutVariant, MAX_LAYOUT_DEPTH } from './layout.js'
import { faultInside, faultWithPath } from './value-path.js'

// One value is written at a time, start to end, so that all encoders share one buffer.
const WRITER = new ByteWriter()

type Encoder = (value: JsonValue | undefined, writer: ByteWriter) => void

/**
 * Compiles a layout into a function from a JSON value, in the forms in which clients write keys, to BCS bytes.
 * Accepted beside the one form of the reference: wide integers as numbers, an `Object` as a plain address, enums in
 * the form in which values are printed (`__variant__`), and both forms of `Option<u8>`.
 * @throws (the function) `invalid_value` with `fields.path`; `unsupported_type` for signers and function values
 */
export function createJsonEncoder(layout: Layout): (value: JsonValue) => Uint8Array {
  const encode = compileEncoder(layout, 0)
  return (value) => {
    WRITER.reset()
    try {
      encode(value, WRITER)
    } catch (error) {
      throw faultWithPath(error)
    }
    return WRITER.toBytes()
  }
}

function invalidValue(why: string): LedgerStateError {
  return new LedgerStateError('invalid_value', why)
}

function mismatch(value: JsonValue | undefined, expected: string): LedgerStateError {
  const found = typeof value === 'string' ? `string ${JSON.stringify(clip(value))}` : jsonTypeName(value)
  return invalidValue(`invalid type: ${found}, expected ${expected}`)
}

function compileEncoder(layout: Layout, depth: number): Encoder {
  if (depth > MAX_LAYOUT_DEPTH) {
    throw new LedgerStateError('type_too_large', `the type is nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
  }
  switch (layout.kind) {
    case 'bool':
      return (value, writer) => {
        if (typeof value !== 'boolean') throw mismatch(value, 'a boolean')
        writer.bool(value)
      }
    case 'address':
      return (value, writer) => writer.bytes(jsonToAddress(value, 'an address such as "0x1"'))
    case 'object':
      return (value, writer) => {
        const address = isJsonObject(value) ? value.get('inner') : value
        writer.bytes(jsonToAddress(address, 'an object address such as "0x1" or {"inner":"0x1"}'))
      }
    case 'string':
      return (value, writer) => {
        if (typeof value !== 'string') throw mismatch(value, 'a string')
        writer.string(value)
      }
    case 'vector':
      if (layout.element.kind === 'u8') return (value, writer) => writer.byteString(jsonToBytes(value))
      return sequenceEncoder(compileEncoder(layout.element, depth + 1))
    case 'option':
      return optionEncoder(layout.element.kind === 'u8', compileEncoder(layout.element, depth + 1))
    case 'struct':
      return structEncoder(layout.fields, depth)
    case 'enum':
      return enumEncoder(layout.variants, depth)
    case 'map':
      throw new LedgerStateError(
        'unsupported_type',
        'BCS maps are not written from JSON: Move has no type of that form',
      )
    case 'signer':
      throw new LedgerStateError('unsupported_type', 'Type layouts cannot contain signer')
    case 'function':
      throw new LedgerStateError('unsupported_type', 'function values cannot be written in JSON')
    default:
      return integerEncoder(layout.kind)
  }
}

function jsonToAddress(value: JsonValue | undefined, expected: string): Uint8Array {
  if (typeof value !== 'string') throw mismatch(value, expected)
  try {
    return parseAddress(value)
  } catch (error) {
    throw invalidValue((error as Error).message)
  }
}

function jsonToBytes(value: JsonValue | undefined): Uint8Array {
  if (typeof value !== 'string') throw mismatch(value, 'hex text such as "0x0102"')
  try {
    return hexToBytes(value)
  } catch (error) {
    throw invalidValue((error as Error).message)
  }
}

/** Narrow integers are numbers, wide ones decimal strings or, here, whole numbers with every digit. */
function integerEncoder(kind: string): Encoder {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  const wide = width >= 8
  const bits = BigInt(width * 8 - (signed ? 1 : 0))
  const least = signed ? -(2n ** bits) : 0n
  const most = 2n ** bits - 1n
  const expected = wide ? `a decimal string or a whole number (${kind})` : `a whole number (${kind})`
  return (value, writer) => {
    if (!(value instanceof JsonNumber) && !(wide && typeof value === 'string')) throw mismatch(value, expected)
    const text = value instanceof JsonNumber ? value.text : value
    const small = parseSmallDecimal(text)
    if (small >= 0 && (wide || small <= most)) {
      writer.unsigned(small, width)
      return
    }
    const integer = parseDecimal(text)
    if (integer === undefined) throw invalidValue(`${JSON.stringify(clip(text))} is not ${expected}`)
    if (integer < least || integer > most) throw invalidValue(`${clip(text)} does not fit in ${kind}`)
    writer.integer(integer, width)
  }
}

/** A number of at most 15 plain digits, which is exact; -1 for all other text. */
function parseSmallDecimal(text: string): number {
  const { length } = text
  if (length === 0 || length > 15) return -1
  let value = 0
  for (let at = 0; at < length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** A decimal integer with an optional sign; so long a number that no type holds it comes back as its first digits. */
function parseDecimal(text: string): bigint | undefined {
  const first = text.charCodeAt(0)
  let start = first === 0x2b || first === 0x2d ? 1 : 0
  if (start === text.length) return undefined
  for (let at = start; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return undefined
  }
  while (text.charCodeAt(start) === 0x30 && start < text.length - 1) start++
  const magnitude = BigInt(text.slice(start, start + 80))
  return first === 0x2d ? -magnitude : magnitude
}

function sequenceEncoder(encode: Encoder): Encoder {
  return (value, writer) => {
    if (!Array.isArray(value)) throw mismatch(value, 'an array')
    encodeItems(value, encode, writer)
  }
}

function encodeItems(items: readonly JsonValue[], encode: Encoder, writer: ByteWriter): void {
  writer.uleb128(items.length)
  for (let at = 0; at < items.length; at++) {
    try {
      encode(items[at], writer)
    } catch (error) {
      throw faultInside(`[${at}]`, error)
    }
  }
}

function optionEncoder(ofU8: boolean, encode: Encoder): Encoder {
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, '{"vec":[]} or {"vec":[…]}')
    if (value.get('vec') === undefined) throw invalidValue('field vec not found')
    const list = value.get('vec')
    try {
      const items = ofU8 && typeof list === 'string' ? jsonToBytes(list) : list
      if (items instanceof Uint8Array) {
        expectAtMostOne(items.length)
        writer.byteString(items)
      } else {
        if (!Array.isArray(items)) throw mismatch(list, 'an array of at most one element')
        expectAtMostOne(items.length)
        encodeItems(items, encode, writer)
      }
    } catch (error) {
      throw faultInside('vec', error)
    }
  }
}

function expectAtMostOne(count: number): void {
  if (count > 1) throw invalidValue(`${count} elements, an Option holds at most one`)
}

function structEncoder(fields: readonly LayoutField[], depth: number): Encoder {
  const encodeFields = fieldsEncoder(fields, depth)
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, 'a map of the fields of a struct')
    encodeFields(value, writer)
  }
}

function fieldsEncoder(
  fields: readonly LayoutField[],
  depth: number,
): (members: JsonObject, writer: ByteWriter) => void {
  const encoders = fields.map((field) => compileEncoder(field.layout, depth + 1))
  return (members, writer) => {
    for (let at = 0; at < fields.length; at++) {
      const { name } = fields[at]!
      const member = members.get(name)
      if (member === undefined) throw invalidValue(`field ${name} not found`)
      try {
        encoders[at]!(member, writer)
      } catch (error) {
        throw faultInside(name, error)
      }
    }
  }
}

/** Member that names the variant in the form in which enum values are printed. */
const VARIANT_MEMBER = '__variant__'

function enumEncoder(variants: readonly LayoutVariant[], depth: number): Encoder {
  const indexOf = new Map(variants.map((variant, index) => [variant.name, index]))
  const encoders = variants.map((variant) => fieldsEncoder(variant.fields, depth))
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, 'a map such as {"Variant":{…}}')
    const printed = value.get(VARIANT_MEMBER)
    const printedForm = typeof printed === 'string'
    if (!printedForm && value.size !== 1) throw invalidValue('Enum value must have exactly one variant specified')
    const name = printedForm ? printed : value.names()[0]!
    const members = printedForm ? value : value.get(name)

    const index = indexOf.get(name)
    if (index === undefined) {
      const known = variants.map((variant) => variant.name).join(', ')
      throw invalidValue(`Variant ${clip(name)} not found, expected one of ${known}`)
    }
    const inVariant = (error: unknown) => (printedForm ? error : faultInside(name, error))
    if (!isJsonObject(members)) throw inVariant(mismatch(members, 'a map of the fields of the variant'))
    const { fields } = variants[index]!
    const isKnown = (member: string) =>
      (printedForm && member === VARIANT_MEMBER) || fields.some((field) => field.name === member)
    const unknown = members.names().find((member) => !isKnown(member))
    if (unknown !== undefined) throw inVariant(invalidValue(`Unknown field ${JSON.stringify(clip(unknown))}`))
    writer.uleb128(index)
    try {
      encoders[index]!(members, writer)
    } catch (error) {
      throw inVariant(error)
    }
  }
}
