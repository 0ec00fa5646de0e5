import { ByteWriter, isLedgerStateError, LedgerStateError, parseAddress } from '@ledger-state/core'
import { INTEGER_WIDTH, type Layout, type LayoutField, MAX_LAYOUT_DEPTH } from './layout.js'
import type { MoveMapEntry, MoveStruct, MoveValue, MoveVariant } from './move-value.js'
import { createValueDecoder } from './value-decoder.js'
import { faultInside, faultWithPath } from './value-path.js'

type ValueWriter = (value: MoveValue | undefined, writer: ByteWriter) => void

/**
 * Compiles a layout into a function from a value, in the forms of `MoveValue`, to its BCS bytes.
 * @throws (the function) `invalid_value` with `fields.path`; `unsupported_type` for signers
 */
export function createValueEncoder(layout: Layout): (value: MoveValue) => Uint8Array {
  const write = compileWriter(layout, 0)
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

function mismatch(value: MoveValue | undefined, expected: string): LedgerStateError {
  const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `${typeof value}`
  return new LedgerStateError('invalid_value', `found ${found}, expected ${expected}`)
}

function compileWriter(layout: Layout, depth: number): ValueWriter {
  if (depth > MAX_LAYOUT_DEPTH) {
    throw new LedgerStateError('type_too_large', `the type is nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
  }
  const inner = (part: Layout) => compileWriter(part, depth + 1)
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
      return structWriter(layout.fields, depth)
    case 'enum':
      return enumWriter(layout, depth)
    case 'function':
      return writeClosure
    case 'signer':
      throw new LedgerStateError('unsupported_type', 'a signer has no stored values')
    default:
      return integerWriter(layout.kind)
  }
}

function toAddress(value: MoveValue | undefined): Uint8Array {
  if (typeof value !== 'string') throw mismatch(value, 'an address such as "0x1"')
  try {
    return parseAddress(value)
  } catch (error) {
    throw new LedgerStateError('invalid_value', (error as Error).message)
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
    const fits = wide ? typeof value === 'bigint' : typeof value === 'number' && Number.isInteger(value)
    if (!fits) throw mismatch(value, wide ? `a bigint (${kind})` : `a whole number (${kind})`)
    const integer = BigInt(value as bigint | number)
    if (integer < least || integer > most)
      throw new LedgerStateError('invalid_value', `${integer} does not fit in ${kind}`)
    writer.integer(integer, width)
  }
}

function listWriter(write: ValueWriter, most: number): ValueWriter {
  return (value, writer) => {
    if (!Array.isArray(value)) throw mismatch(value, 'an array')
    const items = value as readonly MoveValue[]
    if (items.length > most)
      throw new LedgerStateError('invalid_value', `${items.length} elements, an Option holds at most one`)
    writer.uleb128(items.length)
    for (let at = 0; at < items.length; at++) {
      try {
        write(items[at], writer)
      } catch (error) {
        throw faultInside(`[${at}]`, error)
      }
    }
  }
}

/** Entries may come in any order; a key that comes twice is refused. */
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
    entries.sort((a, b) => Buffer.compare(a.key, b.key))
    writer.uleb128(entries.length)
    for (const [at, { key, item }] of entries.entries()) {
      if (at > 0 && Buffer.compare(entries[at - 1]!.key, key) === 0) {
        throw new LedgerStateError('invalid_value', 'the map holds a key twice')
      }
      writer.bytes(key).bytes(item)
    }
  }
}

function structWriter(fields: readonly LayoutField[], depth: number): ValueWriter {
  const writers = fields.map((field) => compileWriter(field.layout, depth + 1))
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

function enumWriter({ variants }: Layout & { kind: 'enum' }, depth: number): ValueWriter {
  const indexOf = new Map(variants.map(({ name }, index) => [name, index]))
  const writers = variants.map(({ fields }) => structWriter(fields, depth))
  return (value, writer) => {
    if (!isObject(value)) throw mismatch(value, '{ variant, fields }')
    const { variant, fields } = value as unknown as MoveVariant
    const index = indexOf.get(variant)
    if (index === undefined) throw new LedgerStateError('invalid_value', `unknown variant ${String(variant)}`)
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
    if (isLedgerStateError(error, 'invalid_bcs')) throw new LedgerStateError('invalid_value', error.message)
    throw error
  }
  writer.bytes(value.bytes)
}

function isObject(value: MoveValue | undefined): value is MoveStruct {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}
