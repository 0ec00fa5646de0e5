import { ADDRESS_LENGTH, AscendingKeys, ByteReader } from '@ledger-state/core'
import { typeTagToText } from '@ledger-state/type-tag'
import { CapturedBudget, readCapturedLayout, readClosureHead } from '../bytes/closure.js'
import { readElementCount, readOptionCount, readVariantIndex } from '../bytes/read-value.js'
import { faultInside, faultWithPath } from '../bytes/value-path.js'
import { compileLayout } from '../layout/compile-layout.js'
import { INTEGER_WIDTH, type Layout, type LayoutField } from '../layout/layout.js'
import { layoutDepth } from '../layout/layout-size.js'
import type { CompiledPrinter, JsonPrinter, MemberTexts } from './compiled-printer.js'
import { wholePrinter } from './flat-printer.js'
import { JsonTextWriter, MAX_JSON_TEXT_BYTES } from './json-text-writer.js'

export interface JsonDecoder {
  /** Prints a value as JSON. `bytes` must be exactly the bytes of the value. A text above `maxBytes` is refused. */
  toText(bytes: Uint8Array, maxBytes?: number): string
  /** Same as `toText`, as UTF-8 in a buffer that the caller owns. */
  toUtf8(bytes: Uint8Array, maxBytes?: number): Uint8Array
  /** Appends the JSON of a value, at most `maxBytes` of it. An error leaves the text as it was. */
  append(bytes: Uint8Array, out: JsonTextWriter, maxBytes: number): void
}

// Printing never waits and never calls code of others, so one value is printed at a time, and all decoders share one
// buffer. Nothing in it outlives a call. A buffer for each decoder would take 4 KiB for each layout that a ledger
// keeps, thousands of them; one for each ledger would be an argument of everything that makes a codec, and save
// nothing.
const OUT = new JsonTextWriter()

/**
 * Compiles a layout into functions from the bytes of a value to compact JSON, byte for byte as the reference prints it:
 * members sorted by name, addresses without leading zeros, wide integers as decimal strings. `depth` is the depth of
 * the layout, if the caller knows it.
 * @throws (the functions) `invalid_bcs` with `fields.path` and `fields.offset`; `type_too_large` above `maxBytes` of
 * text
 */
export function createJsonDecoder(layout: Layout, depth = layoutDepth(layout)): JsonDecoder {
  const context = createPrintContext()
  const print = compilePrinter(layout, depth, context)
  const append = (bytes: Uint8Array, out: JsonTextWriter, maxBytes: number): void => {
    const reader = new ByteReader(bytes)
    const start = out.length
    out.limit(maxBytes)
    context.captured.reset()
    try {
      print(reader, out)
      reader.expectEnd()
      out.expectFits()
    } catch (error) {
      out.length = start
      throw faultWithPath(error)
    } finally {
      out.limit()
    }
  }
  const printWhole = (bytes: Uint8Array, maxBytes: number): void => {
    OUT.reset()
    try {
      append(bytes, OUT, maxBytes)
    } catch (error) {
      OUT.reset()
      throw error
    }
  }
  return {
    toText(bytes, maxBytes = MAX_JSON_TEXT_BYTES) {
      printWhole(bytes, maxBytes)
      return OUT.takeText()
    },
    toUtf8(bytes, maxBytes = MAX_JSON_TEXT_BYTES) {
      printWhole(bytes, maxBytes)
      return OUT.takeBytes()
    },
    append,
  }
}

export const TEXT = {
  true: ascii('true'),
  false: ascii('false'),
  inner: ascii('{"inner":'),
  vec: ascii('{"vec":['),
  vecEnd: ascii(']}'),
  hexVec: ascii('{"vec":"'),
  hexVecEnd: ascii('"}'),
  key: ascii('{"key":'),
  value: ascii(',"value":'),
} as const
const QUOTE = 0x22
export const COMMA = 0x2c

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function fixed(minimumSize: number, print: JsonPrinter): CompiledPrinter {
  return { minimumSize, fixedSize: true, print }
}

function variable(print: JsonPrinter): CompiledPrinter {
  return { minimumSize: 1, fixedSize: false, print }
}

const PRIMITIVE_PRINTERS: Readonly<Record<string, CompiledPrinter>> = {
  bool: fixed(1, (reader, out) => out.raw(reader.readBool() ? TEXT.true : TEXT.false)),
  u8: fixed(1, (reader, out) => out.decimal(reader.readU8())),
  u16: fixed(2, (reader, out) => out.decimal(reader.readU16())),
  u32: fixed(4, (reader, out) => out.decimal(reader.readU32())),
  u64: fixed(8, printU64),
  i8: fixed(1, (reader, out) => out.signedDecimal((reader.readU8() << 24) >> 24)),
  i16: fixed(2, (reader, out) => out.signedDecimal((reader.readU16() << 16) >> 16)),
  i32: fixed(4, (reader, out) => out.signedDecimal(reader.readU32() | 0)),
  u128: wideIntegerPrinter('u128'),
  u256: wideIntegerPrinter('u256'),
  i64: wideIntegerPrinter('i64'),
  i128: wideIntegerPrinter('i128'),
  i256: wideIntegerPrinter('i256'),
  address: fixed(ADDRESS_LENGTH, (reader, out) => out.quotedAddress(reader.bytes, reader.skip(ADDRESS_LENGTH))),
  object: fixed(ADDRESS_LENGTH, (reader, out) => {
    out.raw(TEXT.inner)
    out.quotedAddress(reader.bytes, reader.skip(ADDRESS_LENGTH))
    out.byte(0x7d)
  }),
  string: variable((reader, out) => {
    const length = reader.readLength()
    const start = reader.skip(length)
    out.quotedText(reader.bytes, start, start + length)
  }),
  signer: variable((reader) => {
    throw reader.fault('cannot deserialize signer')
  }),
}

/**
 * Compiles a printer. `depth` is the depth of the layout, including the layouts around it: function values have layouts
 * of their own.
 */
function compilePrinter(layout: Layout, depth: number, context: PrintContext): JsonPrinter {
  return wholePrinter(compileLayout<CompiledPrinter>(layout, (part, inner) => compilePart(part, inner, context, depth)))
}

/** State that the printers of one decoder share. */
export interface PrintContext {
  readonly texts: TextTable
  readonly captured: CapturedBudget
}

export function createPrintContext(): PrintContext {
  return { texts: new TextTable(), captured: new CapturedBudget() }
}

/** Bytes of texts. Equal texts give the same bytes, so structs of the same form share them. */
class TextTable {
  readonly #bytes = new Map<string, Uint8Array>()

  bytesOf(text: string): Uint8Array {
    const known = this.#bytes.get(text)
    if (known !== undefined) return known
    const bytes = new TextEncoder().encode(text)
    this.#bytes.set(text, bytes)
    return bytes
  }
}

type CompileInner = (part: Layout) => CompiledPrinter

/** Compiles the printer of a layout from those of its parts. */
export function compilePart(
  layout: Layout,
  inner: CompileInner,
  context: PrintContext,
  depth: number,
): CompiledPrinter {
  switch (layout.kind) {
    case 'vector':
      return variable(layout.element.kind === 'u8' ? printHex : listPrinter(inner(layout.element)))
    case 'option':
      return variable(optionPrinter(layout, inner))
    case 'map':
      return variable(mapPrinter(inner(layout.key), inner(layout.value)))
    case 'struct':
      return compileFields(layout.fields, inner, context.texts, undefined)
    case 'enum': {
      const variants = layout.variants.map(
        (variant) => compileFields(variant.fields, inner, context.texts, variant.name).print,
      )
      return variable((reader, out) => variants[readVariantIndex(reader, layout)]!(reader, out))
    }
    case 'function':
      return variable((reader, out) => printClosure(reader, out, depth + 1, context))
    default:
      return PRIMITIVE_PRINTERS[layout.kind]!
  }
}

/**
 * Prints a function value as `{"__captured__":[…],"__fun_name__":…,"__mask__":…,"__ty_args__":[…]}`, without members
 * that would be empty. The mask is binary.
 */
function printClosure(reader: ByteReader, out: JsonTextWriter, around: number, outer: PrintContext): void {
  // The texts of captured layouts are not kept: a value could bring any number of them.
  const context: PrintContext = { ...outer, texts: new TextTable() }
  const { functionName, typeArguments, mask, capturedCount } = readClosureHead(reader)
  out.byte(0x7b)
  if (capturedCount > 0) {
    out.ascii('"__captured__":[')
    for (let at = 0; at < capturedCount; at++) {
      if (at > 0) out.byte(COMMA)
      try {
        const layout = readCapturedLayout(reader, context.captured, around)
        compilePrinter(layout, layoutDepth(layout, around), context)(reader, out)
      } catch (error) {
        throw faultInside(`__captured__[${at}]`, error)
      }
    }
    out.ascii('],')
  }
  out.ascii('"__fun_name__":')
  out.json(functionName)
  out.ascii(`,"__mask__":"${mask.toString(2)}"`)
  if (typeArguments.length > 0) {
    out.ascii(',"__ty_args__":')
    out.json(typeArguments.map(typeTagToText))
  }
  out.byte(0x7d)
}

function optionPrinter(layout: Layout & { kind: 'option' }, inner: CompileInner): JsonPrinter {
  const hexList = layout.declaredAs === 'struct' && layout.element.kind === 'u8'
  const print = wholePrinter(inner(layout.element))
  return (reader, out) => {
    const count = readOptionCount(reader)
    if (hexList) {
      out.raw(TEXT.hexVec)
      const start = reader.skip(count)
      out.hex(reader.bytes, start, start + count)
      out.raw(TEXT.hexVecEnd)
      return
    }
    out.raw(TEXT.vec)
    if (count === 1) print(reader, out)
    out.raw(TEXT.vecEnd)
  }
}

function listPrinter(element: CompiledPrinter): JsonPrinter {
  const { minimumSize } = element
  const print = wholePrinter(element)
  return (reader, out) => {
    const count = readElementCount(reader, minimumSize)
    out.byte(0x5b)
    let at = 0
    try {
      for (; at < count; at++) {
        if (at > 0) out.byte(COMMA)
        print(reader, out)
      }
    } catch (error) {
      throw faultInside(`[${at}]`, error)
    }
    out.byte(0x5d)
  }
}

/** Makes a printer of `[{"key":…,"value":…},…]`. Keys must be in ascending order of their bytes, each once. */
function mapPrinter(key: CompiledPrinter, value: CompiledPrinter): JsonPrinter {
  const minimumSize = key.minimumSize + value.minimumSize
  const printKey = wholePrinter(key)
  const printValue = wholePrinter(value)
  return (reader, out) => {
    const count = readElementCount(reader, minimumSize)
    out.byte(0x5b)
    const keys = new AscendingKeys(reader)
    let at = 0
    try {
      for (; at < count; at++) {
        if (at > 0) out.byte(COMMA)
        out.raw(TEXT.key)
        const start = reader.offset
        printKey(reader, out)
        keys.expectNext(start)
        out.raw(TEXT.value)
        printValue(reader, out)
        out.byte(0x7d)
      }
    } catch (error) {
      throw faultInside(`[${at}]`, error)
    }
    out.byte(0x5d)
  }
}

/**
 * Makes a printer of an object with the fields sorted by name. For a variant of an enum, `__variant__` is sorted in.
 */
function compileFields(
  fields: readonly LayoutField[],
  inner: CompileInner,
  texts: TextTable,
  variantName: string | undefined,
): CompiledPrinter {
  const compiled = fields.map((field) => inner(field.layout))
  const minimumSize = compiled.reduce((sum, one) => sum + one.minimumSize, 0)
  const fixedSize = compiled.every((one) => one.fixedSize)
  // Structs in a struct of fixed size are printed with it.
  const print = compiled.map((one) => (fixedSize ? one.print : wholePrinter(one)))

  const { order, before, end } = memberTexts(fields, texts, variantName)
  const inOrder = order.every((index, place) => index === place)
  const printFields = inOrder
    ? printInOrder(print, before)
    : compiled.slice(0, -1).every((one) => one.fixedSize)
      ? printByOffset(print, compiled, order, before)
      : printAndSort(print, order, before)
  return {
    minimumSize,
    fixedSize,
    print(reader, out) {
      printFields(reader, out, fields)
      out.raw(end)
    },
    members: fixedSize ? { compiled, order, before, end } : undefined,
  }
}

/** The members of a struct, or of a variant of an enum. */
export function memberTexts(
  fields: readonly LayoutField[],
  texts: TextTable,
  variantName: string | undefined,
): MemberTexts {
  const members = fields.map((field, index) => ({ name: field.name, index }))
  if (variantName !== undefined) members.push({ name: '__variant__', index: -1 })
  members.sort((a, b) => (a.name < b.name ? -1 : 1))

  // Each printed value has a text before it; the member of the variant has only the text.
  const order: number[] = []
  const before: Uint8Array[] = []
  let text = '{'
  for (const [place, { name, index }] of members.entries()) {
    text += `${place === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (index < 0) {
      text += JSON.stringify(variantName)
    } else {
      order.push(index)
      before.push(texts.bytesOf(text))
      text = ''
    }
  }
  return { order, before, end: texts.bytesOf(`${text}}`) }
}

/** Prints the values of all fields, each with the text before it. */
type FieldsPrinter = (reader: ByteReader, out: JsonTextWriter, fields: readonly LayoutField[]) => void

function printInOrder(print: readonly JsonPrinter[], before: readonly Uint8Array[]): FieldsPrinter {
  const count = print.length
  return (reader, out, fields) => {
    let at = 0
    try {
      for (; at < count; at++) {
        out.raw(before[at]!)
        print[at]!(reader, out)
      }
    } catch (error) {
      throw faultInside(fields[at]!.name, error)
    }
  }
}

/**
 * Creates a printer for structs in which every field except the last has a known size, so that each field is found
 * without reading the previous ones.
 */
function printByOffset(
  printers: readonly JsonPrinter[],
  compiled: readonly CompiledPrinter[],
  order: readonly number[],
  before: readonly Uint8Array[],
): FieldsPrinter {
  const offsets: number[] = []
  let size = 0
  for (const { minimumSize } of compiled) {
    offsets.push(size)
    size += minimumSize
  }
  const print = order.map((index) => printers[index]!)
  const starts = order.map((index) => offsets[index]!)
  const count = order.length
  return (reader, out, fields) => {
    const base = reader.offset
    let end = base
    let place = 0
    try {
      for (; place < count; place++) {
        out.raw(before[place]!)
        reader.offset = base + starts[place]!
        print[place]!(reader, out)
        if (reader.offset > end) end = reader.offset
      }
    } catch (error) {
      throw faultInside(fields[order[place]!]!.name, error)
    }
    reader.offset = end
  }
}

/**
 * Makes a printer that prints the values in the order of their bytes, appends copies of them in the order of their
 * names, and moves these to the front.
 */
function printAndSort(
  print: readonly JsonPrinter[],
  order: readonly number[],
  before: readonly Uint8Array[],
): FieldsPrinter {
  const count = print.length
  return (reader, out, fields) => {
    const start = out.length
    const ends = new Array<number>(count)
    let at = 0
    try {
      for (; at < count; at++) {
        print[at]!(reader, out)
        ends[at] = out.length
      }
    } catch (error) {
      throw faultInside(fields[at]!.name, error)
    }
    sortPrinted(out, start, ends, order, before)
  }
}

/** Replaces values that were printed one after the other by the members of an object, in their order. */
export function sortPrinted(
  out: JsonTextWriter,
  start: number,
  ends: readonly number[],
  order: readonly number[],
  before: readonly Uint8Array[],
): void {
  const sorted = out.length
  for (let place = 0; place < order.length; place++) {
    const index = order[place]!
    out.raw(before[place]!)
    out.copyWithin(index === 0 ? start : ends[index - 1]!, ends[index]!)
  }
  out.moveBack(sorted, start)
}

function printU64(reader: ByteReader, out: JsonTextWriter): void {
  const low = reader.readU32()
  out.quotedU64(low, reader.readU32())
}

function wideIntegerPrinter(kind: string): CompiledPrinter {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  return fixed(width, (reader, out) => {
    const value = reader.readWideInteger(width)
    out.byte(QUOTE)
    out.ascii(String(signed ? BigInt.asIntN(width * 8, value) : value))
    out.byte(QUOTE)
  })
}

function printHex(reader: ByteReader, out: JsonTextWriter): void {
  const length = reader.readLength()
  const start = reader.skip(length)
  out.quotedHex(reader.bytes, start, start + length)
}
