import { AscendingKeys, ByteReader, isLedgerStateError, type Steps } from '@ledger-state/core'
import { readElementCount, readOptionCount, readVariantIndex } from '../bytes/read-value.js'
import { faultInside, faultWithPath } from '../bytes/value-path.js'
import { compileLayout } from '../layout/compile-layout.js'
import type { Layout, LayoutField } from '../layout/layout.js'
import { layoutDepth } from '../layout/layout-size.js'
import type { CompiledPrinter, MemberTexts } from './compiled-printer.js'
import {
  COMMA,
  compilePart,
  createPrintContext,
  type JsonDecoder,
  memberTexts,
  type PrintContext,
  sortPrinted,
  TEXT,
} from './json-decoder.js'
import { JsonTextWriter, MAX_JSON_TEXT_BYTES } from './json-text-writer.js'

/** Longest value that is printed at once, if its text is not long either. */
const SHORT_VALUE_BYTES = 64 << 10
/** Longest text that is printed at once: it takes 2 ms. */
const SHORT_TEXT_BYTES = 512 << 10
/** Text of one step, and at most one value without a list more. */
const TEXT_AT_ONCE = 64 << 10

type StepPrinter = (reader: ByteReader, out: JsonTextWriter) => Steps<void>

interface Part extends CompiledPrinter {
  /** Prints in steps. Undefined for a value without lists and maps, which is printed at once. */
  readonly inSteps: StepPrinter | undefined
}

/** Ways to print a value as a string or as UTF-8. */
interface Forms<T> {
  /** Prints it at once. @throws `type_too_large` for a longer text */
  atOnce(bytes: Uint8Array, maxBytes: number): T
  /** Takes the text that was printed in steps. */
  take(out: JsonTextWriter): T
}

/**
 * Prints a value as JSON in steps: a value of 1 MB prints as some MB, which takes 5 ms for each. A short one is printed
 * at once.
 * @throws as `JsonDecoder.toText`
 */
export function* printInSteps<T>(layout: Layout, bytes: Uint8Array, { atOnce, take }: Forms<T>): Steps<T> {
  if (bytes.length <= SHORT_VALUE_BYTES) {
    try {
      return atOnce(bytes, SHORT_TEXT_BYTES)
    } catch (error) {
      if (!isLedgerStateError(error, 'type_too_large')) throw error
    }
  }
  const reader = new ByteReader(bytes)
  // Others may print between two steps, so the text has a buffer of its own.
  const out = new JsonTextWriter()
  out.limit(MAX_JSON_TEXT_BYTES)
  try {
    // Compiled for each value: few are long, and codecs stay in memory.
    yield* printPart(compileParts(layout), reader, out)
    reader.expectEnd()
    out.expectFits()
  } catch (error) {
    throw faultWithPath(error)
  }
  return take(out)
}

/** Appends the JSON of a value, unless the value or its JSON is long. Returns whether it did. @throws `invalid_bcs` */
export function appendIfShort(
  { append }: Pick<JsonDecoder, 'append'>,
  bytes: Uint8Array,
  out: JsonTextWriter,
): boolean {
  if (bytes.length > SHORT_VALUE_BYTES) return false
  try {
    append(bytes, out, SHORT_TEXT_BYTES)
    return true
  } catch (error) {
    // Printing in steps refuses what is too large in any case.
    if (isLedgerStateError(error, 'type_too_large')) return false
    throw error
  }
}

function compileParts(layout: Layout): Part {
  const depth = layoutDepth(layout)
  const context = createPrintContext()
  return compileLayout<Part>(layout, (part, inner) => ({
    ...compilePart(part, inner, context, depth),
    inSteps: compileInSteps(part, inner, context),
  }))
}

function* printPart(part: Part, reader: ByteReader, out: JsonTextWriter): Steps<void> {
  if (part.inSteps) yield* part.inSteps(reader, out)
  else part.print(reader, out)
}

function compileInSteps(
  layout: Layout,
  inner: (part: Layout) => Part,
  { texts }: PrintContext,
): StepPrinter | undefined {
  const partsOf = (fields: readonly LayoutField[]) => fields.map((field) => inner(field.layout))
  switch (layout.kind) {
    case 'vector':
      return layout.element.kind === 'u8' ? undefined : listInSteps(inner(layout.element))
    case 'map':
      return mapInSteps(inner(layout.key), inner(layout.value))
    case 'option':
      return optionInSteps(inner(layout.element))
    case 'struct': {
      const parts = partsOf(layout.fields)
      return isInSteps(parts)
        ? fieldsInSteps(layout.fields, parts, memberTexts(layout.fields, texts, undefined))
        : undefined
    }
    case 'enum': {
      const variants = layout.variants.map(({ name, fields }) => ({ name, fields, parts: partsOf(fields) }))
      if (!variants.some(({ parts }) => isInSteps(parts))) return undefined
      const printers = variants.map(({ name, fields, parts }) =>
        fieldsInSteps(fields, parts, memberTexts(fields, texts, name)),
      )
      return (reader, out) => printers[readVariantIndex(reader, layout)]!(reader, out)
    }
    default:
      return undefined
  }
}

function isInSteps(parts: readonly Part[]): boolean {
  return parts.some(({ inSteps }) => inSteps)
}

function listInSteps(element: Part): StepPrinter {
  return function* (reader, out) {
    const count = readElementCount(reader, element.minimumSize)
    yield* itemsInSteps(out, count, () => {
      if (element.inSteps) return element.inSteps(reader, out)
      element.print(reader, out)
      return undefined
    })
  }
}

function mapInSteps(key: Part, value: Part): StepPrinter {
  return function* (reader, out) {
    const count = readElementCount(reader, key.minimumSize + value.minimumSize)
    const keys = new AscendingKeys(reader)
    yield* itemsInSteps(out, count, function* () {
      out.raw(TEXT.key)
      const start = reader.offset
      yield* printPart(key, reader, out)
      keys.expectNext(start)
      out.raw(TEXT.value)
      yield* printPart(value, reader, out)
      out.byte(0x7d)
    })
  }
}

/**
 * Prints an array, with a chance to pause after so much text.
 * @param printItem prints an item, or returns the steps that do
 */
function* itemsInSteps(out: JsonTextWriter, count: number, printItem: () => Steps<void> | undefined): Steps<void> {
  out.byte(0x5b)
  let begun = out.length
  let at = 0
  try {
    for (; at < count; at++) {
      if (out.length - begun >= TEXT_AT_ONCE) {
        yield
        begun = out.length
      }
      if (at > 0) out.byte(COMMA)
      const steps = printItem()
      if (steps) yield* steps
    }
  } catch (error) {
    throw faultInside(`[${at}]`, error)
  }
  out.byte(0x5d)
}

function optionInSteps({ inSteps }: Part): StepPrinter | undefined {
  if (!inSteps) return undefined
  return function* (reader, out) {
    const count = readOptionCount(reader)
    out.raw(TEXT.vec)
    if (count === 1) yield* inSteps(reader, out)
    out.raw(TEXT.vecEnd)
  }
}

/** Makes a printer that prints the values in the order of their bytes, and then sorts them by the names of their members. */
function fieldsInSteps(
  fields: readonly LayoutField[],
  parts: readonly Part[],
  { order, before, end }: MemberTexts,
): StepPrinter {
  return function* (reader, out) {
    const start = out.length
    const ends: number[] = []
    try {
      for (const part of parts) {
        yield* printPart(part, reader, out)
        ends.push(out.length)
      }
    } catch (error) {
      throw faultInside(fields[ends.length]!.name, error)
    }
    sortPrinted(out, start, ends, order, before)
    out.raw(end)
  }
}
