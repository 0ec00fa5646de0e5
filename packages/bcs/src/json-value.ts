import { LedgerStateError } from '@ledger-state/core'

/** A number as it was written, so that no digit is lost. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Members above which an object is indexed by name; below, a scan is faster than a map is made. */
const INDEXED_MEMBERS = 16

/** An object: members in their order. Of repeated members the last counts, at the place of the first. */
export class JsonObject {
  readonly #names: string[] = []
  readonly #values: JsonValue[] = []
  #index: Map<string, number> | undefined

  get size(): number {
    return this.#names.length
  }

  get(name: string): JsonValue | undefined {
    const at = this.#find(name)
    return at < 0 ? undefined : this.#values[at]
  }

  set(name: string, value: JsonValue): void {
    const known = this.#find(name)
    if (known >= 0) {
      this.#values[known] = value
      return
    }
    this.#index?.set(name, this.#names.length)
    this.#names.push(name)
    this.#values.push(value)
  }

  names(): readonly string[] {
    return this.#names
  }

  #find(name: string): number {
    if (this.#names.length <= INDEXED_MEMBERS) return this.#names.indexOf(name)
    this.#index ??= new Map(this.#names.map((known, at) => [known, at]))
    return this.#index.get(name) ?? -1
  }
}

/**
 * JSON without its two losses in JavaScript: numbers keep every digit, and objects keep the order of their members and
 * treat `__proto__` like any other name.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject

export const MAX_JSON_DEPTH = 128

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof JsonObject
}

/** What a value is called in messages. */
export function jsonTypeName(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (typeof value === 'string') return 'string'
  if (value instanceof JsonNumber) return 'number'
  return isJsonObject(value) ? 'map' : 'sequence'
}

/** Compact JSON text with members in their order and numbers as they were written. */
export function jsonValueToText(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof JsonNumber) return value.text
  if (isJsonObject(value)) {
    const members = value.names().map((name) => `${JSON.stringify(name)}:${jsonValueToText(value.get(name)!)}`)
    return `{${members.join(',')}}`
  }
  return `[${value.map(jsonValueToText).join(',')}]`
}

export interface ParseJsonOptions {
  /** Most values that are read, those inside arrays and objects included; no limit by default. */
  readonly maxValues?: number
}

/**
 * Reads one JSON text (RFC 8259), nested at most 128 levels.
 * @throws `invalid_json` with line and column, both counted from 1
 */
export function parseJson(text: string, { maxValues = Number.POSITIVE_INFINITY }: ParseJsonOptions = {}): JsonValue {
  return new JsonParser(text, maxValues).parseWhole()
}

const ESCAPES: ReadonlyMap<number, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, character]) => [letter.charCodeAt(0), character],
  ),
)

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

function isDigit(charCode: number): boolean {
  return charCode >= ZERO && charCode <= 0x39
}

/** Character codes are NaN at the end of the text, which equals none and is in no range. */
class JsonParser {
  readonly text: string
  readonly maxValues: number
  values = 0
  at = 0

  constructor(text: string, maxValues: number) {
    this.text = text
    this.maxValues = maxValues
  }

  parseWhole(): JsonValue {
    const value = this.parseValue(0)
    this.skipSpace()
    if (this.at < this.text.length) throw this.error('trailing characters')
    return value
  }

  parseValue(depth: number): JsonValue {
    const charCode = this.skipSpace()
    if (++this.values > this.maxValues) throw this.error(`more than ${this.maxValues} values`)
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
    for (;;) {
      items.push(this.parseValue(depth))
      const next = this.skipSpace()
      if (next !== COMMA && next !== CLOSING_BRACKET) throw this.error('expected `,` or `]`')
      this.at++
      if (next === CLOSING_BRACKET) return items
    }
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
    const parts = [this.text.slice(start, end)]
    for (;;) {
      const charCode = this.text.charCodeAt(this.at)
      if (charCode === QUOTE) {
        this.at++
        return parts.join('')
      }
      if (this.at >= this.text.length) throw this.error('EOF while parsing a string')
      if (charCode !== BACKSLASH) throw this.error('control character found while parsing a string')
      this.at++
      parts.push(this.parseEscape())
      const plain = this.at
      parts.push(this.text.slice(plain, this.skipPlainText()))
    }
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

  parseEscape(): string {
    const letter = this.text.charCodeAt(this.at)
    if (letter === 0x75) {
      this.at++
      const first = this.parseHex4()
      if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first)
      if (first < 0xdc00 && this.text.startsWith('\\u', this.at)) {
        this.at += 2
        const second = this.parseHex4()
        if (second >= 0xdc00 && second <= 0xdfff) return String.fromCharCode(first, second)
      }
      throw this.error('lone surrogate in hex escape')
    }
    const character = ESCAPES.get(letter)
    if (character === undefined) throw this.error('invalid escape')
    this.at++
    return character
  }

  parseHex4(): number {
    const digits = this.text.slice(this.at, this.at + 4)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.error('invalid escape')
    this.at += 4
    return Number.parseInt(digits, 16)
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

  /** Moves to the next character that is no white space, and answers its code. */
  skipSpace(): number {
    for (;;) {
      const charCode = this.text.charCodeAt(this.at)
      if (charCode !== 0x20 && charCode !== 0x0a && charCode !== 0x0d && charCode !== 0x09) return charCode
      this.at++
    }
  }

  error(why: string): LedgerStateError {
    let line = 1
    let lineStart = 0
    for (let end = this.text.indexOf('\n'); end >= 0 && end < this.at; end = this.text.indexOf('\n', lineStart)) {
      line++
      lineStart = end + 1
    }
    const column = this.at - lineStart + 1
    return new LedgerStateError('invalid_json', `${why} at line ${line} column ${column}`, { line, column })
  }
}
