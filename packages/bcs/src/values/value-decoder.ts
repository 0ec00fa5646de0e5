import { ADDRESS_LENGTH, AscendingKeys, addressToShortHex, ByteReader } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { CapturedBudget, readCapturedLayout, readClosureHead } from '../bytes/closure.js'
import { readElementCount, readOptionCount, readVariantIndex } from '../bytes/read-value.js'
import { faultInside, faultWithPath } from '../bytes/value-path.js'
import { compileLayout } from '../layout/compile-layout.js'
import { INTEGER_WIDTH, type Layout, type LayoutField } from '../layout/layout.js'
import { layoutDepth } from '../layout/layout-size.js'
import type { MoveMapEntry, MoveStruct, MoveValue } from './move-value.js'

type ReadValue = (reader: ByteReader) => MoveValue

interface CompiledReader {
  readonly read: ReadValue
  readonly minimumSize: number
}

/**
 * Compiles a layout into a function from exactly the bytes of one value to that value.
 * @throws (the function) `invalid_bcs` with `fields.path` and `fields.offset`
 */
export function createValueDecoder(layout: Layout): (bytes: Uint8Array) => MoveValue {
  const captured = new CapturedBudget()
  const read = compileReader(layout, 0, captured)
  return (bytes) => {
    const reader = new ByteReader(bytes)
    captured.reset()
    try {
      const value = read(reader)
      reader.expectEnd()
      return value
    } catch (error) {
      throw faultWithPath(error)
    }
  }
}

/** Compiles a reader. `around` is the number of layouts around the value: function values bring further layouts. */
function compileReader(layout: Layout, around: number, captured: CapturedBudget): ReadValue {
  const depth = layoutDepth(layout, around)
  return compileLayout<CompiledReader>(layout, (part, inner) => compilePart(part, inner, captured, depth)).read
}

type CompileInner = (part: Layout) => CompiledReader

function compilePart(layout: Layout, inner: CompileInner, captured: CapturedBudget, depth: number): CompiledReader {
  switch (layout.kind) {
    case 'bool':
      return { minimumSize: 1, read: (reader) => reader.readBool() }
    case 'address':
    case 'object':
      return { minimumSize: ADDRESS_LENGTH, read: (reader) => addressToShortHex(reader.readBytes(ADDRESS_LENGTH)) }
    case 'string':
      return { minimumSize: 1, read: readText }
    case 'vector':
      if (layout.element.kind === 'u8')
        return { minimumSize: 1, read: (reader) => Uint8Array.from(reader.readByteString()) }
      return { minimumSize: 1, read: listReader(inner(layout.element)) }
    case 'option': {
      const { read } = inner(layout.element)
      return { minimumSize: 1, read: (reader) => (readOptionCount(reader) === 0 ? [] : [read(reader)]) }
    }
    case 'map':
      return { minimumSize: 1, read: mapReader(inner(layout.key), inner(layout.value)) }
    case 'struct':
      return structReader(layout.fields, inner)
    case 'enum': {
      const variants = layout.variants.map(({ name, fields }) => ({ name, read: structReader(fields, inner).read }))
      return {
        minimumSize: 1,
        read: (reader) => {
          const { name, read } = variants[readVariantIndex(reader, layout)]!
          return { variant: name, fields: read(reader) as MoveStruct }
        },
      }
    }
    case 'function':
      return { minimumSize: 1, read: (reader) => readClosure(reader, depth + 1, captured) }
    case 'signer':
      return {
        minimumSize: 1,
        read: (reader) => {
          throw reader.fault('cannot deserialize signer')
        },
      }
    default:
      return integerReader(layout.kind)
  }
}

function integerReader(kind: string): CompiledReader {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  const bits = width * 8
  if (width >= 8) {
    const read = (reader: ByteReader) => {
      const value = reader.readWideInteger(width)
      return signed ? BigInt.asIntN(bits, value) : value
    }
    return { minimumSize: width, read }
  }
  const shift = 32 - bits
  const readUnsigned = (reader: ByteReader) =>
    width === 1 ? reader.readU8() : width === 2 ? reader.readU16() : reader.readU32()
  return { minimumSize: width, read: signed ? (reader) => (readUnsigned(reader) << shift) >> shift : readUnsigned }
}

function readText(reader: ByteReader): MoveValue {
  const bytes = reader.readByteString()
  return decodeUtf8(bytes) ?? Uint8Array.from(bytes)
}

function listReader({ read, minimumSize }: CompiledReader): ReadValue {
  return (reader) => {
    const count = readElementCount(reader, minimumSize)
    const items: MoveValue[] = []
    try {
      while (items.length < count) items.push(read(reader))
    } catch (error) {
      throw faultInside(`[${items.length}]`, error)
    }
    return items
  }
}

function mapReader(key: CompiledReader, value: CompiledReader): ReadValue {
  return (reader) => {
    const count = readElementCount(reader, key.minimumSize + value.minimumSize)
    const entries: MoveMapEntry[] = []
    const keys = new AscendingKeys(reader)
    try {
      while (entries.length < count) {
        const start = reader.offset
        const entryKey = key.read(reader)
        keys.expectNext(start)
        entries.push([entryKey, value.read(reader)])
      }
    } catch (error) {
      throw faultInside(`[${entries.length}]`, error)
    }
    return entries
  }
}

function structReader(fields: readonly LayoutField[], inner: CompileInner): CompiledReader {
  const readers = fields.map((field) => inner(field.layout))
  return {
    minimumSize: readers.reduce((sum, { minimumSize }) => sum + minimumSize, 0),
    read: (reader) => {
      // A field may have any identifier as its name, also `__proto__`.
      const value: Record<string, MoveValue> = Object.create(null)
      let at = 0
      try {
        for (; at < fields.length; at++) value[fields[at]!.name] = readers[at]!.read(reader)
      } catch (error) {
        throw faultInside(fields[at]!.name, error)
      }
      return value
    },
  }
}

function readClosure(reader: ByteReader, around: number, captured: CapturedBudget): MoveValue {
  const start = reader.offset
  const { functionName, capturedCount } = readClosureHead(reader)
  for (let at = 0; at < capturedCount; at++)
    compileReader(readCapturedLayout(reader, captured, around), around, captured)(reader)
  return { functionName, bytes: Uint8Array.from(reader.bytes.subarray(start, reader.offset)) }
}
