import { ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { compileLayout } from '../layout/compile-layout.js'
import { INTEGER_WIDTH, type Layout, type LayoutField } from '../layout/layout.js'
import { type LayoutTraits, layoutTraits } from '../layout/layout-size.js'
import { SMALL_DIGITS, writeLargeU64 } from './decimal-digits.js'
import { MAX_JSON_DEPTH } from './parse-json.js'

// Scanning never waits and never calls code of others, so all scanners share one buffer, as all encoders do.
const WRITER = new ByteWriter()

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const LETTER_X = 0x78
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Answer of a scanner for a text that it does not read. */
const UNREAD = -1

/**
 * Writes the value that begins at `at`. Returns the end of the value, or `UNREAD`; then some bytes may be written.
 * @throws `invalid_address` or `invalid_hex`, which mean `UNREAD` too
 */
type Scanner = (text: string, at: number, writer: ByteWriter) => number

/**
 * Compiles a layout into a function from compact JSON text to BCS bytes, without values in between. It reads the usual
 * form: no white space or escapes, members in the order of the fields, numbers of at most 15 digits (20 for u64). It
 * returns undefined for any other text, valid or not.
 */
export function createJsonTextEncoder(
  layout: Layout,
  traits: LayoutTraits = layoutTraits(layout),
): (text: string) => Uint8Array | undefined {
  // An option has two levels of JSON. A text without deeper levels is within the limit of `parseJson`.
  if (traits.unwritable !== undefined || 2 * (traits.depth + 1) > MAX_JSON_DEPTH) return () => undefined
  const scan = compileLayout(layout, compilePart)
  return (text) => {
    WRITER.reset()
    try {
      return scan(text, 0, WRITER) === text.length ? WRITER.toPooledBytes() : undefined
    } catch (error) {
      if (isLedgerStateError(error)) return undefined
      throw error
    }
  }
}

function compilePart(layout: Layout, inner: (part: Layout) => Scanner): Scanner {
  switch (layout.kind) {
    case 'bool':
      return scanBoolean
    case 'address':
      return scanAddress
    case 'object':
      return scanObject
    case 'string':
      return scanString
    case 'vector':
      return layout.element.kind === 'u8' ? scanHex : sequenceScanner(() => inner(layout.element))
    case 'option':
      return layout.element.kind === 'u8' ? () => UNREAD : optionScanner(() => inner(layout.element))
    case 'struct':
      return structScanner(layout.fields, inner)
    case 'enum':
    case 'map':
    case 'signer':
    case 'function':
      return () => UNREAD
    default:
      return integerScanner(layout.kind)
  }
}

function scanBoolean(text: string, at: number, writer: ByteWriter): number {
  const value = text.startsWith('true', at)
  if (!value && !text.startsWith('false', at)) return UNREAD
  writer.bool(value)
  return at + (value ? 4 : 5)
}

function scanAddress(text: string, at: number, writer: ByteWriter): number {
  if (text.charCodeAt(at) !== QUOTE) return UNREAD
  const end = text.indexOf('"', at + 1)
  if (end < 0) return UNREAD
  const hasPrefix = text.charCodeAt(at + 1) === ZERO && text.charCodeAt(at + 2) === LETTER_X
  writer.addressDigits(text, hasPrefix ? at + 3 : at + 1, end)
  return end + 1
}

function scanObject(text: string, at: number, writer: ByteWriter): number {
  if (text.charCodeAt(at) !== OPENING_BRACE) return scanAddress(text, at, writer)
  if (!text.startsWith('{"inner":', at)) return UNREAD
  const end = scanAddress(text, at + 9, writer)
  return text.charCodeAt(end) === CLOSING_BRACE ? end + 1 : UNREAD
}

/** Longest text that a `ByteWriter` writes from its place in another one. */
const SHORT_TEXT = 127

function scanString(text: string, at: number, writer: ByteWriter): number {
  if (text.charCodeAt(at) !== QUOTE) return UNREAD
  const start = at + 1
  let end = start
  for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(++end)) {
    if (!(code >= 0x20) || code === BACKSLASH) return UNREAD
  }
  if (end - start > SHORT_TEXT || !writer.shortAscii(text, start, end)) writer.string(text.slice(start, end))
  return end + 1
}

function scanHex(text: string, at: number, writer: ByteWriter): number {
  if (text.charCodeAt(at) !== QUOTE) return UNREAD
  const end = text.indexOf('"', at + 1)
  if (end < 0) return UNREAD
  writer.hexString(text.slice(at + 1, end))
  return end + 1
}

function integerScanner(kind: string): Scanner {
  const { bytes: width, signed } = INTEGER_WIDTH[kind]!
  const isWide = width >= 8
  const most = 2 ** (width * 8 - (signed ? 1 : 0)) - 1
  return (text, at, writer) => {
    const isQuoted = text.charCodeAt(at) === QUOTE
    if (isQuoted && !isWide) return UNREAD
    const start = isQuoted ? at + 1 : at
    let end = start
    let value = 0
    let code = text.charCodeAt(end)
    // Beyond 15 digits the value is not exact, and not used.
    for (; code >= ZERO && code <= NINE; code = text.charCodeAt(++end)) value = value * 10 + (code - ZERO)
    const digits = end - start
    if (digits === 0) return UNREAD
    if (isQuoted ? code !== QUOTE : digits > 1 && text.charCodeAt(start) === ZERO) return UNREAD
    if (digits <= SMALL_DIGITS && (isWide || value <= most)) writer.unsigned(value, width)
    else if (kind !== 'u64' || !writeLargeU64(text, start, end, writer)) return UNREAD
    return isQuoted ? end + 1 : end
  }
}

function sequenceScanner(compileElement: () => Scanner): Scanner {
  let scan: Scanner | undefined
  return (text, at, writer) => {
    if (text.charCodeAt(at) !== OPENING_BRACKET) return UNREAD
    if (text.charCodeAt(at + 1) === CLOSING_BRACKET) {
      writer.u8(0)
      return at + 2
    }
    scan ??= compileElement()
    const start = writer.length
    let items = 0
    let next = at
    do {
      next = scan(text, next + 1, writer)
      items++
    } while (text.charCodeAt(next) === COMMA)
    if (text.charCodeAt(next) !== CLOSING_BRACKET) return UNREAD
    writer.insertUleb128(start, items)
    return next + 1
  }
}

function optionScanner(compileElement: () => Scanner): Scanner {
  let scan: Scanner | undefined
  return (text, at, writer) => {
    if (!text.startsWith('{"vec":[', at)) return UNREAD
    let end = at + 8
    const isEmpty = text.charCodeAt(end) === CLOSING_BRACKET
    writer.bool(!isEmpty)
    if (!isEmpty) {
      scan ??= compileElement()
      end = scan(text, end, writer)
    }
    return text.charCodeAt(end) === CLOSING_BRACKET && text.charCodeAt(end + 1) === CLOSING_BRACE ? end + 2 : UNREAD
  }
}

interface FieldScanner {
  /** Text before the value: a brace or a comma, the name in quotes, a colon. */
  readonly before: string
  readonly layout: Layout
  scan: Scanner | undefined
}

function structScanner(fields: readonly LayoutField[], inner: (part: Layout) => Scanner): Scanner {
  const scanners = fields.map(({ name, layout }, at): FieldScanner => {
    return { before: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`, layout, scan: undefined }
  })
  if (new Set(fields.map(({ name }) => name)).size < fields.length) return () => UNREAD
  if (scanners.length === 0) return (text, at) => (text.startsWith('{}', at) ? at + 2 : UNREAD)
  return (text, start, writer) => {
    let at = start
    for (let index = 0; index < scanners.length; index++) {
      const field = scanners[index]!
      if (!hasAt(text, field.before, at)) return UNREAD
      field.scan ??= inner(field.layout)
      at = field.scan(text, at + field.before.length, writer)
      if (at < 0) return UNREAD
    }
    return text.charCodeAt(at) === CLOSING_BRACE ? at + 1 : UNREAD
  }
}

/** Same as `text.startsWith(part, at)`, which is slower for short parts. */
function hasAt(text: string, part: string, at: number): boolean {
  const { length } = part
  for (let index = 0; index < length; index++) {
    if (text.charCodeAt(at + index) !== part.charCodeAt(index)) return false
  }
  return true
}
