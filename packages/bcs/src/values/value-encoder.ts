import { ByteWriter, isLedgerStateError, type LedgerStateError, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { faultInside, faultWithPath } from '../bytes/value-path.js'
import { writeItems } from '../bytes/write-items.js'
import { type BcsErrorCode, invalidValue, unsupportedType } from '../errors.js'
import { compileLayout } from '../layout/compile-layout.js'
import { INTEGER_WIDTH, type Layout, type LayoutField } from '../layout/layout.js'
import { layoutDepth } from '../layout/layout-size.js'
import type { MoveMapEntry, MoveStruct, MoveValue, MoveVariant } from './move-value.js'
import { createValueDecoder } from './value-decoder.js'

type ValueWriter = (value: MoveValue | undefined, writer: ByteWriter) => void

/**
 * Compiles a layout into a function from a value, in the forms of `MoveValue`, to its BCS bytes.
 * @throws (the function) `invalid_value` with `fields.path`; `unsupported_type` for signers
 */
export function createValueEncoder(layout: Layout): (value: MoveValue) => Uint8Array {
  layoutDepth(layout)
  const write = compileLayout(layout, compilePart)
  return (value) => {
    const writer = new ByteWriter()
    try {
      write(value, writer)
    } catch (error) {
      throw faultWithPath(error)
    }
    return writer.toBytes()
  }
}

function mismatch(value: MoveValue | undefined, expected: string): LedgerStateError<BcsErrorCode> {
  return invalidValue.valueMismatch(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value, expected)
}

type CompileInner = (part: Layout) => ValueWriter

function compilePart(layout: Layout, inner: CompileInner): ValueWriter {
  switch (layout.kind) {
    case 'bool':
      return (value, writer) => {
        if (typeof value !== 'boolean') throw mismatch(value, 'a boolean')
        writer.bool(value)
      }
    case 'address':
    case 'object':
      return (value, writer) => writer.bytes(toAddress(value))
    case 'string':
      return (value, writer) => {
        if (value instanceof Uint8Array) writer.byteString(value)
        else if (typeof value === 'string' && value.isWellFormed()) writer.string(value)
        else throw mismatch(value, 'a well-formed string, or its bytes')
      }
    case 'vector':
      return layout.element.kind === 'u8' ? writeBytes : listWriter(inner(layout.element), Number.POSITIVE_INFINITY)
    case 'option':
      return listWriter(inner(layout.element), 1)
    case 'map':
      return mapWriter(inner(layout.key), inner(layout.value))
    case 'struct':
      return structWriter(layout.fields, inner)
    case 'enum':
      return enumWriter(layout, inner)
    case 'function':
      return writeClosure
    case 'signer':
      throw unsupportedType('a signer has no stored values')
    default:
      return integerWriter(layout.kind)
  }
}

function toAddress(value: MoveValue | undefined): Uint8Array {
  if (typeof value !== 'string') throw mismatch(value, 'an address such as "0x1"')
  try {
    return parseAddress(value)
  } catch (error) {
    throw isLedgerStateError(error) ? invalidValue.because(error.message) : error
  }
}

function writeBytes(value: MoveValue | undefined, writer: ByteWriter): void {
  if (!(value instanceof Uint8Array)) throw mismatch(value, 'a Uint8Array')
  writer.byteString(value)
}

function integerWriter(kind: string): ValueWriter {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  const bits = BigInt(width * 8)
  const least = signed ? -(2n ** (bits - 1n)) : 0n
  const most = signed ? 2n ** (bits - 1n) - 1n : 2n ** bits - 1n
  const wide = width >= 8
  return (value, writer) => {
    const fits = wide ? typeof value === 'bigint' : Number.isInteger(value)
    if (!fits) throw mismatch(value, wide ? `a bigint (${kind})` : `a whole number (${kind})`)
    const integer = BigInt(value as bigint | number)
    if (integer < least || integer > most) throw invalidValue.integerOutOfRange(String(integer), kind)
    writer.integer(integer, width)
  }
}

function listWriter(write: ValueWriter, most: number): ValueWriter {
  return (value, writer) => {
    if (!Array.isArray(value)) throw mismatch(value, 'an array')
    const items = value as readonly MoveValue[]
    if (items.length > most) throw invalidValue.tooManyInOption(items.length)
    writeItems(items, write, writer)
  }
}

/** Makes a writer of maps. Entries may come in any order; a key that comes twice is refused. */
function mapWriter(writeKey: ValueWriter, writeValue: ValueWriter): ValueWriter {
  return (value, writer) => {
    if (!Array.isArray(value)) throw mismatch(value, 'an array of [key, value]')
    const entries = (value as readonly MoveMapEntry[]).map((entry, at) => {
      try {
        if (!Array.isArray(entry) || entry.length !== 2) throw mismatch(entry as MoveValue, 'a pair [key, value]')
        const key = new ByteWriter()
        writeKey(entry[0], key)
        const item = new ByteWriter()
        writeValue(entry[1], item)
        return { key: key.toBytes(), item: item.toBytes() }
      } catch (error) {
        throw faultInside(`[${at}]`, error)
      }
    })
    entries.sort((a, b) => compareBytes(a.key, b.key))
    writer.uleb128(entries.length)
    for (const [at, { key, item }] of entries.entries()) {
      if (at > 0 && compareBytes(entries[at - 1]!.key, key) === 0) {
        throw invalidValue.because('the map holds a key twice')
      }
      writer.bytes(key).bytes(item)
    }
  }
}

function structWriter(fields: readonly LayoutField[], inner: CompileInner): ValueWriter {
  const writers = fields.map((field) => inner(field.layout))
  return (value, writer) => {
    if (!isObject(value)) throw mismatch(value, 'an object with the fields of a struct')
    for (let at = 0; at < fields.length; at++) {
      const { name } = fields[at]!
      try {
        writers[at]!(Object.hasOwn(value, name) ? value[name] : undefined, writer)
      } catch (error) {
        throw faultInside(name, error)
      }
    }
  }
}

function enumWriter({ variants }: Layout & { kind: 'enum' }, inner: CompileInner): ValueWriter {
  const indexOf = new Map(variants.map(({ name }, index) => [name, index]))
  const writers = variants.map(({ fields }) => structWriter(fields, inner))
  return (value, writer) => {
    if (!isObject(value)) throw mismatch(value, '{ variant, fields }')
    const { variant, fields } = value as unknown as MoveVariant
    const index = indexOf.get(variant)
    if (index === undefined) throw invalidValue.unknownVariant(String(variant), [...indexOf.keys()])
    writer.uleb128(index)
    writers[index]!(fields, writer)
  }
}

const decodeClosure = createValueDecoder({ kind: 'function' })

function writeClosure(value: MoveValue | undefined, writer: ByteWriter): void {
  if (!isObject(value) || !(value.bytes instanceof Uint8Array)) throw mismatch(value, 'a function value with its bytes')
  try {
    decodeClosure(value.bytes)
  } catch (error) {
    throw isLedgerStateError(error, 'invalid_bcs') ? invalidValue.because(error.message) : error
  }
  writer.bytes(value.bytes)
}

function isObject(value: MoveValue | undefined): value is MoveStruct {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}
