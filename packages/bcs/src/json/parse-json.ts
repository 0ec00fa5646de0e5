import { hexDigitValue, type LedgerStateError } from '@ledger-state/core'
import { type BcsErrorCode, invalidJson } from '../errors.js'
import { JsonNumber, JsonObject, type JsonValue } from './json-value.js'

/** Most levels of arrays and objects. */
export const MAX_JSON_DEPTH = 128

/**
 * Number that means no limit: more values than a text has characters, and a small integer, which V8 counts down
 * fastest.
 */
const NO_LIMIT = 0x3fff_ffff

/** Limits of `parseJson`, in addition to the JSON syntax. */
export interface JsonOptions {
  /** Most values in the text: each literal, number, string, array and object counts as one. No limit by default. */
  readonly maxNodes?: number | undefined
  /** Whether an object with two members of one name is refused. By default the last one counts. */
  readonly refusesRepeatedNames?: boolean | undefined
}

/**
 * Parses a JSON text (RFC 8259), nested at most `MAX_JSON_DEPTH` levels, in time linear in its length.
 * @throws `invalid_json` with line and column, both counted from 1
 * @example
 * ```ts
 * import { isJsonObject, jsonValueToText, parseJson } from '@ledger-state/bcs'
 *
 * const value = parseJson('{"amount": 18446744073709551615}')
 * if (isJsonObject(value)) console.log(jsonValueToText(value.get('amount')!)) // 18446744073709551615
 * ```
 */
export function parseJson(text: string, options: JsonOptions = {}): JsonValue {
  return new JsonParser(text, options).parseWhole()
}

/** Range of a value in a text: UTF-16 units from `start` (inclusive) to `end` (exclusive). */
export interface JsonRange {
  readonly start: number
  readonly end: number
}

/** A JSON value without its long parts: the lists directly inside the outermost array or object are empty. */
export interface JsonOutline {
  readonly value: JsonValue
  /** Ranges of the items of a list that the value leaves empty. */
  itemsOf(list: readonly JsonValue[]): readonly JsonRange[]
}

/**
 * Checks a JSON text as `parseJson` does, and leaves the items of the lists in it to be parsed later, each from its
 * range, so that a long list need not be in memory as a whole.
 * @throws `invalid_json` as `parseJson`
 * @example
 * ```ts
 * import { isJsonObject, type JsonValue, parseJson, parseJsonOutline } from '@ledger-state/bcs'
 *
 * const text = '{"requests": [{"key": 1}, {"key": 2}]}'
 * const { value, itemsOf } = parseJsonOutline(text)
 * const requests = isJsonObject(value) ? (value.get('requests') as readonly JsonValue[]) : []
 * for (const { start, end } of itemsOf(requests)) parseJson(text.slice(start, end))
 * ```
 */
export function parseJsonOutline(text: string, options: JsonOptions = {}): JsonOutline {
  const parser = new JsonParser(text, options)
  const ranges: ListRanges = new Map()
  parser.ranges = ranges
  return { value: parser.parseWhole(), itemsOf: (list) => ranges.get(list) ?? [] }
}

/** Depth of the lists directly inside the outermost value. */
const OUTLINED_DEPTH = 2

type ListRanges = Map<readonly JsonValue[], JsonRange[]>

function beginRanges(ranges: ListRanges, list: readonly JsonValue[]): JsonRange[] {
  const begun: JsonRange[] = []
  ranges.set(list, begun)
  return begun
}

/** Code after the end of the text, which no character has. */
const END = -1
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const MINUS = 0x2d
const ZERO = 0x30
const LETTER_U = 0x75

/** Characters that may follow a backslash, except `u`. */
const ESCAPED: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)))

function isDigit(charCode: number): boolean {
  return charCode >= ZERO && charCode <= 0x39
}

/** Parser of one text. Character codes are NaN at the end of the text, which equals no code and is in no range. */
class JsonParser {
  readonly text: string
  at = 0
  nodesLeft: number
  readonly refusesRepeatedNames: boolean
  /** Ranges of the lists; undefined unless only the outline is asked for. */
  ranges: ListRanges | undefined = undefined

  constructor(text: string, { maxNodes = NO_LIMIT, refusesRepeatedNames = false }: JsonOptions) {
    this.text = text
    this.nodesLeft = maxNodes
    this.refusesRepeatedNames = refusesRepeatedNames
  }

  parseWhole(): JsonValue {
    const value = this.parseValue(0)
    this.skipSpace()
    if (this.at < this.text.length) throw this.error('trailing characters')
    return value
  }

  parseValue(depth: number): JsonValue {
    const charCode = this.skipSpace()
    if (--this.nodesLeft < 0) throw this.error('too many values')
    switch (charCode) {
      case QUOTE:
        return this.parseString()
      case OPENING_BRACE:
        return this.parseObject(depth + 1)
      case OPENING_BRACKET:
        return this.parseArray(depth + 1)
      case 0x74:
        return this.takeWord('true', true)
      case 0x66:
        return this.takeWord('false', false)
      case 0x6e:
        return this.takeWord('null', null)
      default:
        if (this.at >= this.text.length) throw this.error('EOF while parsing a value')
        return this.parseNumber(charCode)
    }
  }

  parseObject(depth: number): JsonObject {
    this.enter(depth)
    const members = new JsonObject()
    if (this.skipSpace() === CLOSING_BRACE) {
      this.at++
      return members
    }
    for (;;) {
      if (this.skipSpace() !== QUOTE) throw this.error('key must be a string')
      const name = this.parseString()
      if (this.refusesRepeatedNames && members.member(name)) throw this.error('name occurs twice')
      if (this.skipSpace() !== COLON) throw this.error('expected `:`')
      this.at++
      members.set(name, this.parseValue(depth))
      const next = this.skipSpace()
      if (next !== COMMA && next !== CLOSING_BRACE) throw this.error('expected `,` or `}`')
      this.at++
      if (next === CLOSING_BRACE) return members
    }
  }

  parseArray(depth: number): JsonValue[] {
    this.enter(depth)
    const items: JsonValue[] = []
    if (this.skipSpace() === CLOSING_BRACKET) {
      this.at++
      return items
    }
    const ranges = depth === OUTLINED_DEPTH && this.ranges ? beginRanges(this.ranges, items) : undefined
    for (;;) {
      if (ranges === undefined) items.push(this.parseValue(depth))
      else ranges.push(this.parseRange(depth))
      const next = this.skipSpace()
      if (next !== COMMA && next !== CLOSING_BRACKET) throw this.error('expected `,` or `]`')
      this.at++
      if (next === CLOSING_BRACKET) return items
    }
  }

  parseRange(depth: number): JsonRange {
    this.skipSpace()
    const start = this.at
    this.parseValue(depth)
    return { start, end: this.at }
  }

  enter(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw this.error(`recursion limit exceeded: more than ${MAX_JSON_DEPTH} levels`)
    this.at++
  }

  parseString(): string {
    const start = ++this.at
    const end = this.skipPlainText()
    if (this.text.charCodeAt(end) === QUOTE) {
      this.at++
      return this.text.slice(start, end)
    }
    this.skipEscapedText()
    // The escapes were checked above. The runtime decodes them in the same way, and faster.
    return JSON.parse(this.text.slice(start - 1, this.at)) as string
  }

  /** Moves to the next quote, escape or control character. */
  skipPlainText(): number {
    const { text } = this
    let { at } = this
    for (let charCode = text.charCodeAt(at); charCode >= 0x20 && charCode !== QUOTE && charCode !== BACKSLASH; ) {
      charCode = text.charCodeAt(++at)
    }
    this.at = at
    return at
  }

  /** Moves past the quote that ends a string with escapes. */
  skipEscapedText(): void {
    const { text } = this
    for (;;) {
      const charCode = text.charCodeAt(this.skipPlainText())
      if (charCode === QUOTE) break
      if (this.at >= text.length) throw this.error('EOF while parsing a string')
      if (charCode !== BACKSLASH) throw this.error('control character found while parsing a string')
      this.at++
      this.skipEscape()
    }
    this.at++
  }

  /** Moves past the escape after a backslash. */
  skipEscape(): void {
    const letter = this.text.charCodeAt(this.at)
    if (letter !== LETTER_U) {
      if (!ESCAPED.has(letter)) throw this.error('invalid escape')
      this.at++
      return
    }
    const first = this.takeHex4()
    if (first >= 0xd800 && first <= 0xdfff) {
      const { text, at } = this
      const isPair = first < 0xdc00 && text.charCodeAt(at) === BACKSLASH && text.charCodeAt(at + 1) === LETTER_U
      if (!isPair) throw this.error('lone surrogate in hex escape')
      this.at++
      const second = this.takeHex4()
      if (second < 0xdc00 || second > 0xdfff) throw this.error('lone surrogate in hex escape')
    }
  }

  /** Reads `u` and four digits. */
  takeHex4(): number {
    let value = 0
    for (let digit = 1; digit <= 4; digit++) {
      const digitValue = hexDigitValue(this.text.charCodeAt(this.at + digit))
      if (digitValue < 0) throw this.error('invalid escape')
      value = value * 16 + digitValue
    }
    this.at += 5
    return value
  }

  parseNumber(first: number): JsonNumber {
    const start = this.at
    if (first === MINUS) this.at++
    if (this.text.charCodeAt(this.at) === ZERO) this.at++
    else this.skipDigits()
    if (this.text.charCodeAt(this.at) === 0x2e) {
      this.at++
      this.skipDigits()
    }
    if ((this.text.charCodeAt(this.at) | 0x20) === 0x65) {
      this.at++
      const sign = this.text.charCodeAt(this.at)
      if (sign === 0x2b || sign === MINUS) this.at++
      this.skipDigits()
    }
    return new JsonNumber(this.text.slice(start, this.at))
  }

  skipDigits(): void {
    if (!isDigit(this.text.charCodeAt(this.at))) throw this.error('expected value')
    do this.at++
    while (isDigit(this.text.charCodeAt(this.at)))
  }

  takeWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.error('expected value')
    this.at += word.length
    return value
  }

  /** Moves to the next character that is not white space, and returns its code. */
  skipSpace(): number {
    const { text } = this
    let { at } = this
    for (; at < text.length; at++) {
      const charCode = text.charCodeAt(at)
      if (charCode > 0x20 || (charCode !== 0x20 && charCode !== 0x0a && charCode !== 0x0d && charCode !== 0x09)) {
        this.at = at
        return charCode
      }
    }
    this.at = at
    return END
  }

  error(why: string): LedgerStateError<BcsErrorCode> {
    const { text, at } = this
    let line = 1
    let lineStart = 0
    for (;;) {
      const end = text.indexOf('\n', lineStart)
      if (end < 0 || end >= at) return invalidJson(why, line, at - lineStart + 1)
      line++
      lineStart = end + 1
    }
  }
}
