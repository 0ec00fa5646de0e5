import { isUtf8 } from 'node:buffer'
import { ADDRESS_LENGTH, ByteReader, bytesToHex, hexDigitsToShortHex, LedgerStateError } from '@ledger-state/core'
import { INTEGER_WIDTH, type Layout, type LayoutField, MAX_LAYOUT_DEPTH } from './layout.js'
import { faultInside, faultWithPath } from './value-path.js'

/** UTF-16 units of JSON text that one value may give. */
export const MAX_JSON_TEXT_LENGTH = 100_000_000
/** Elements of a vector whose elements take no bytes, where the bytes left bound nothing. */
const MAX_ZERO_SIZED_ELEMENTS = 65_536

/** Reads one value and returns its JSON text. */
type Decoder = (reader: ByteReader) => string

interface CompiledDecoder {
  readonly decode: Decoder
  /** Least bytes that a value takes. */
  readonly minimumSize: number
}

/**
 * Compiles a layout into a function from exactly the bytes of one value to compact JSON text, byte for byte as the
 * reference prints it: members sorted by name, addresses without leading zeros, wide integers as decimal strings.
 * @throws (the function) `invalid_bcs` with `fields.path` and `fields.offset`; `type_too_large` above 100 MB of text
 */
export function createJsonDecoder(layout: Layout): (bytes: Uint8Array) => string {
  const { decode } = compileDecoder(layout, 0)
  return (bytes) => {
    const reader = new ByteReader(bytes)
    try {
      const text = decode(reader)
      reader.expectEnd()
      return text
    } catch (error) {
      throw faultWithPath(error)
    }
  }
}

const PRIMITIVE_DECODERS: Readonly<Record<string, CompiledDecoder>> = {
  bool: { minimumSize: 1, decode: (reader) => (reader.readBool() ? 'true' : 'false') },
  u8: { minimumSize: 1, decode: (reader) => String(reader.readU8()) },
  u16: { minimumSize: 2, decode: (reader) => String(reader.readU16()) },
  u32: { minimumSize: 4, decode: (reader) => String(reader.readU32()) },
  u64: { minimumSize: 8, decode: (reader) => `"${readU64Text(reader)}"` },
  i8: { minimumSize: 1, decode: (reader) => String((reader.readU8() << 24) >> 24) },
  i16: { minimumSize: 2, decode: (reader) => String((reader.readU16() << 16) >> 16) },
  i32: { minimumSize: 4, decode: (reader) => String(reader.readU32() | 0) },
  u128: wideIntegerDecoder('u128'),
  u256: wideIntegerDecoder('u256'),
  i64: wideIntegerDecoder('i64'),
  i128: wideIntegerDecoder('i128'),
  i256: wideIntegerDecoder('i256'),
  address: { minimumSize: ADDRESS_LENGTH, decode: (reader) => `"${readAddressText(reader)}"` },
  object: { minimumSize: ADDRESS_LENGTH, decode: (reader) => `{"inner":"${readAddressText(reader)}"}` },
  string: { minimumSize: 1, decode: readStringText },
  signer: {
    minimumSize: 1,
    decode: (reader) => {
      throw reader.fault('cannot deserialize signer')
    },
  },
  function: {
    minimumSize: 1,
    decode: (reader) => {
      throw reader.fault('function values are not decoded')
    },
  },
}

function compileDecoder(layout: Layout, depth: number): CompiledDecoder {
  if (depth > MAX_LAYOUT_DEPTH) {
    throw new LedgerStateError('type_too_large', `the type is nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
  }
  switch (layout.kind) {
    case 'vector':
      if (layout.element.kind === 'u8') return { minimumSize: 1, decode: readHexText }
      return { minimumSize: 1, decode: sequenceDecoder(compileDecoder(layout.element, depth + 1)) }
    case 'option':
      return compileOption(layout, depth)
    case 'struct':
      return compileFields(layout.fields, depth, undefined)
    case 'enum': {
      const variants = layout.variants.map((variant) => compileFields(variant.fields, depth, variant.name).decode)
      return {
        minimumSize: 1,
        decode: (reader) => {
          const start = reader.offset
          const index = reader.readUleb128()
          const decode = variants[index]
          if (decode) return decode(reader)
          throw reader.fault(`variant ${index} of ${layout.name}, which has ${variants.length}`, start)
        },
      }
    }
    default:
      return PRIMITIVE_DECODERS[layout.kind]!
  }
}

function compileOption(layout: Layout & { kind: 'option' }, depth: number): CompiledDecoder {
  const hexList = layout.declaredAs === 'struct' && layout.element.kind === 'u8'
  const { decode } = compileDecoder(layout.element, depth + 1)
  return {
    minimumSize: 1,
    decode: (reader) => {
      const start = reader.offset
      const count = reader.readUleb128()
      if (count > 1) throw reader.fault(`an Option of ${count} elements`, start)
      if (hexList) return count === 0 ? '{"vec":"0x"}' : `{"vec":"${bytesToHex(reader.readBytes(1))}"}`
      return count === 0 ? '{"vec":[]}' : `{"vec":[${decode(reader)}]}`
    },
  }
}

/** An object of the fields, sorted by name; of an enum with `__variant__` sorted in. */
function compileFields(
  fields: readonly LayoutField[],
  depth: number,
  variantName: string | undefined,
): CompiledDecoder {
  const decoders = fields.map((field) => compileDecoder(field.layout, depth + 1))
  const decode = decoders.map((decoder) => decoder.decode)
  const minimumSize = decoders.reduce((sum, decoder) => sum + decoder.minimumSize, variantName === undefined ? 0 : 1)

  const members = fields.map((field, index) => ({ name: field.name, index }))
  if (variantName !== undefined) members.push({ name: '__variant__', index: -1 })
  members.sort((a, b) => (a.name < b.name ? -1 : 1))

  // Text before each printed value; the variant's member is text alone.
  const order: number[] = []
  const before: string[] = []
  let text = '{'
  for (const [place, { name, index }] of members.entries()) {
    text += `${place === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (index < 0) {
      text += JSON.stringify(variantName)
    } else {
      order.push(index)
      before.push(text)
      text = ''
    }
  }
  const end = `${text}}`
  const count = fields.length
  const declaredInOrder = order.every((index, place) => index === place)

  return {
    minimumSize,
    decode: (reader) => {
      let at = 0
      try {
        if (declaredInOrder) {
          let printed = ''
          for (; at < count; at++) printed += before[at]! + decode[at]!(reader)
          return printed + end
        }
        const values = new Array<string>(count)
        for (; at < count; at++) values[at] = decode[at]!(reader)
        let printed = ''
        for (let place = 0; place < count; place++) printed += before[place]! + values[order[place]!]!
        return printed + end
      } catch (error) {
        throw at < count ? faultInside(fields[at]!.name, error) : error
      }
    },
  }
}

function sequenceDecoder({ decode, minimumSize }: CompiledDecoder): Decoder {
  return (reader) => {
    const start = reader.offset
    const count = reader.readLength()
    if (minimumSize === 0 ? count > MAX_ZERO_SIZED_ELEMENTS : count * minimumSize > reader.remaining) {
      throw reader.fault(`unexpected end of input: ${count} elements in ${reader.remaining} bytes`, start)
    }
    if (count === 0) return '[]'
    let at = 0
    try {
      let printed = `[${decode(reader)}`
      for (at = 1; at < count; at++) {
        printed += `,${decode(reader)}`
        if (printed.length > MAX_JSON_TEXT_LENGTH) {
          throw new LedgerStateError(
            'type_too_large',
            `the value prints to more than ${MAX_JSON_TEXT_LENGTH} characters`,
          )
        }
      }
      return `${printed}]`
    } catch (error) {
      throw faultInside(`[${at}]`, error)
    }
  }
}

/** Decimal digits; numbers below 2^53 are printed without a bigint, about 4 times as fast. */
function readU64Text(reader: ByteReader): string {
  const high = reader.bytes.length - reader.offset >= 8 ? highWord(reader) : 0x20_0000
  if (high >= 0x20_0000) return String(reader.readU64())
  return String(reader.readU32() + reader.readU32() * 0x1_0000_0000)
}

function highWord({ bytes, offset }: ByteReader): number {
  return (
    (bytes[offset + 4]! | (bytes[offset + 5]! << 8) | (bytes[offset + 6]! << 16) | (bytes[offset + 7]! << 24)) >>> 0
  )
}

function wideIntegerDecoder(kind: string): CompiledDecoder {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  return {
    minimumSize: width,
    decode: (reader) => {
      let value = 0n
      const at = reader.skip(width)
      for (let byte = width - 8; byte >= 0; byte -= 8) value = (value << 64n) | reader.bytes.readBigUInt64LE(at + byte)
      return `"${signed ? BigInt.asIntN(width * 8, value) : value}"`
    },
  }
}

function readAddressText(reader: ByteReader): string {
  const at = reader.skip(ADDRESS_LENGTH)
  return hexDigitsToShortHex(reader.bytes.toString('hex', at, at + ADDRESS_LENGTH))
}

function readHexText(reader: ByteReader): string {
  return `"${bytesToHex(reader.readByteString())}"`
}

function readStringText(reader: ByteReader): string {
  const bytes = reader.readByteString()
  return isUtf8(bytes) ? JSON.stringify(bytes.toString('utf8')) : `"Unparsable utf-8 ${bytesToHex(bytes)}"`
}
