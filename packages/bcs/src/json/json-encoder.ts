import { ByteWriter, isLedgerStateError, type LedgerStateError, quote } from '@ledger-state/core'
import { faultInside, faultWithPath } from '../bytes/value-path.js'
import { writeItems } from '../bytes/write-items.js'
import { type BcsErrorCode, invalidValue, unsupportedType } from '../errors.js'
import { compileLayout } from '../layout/compile-layout.js'
import { INTEGER_WIDTH, type Layout, type LayoutField, type LayoutVariant } from '../layout/layout.js'
import { type LayoutTraits, layoutTraits, type UnwritableKind } from '../layout/layout-size.js'
import { parseDigits, SMALL_DIGITS, writeLargeU64 } from './decimal-digits.js'
import { isJsonObject, JsonNumber, type JsonObject, type JsonValue, jsonTypeName } from './json-value.js'

// Encoding never waits and never calls code of others, so one value is written at a time, and all encoders share one
// buffer, as all decoders do (`json-decoder.ts`).
const WRITER = new ByteWriter()

type Encoder = (value: JsonValue | undefined, writer: ByteWriter) => void

/**
 * Compiles a layout into a function from a JSON value, in the forms in which clients write keys, to BCS bytes. Each
 * part is compiled when its first value is written: a key may be empty if its type is large. Accepted in addition to
 * the one form of the reference: wide integers as numbers, an `Object` as a plain address, enums in the form in which
 * values are printed (`__variant__`), and both forms of `Option<u8>`. `traits` are the traits of the layout, if the
 * caller knows them.
 * @throws `unsupported_type` if a part is a signer, a function value or a map; the function: `invalid_value` with
 * `fields.path`
 */
export function createJsonEncoder(
  layout: Layout,
  traits: LayoutTraits = layoutTraits(layout),
): (value: JsonValue) => Uint8Array {
  if (traits.unwritable !== undefined) throw unwritablePart(traits.unwritable)
  const encode = compileLayout(layout, compilePart)
  return (value) => {
    WRITER.reset()
    try {
      encode(value, WRITER)
    } catch (error) {
      throw faultWithPath(error)
    }
    return WRITER.toPooledBytes()
  }
}

function mismatch(value: JsonValue | undefined, expected: string): LedgerStateError<BcsErrorCode> {
  return invalidValue.valueMismatch(
    typeof value === 'string' ? `string ${quote(value)}` : jsonTypeName(value),
    expected,
  )
}

type CompileInner = (part: Layout) => Encoder

function compilePart(layout: Layout, inner: CompileInner): Encoder {
  switch (layout.kind) {
    case 'bool':
      return (value, writer) => {
        if (typeof value !== 'boolean') throw mismatch(value, 'a boolean')
        writer.bool(value)
      }
    case 'address':
      return (value, writer) => writeAddress(value, writer, 'an address such as "0x1"')
    case 'object':
      return (value, writer) => {
        const address = isJsonObject(value) ? value.get('inner') : value
        writeAddress(address, writer, 'an object address such as "0x1" or {"inner":"0x1"}')
      }
    case 'string':
      return (value, writer) => {
        if (typeof value !== 'string') throw mismatch(value, 'a string')
        writer.string(value)
      }
    case 'vector':
      if (layout.element.kind === 'u8') return writeHex
      return sequenceEncoder(layout.element, inner)
    case 'option':
      return optionEncoder(layout.element, inner)
    case 'struct':
      return structEncoder(layout.fields, inner)
    case 'enum':
      return enumEncoder(layout.variants, inner)
    case 'map':
    case 'signer':
    case 'function':
      throw unwritablePart(layout.kind)
    default:
      return integerEncoder(layout.kind)
  }
}

function unwritablePart(kind: UnwritableKind): LedgerStateError<BcsErrorCode> {
  switch (kind) {
    case 'map':
      return unsupportedType('BCS maps are not written from JSON: Move has no type of that form')
    case 'signer':
      return unsupportedType('Type layouts cannot contain signer')
    case 'function':
      return unsupportedType('function values cannot be written in JSON')
  }
}

function writeAddress(value: JsonValue | undefined, writer: ByteWriter, expected: string): void {
  if (typeof value !== 'string') throw mismatch(value, expected)
  try {
    writer.address(value)
  } catch (error) {
    throw asInvalidValue(error)
  }
}

function writeHex(value: JsonValue | undefined, writer: ByteWriter): void {
  if (typeof value !== 'string') throw mismatch(value, 'hex text such as "0x0102"')
  try {
    writer.hexString(value)
  } catch (error) {
    throw asInvalidValue(error)
  }
}

function asInvalidValue(error: unknown): unknown {
  return isLedgerStateError(error) ? invalidValue.because(error.message) : error
}

/**
 * Makes an encoder of integers. Narrow ones are numbers; wide ones are decimal strings or whole numbers with every
 * digit.
 */
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
    const small = text.length > SMALL_DIGITS ? -1 : parseDigits(text, 0, text.length)
    if (small >= 0 && (wide || small <= most)) {
      writer.unsigned(small, width)
      return
    }
    if (kind === 'u64' && writeLargeU64(text, 0, text.length, writer)) return
    const integer = parseDecimal(text)
    if (integer === undefined) throw invalidValue.because(`${quote(text)} is not ${expected}`)
    // An unsigned integer has no minus sign, not even zero.
    const fits = integer >= least && integer <= most && (signed || !text.startsWith('-'))
    if (!fits) throw invalidValue.integerOutOfRange(text, kind)
    writer.integer(integer, width)
  }
}

/**
 * Parses a decimal integer with an optional sign. If it has more than 80 digits, which no type holds, only the first 80
 * count.
 */
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

const writeNothing: Encoder = () => {}

function sequenceEncoder(element: Layout, inner: CompileInner): Encoder {
  let encode: Encoder | undefined
  return (value, writer) => {
    if (!Array.isArray(value)) throw mismatch(value, 'an array')
    if (value.length > 0) encode ??= inner(element)
    writeItems<JsonValue>(value, encode ?? writeNothing, writer)
  }
}

function optionEncoder(element: Layout, inner: CompileInner): Encoder {
  const ofU8 = element.kind === 'u8'
  const encode = sequenceEncoder(element, inner)
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, '{"vec":[]} or {"vec":[…]}')
    if (value.get('vec') === undefined) throw invalidValue.fieldNotFound('vec')
    const list = value.get('vec')
    try {
      if (ofU8 && typeof list === 'string') {
        const digits = list.length - (list.startsWith('0x') ? 2 : 0)
        if (digits > 2) throw invalidValue.tooManyInOption(Math.ceil(digits / 2))
        writeHex(list, writer)
      } else {
        if (!Array.isArray(list)) throw mismatch(list, 'an array of at most one element')
        if (list.length > 1) throw invalidValue.tooManyInOption(list.length)
        encode(list, writer)
      }
    } catch (error) {
      throw faultInside('vec', error)
    }
  }
}

function structEncoder(fields: readonly LayoutField[], inner: CompileInner): Encoder {
  const encodeFields = fieldsEncoder(fields, inner)
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, 'a map of the fields of a struct')
    encodeFields(value, writer)
  }
}

function fieldsEncoder(
  fields: readonly LayoutField[],
  inner: CompileInner,
): (members: JsonObject, writer: ByteWriter) => void {
  const encoders = new Array<Encoder | undefined>(fields.length)
  return (members, writer) => {
    // Members mostly come in the order of the fields.
    let expected = members.first
    for (let at = 0; at < fields.length; at++) {
      const { name, layout } = fields[at]!
      const member = expected?.name === name ? expected : members.member(name)
      if (member === undefined) throw invalidValue.fieldNotFound(name)
      expected = member.next
      try {
        const encode = encoders[at] ?? inner(layout)
        encoders[at] = encode
        encode(member.value, writer)
      } catch (error) {
        throw faultInside(name, error)
      }
    }
  }
}

/** Member with the name of the variant, in the JSON of enums. */
const VARIANT_MEMBER = '__variant__'

function enumEncoder(variants: readonly LayoutVariant[], inner: CompileInner): Encoder {
  const indexOf = new Map(variants.map((variant, index) => [variant.name, index]))
  const encoders = variants.map((variant) => fieldsEncoder(variant.fields, inner))
  const fieldNames = new Array<ReadonlySet<string> | undefined>(variants.length)
  return (value, writer) => {
    if (!isJsonObject(value)) throw mismatch(value, 'a map such as {"Variant":{…}}')
    const printed = value.get(VARIANT_MEMBER)
    const printedForm = typeof printed === 'string'
    if (!printedForm && value.size !== 1)
      throw invalidValue.because('Enum value must have exactly one variant specified')
    const name = printedForm ? printed : value.names()[0]!
    const members = printedForm ? value : value.get(name)

    const index = indexOf.get(name)
    if (index === undefined) throw invalidValue.unknownVariant(name, [...indexOf.keys()])
    const inVariant = (error: unknown) => (printedForm ? error : faultInside(name, error))
    if (!isJsonObject(members)) throw inVariant(mismatch(members, 'a map of the fields of the variant'))
    fieldNames[index] ??= new Set(variants[index]!.fields.map((field) => field.name))
    const known = fieldNames[index]
    const isUnknown = (member: string) => !known.has(member) && !(printedForm && member === VARIANT_MEMBER)
    const unknown = members.names().find(isUnknown)
    if (unknown !== undefined) throw inVariant(invalidValue.unknownField(unknown))
    writer.uleb128(index)
    try {
      encoders[index]!(members, writer)
    } catch (error) {
      throw inVariant(error)
    }
  }
}
