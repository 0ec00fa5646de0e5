import { LedgerStateError } from '@ledger-state/core'

/** A number as it was written, so that no digit is lost. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * JSON without its two losses in JavaScript: numbers keep every digit, and objects keep the order of their members
 * and treat `__proto__` like any other name. Of repeated members the last counts, at the place of the first.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject
export type JsonObject = ReadonlyMap<string, JsonValue>

export const MAX_JSON_DEPTH = 128

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map
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
    const members = Array.from(value, ([name, member]) => `${JSON.stringify(name)}:${jsonValueToText(member)}`)
    return `{${members.join(',')}}`
  }
  return `[${value.map(jsonValueToText).join(',')}]`
}

/**
 * Reads one JSON text (RFC 8259), nested at most 128 levels.
 * @throws `invalid_json` with line and column, both counted from 1
 */
export function parseJson(text: string): JsonValue {
  return new JsonParser(text).parseWhole()
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const ESCAPES: ReadonlyMap<string | undefined, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

class JsonParser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parseWhole(): JsonValue {
    const value = this.#parseValue(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#error('trailing characters')
    return value
  }

  #parseValue(depth: number): JsonValue {
    this.#skipSpace()
    switch (this.#text[this.#at]) {
      case undefined:
        throw this.#error('EOF while parsing a value')
      case '"':
        return this.#parseString()
      case '{':
        return this.#parseObject(depth + 1)
      case '[':
        return this.#parseArray(depth + 1)
      case 't':
        return this.#takeWord('true', true)
      case 'f':
        return this.#takeWord('false', false)
      case 'n':
        return this.#takeWord('null', null)
      default:
        return this.#parseNumber()
    }
  }

  #parseObject(depth: number): JsonObject {
    this.#enter(depth)
    const members = new Map<string, JsonValue>()
    this.#skipSpace()
    if (this.#take('}')) return members
    for (;;) {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') throw this.#error('key must be a string')
      const name = this.#parseString()
      this.#skipSpace()
      if (!this.#take(':')) throw this.#error('expected `:`')
      members.set(name, this.#parseValue(depth))
      this.#skipSpace()
      if (this.#take('}')) return members
      if (!this.#take(',')) throw this.#error('expected `,` or `}`')
    }
  }

  #parseArray(depth: number): JsonValue[] {
    this.#enter(depth)
    const items: JsonValue[] = []
    this.#skipSpace()
    if (this.#take(']')) return items
    for (;;) {
      items.push(this.#parseValue(depth))
      this.#skipSpace()
      if (this.#take(']')) return items
      if (!this.#take(',')) throw this.#error('expected `,` or `]`')
    }
  }

  #enter(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw this.#error(`recursion limit exceeded: more than ${MAX_JSON_DEPTH} levels`)
    this.#at++
  }

  #parseString(): string {
    this.#at++
    const plain = this.#takePlainText()
    if (this.#take('"')) return plain
    const parts = [plain]
    for (;;) {
      if (this.#take('"')) return parts.join('')
      if (this.#take('\\')) parts.push(this.#parseEscape())
      else if (this.#at >= this.#text.length) throw this.#error('EOF while parsing a string')
      else throw this.#error('control character found while parsing a string')
      parts.push(this.#takePlainText())
    }
  }

  /** Text up to the next quote, escape or control character. */
  #takePlainText(): string {
    const start = this.#at
    for (;;) {
      const charCode = this.#text.charCodeAt(this.#at)
      if (!(charCode >= 0x20) || charCode === 0x22 || charCode === 0x5c) return this.#text.slice(start, this.#at)
      this.#at++
    }
  }

  #parseEscape(): string {
    const letter = this.#text[this.#at]
    if (letter === 'u') {
      this.#at++
      const first = this.#parseHex4()
      if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first)
      if (first < 0xdc00 && this.#text.startsWith('\\u', this.#at)) {
        this.#at += 2
        const second = this.#parseHex4()
        if (second >= 0xdc00 && second <= 0xdfff) return String.fromCharCode(first, second)
      }
      throw this.#error('lone surrogate in hex escape')
    }
    const character = ESCAPES.get(letter)
    if (character === undefined) throw this.#error('invalid escape')
    this.#at++
    return character
  }

  #parseHex4(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#error('invalid escape')
    this.#at += 4
    return Number.parseInt(digits, 16)
  }

  #parseNumber(): JsonNumber {
    NUMBER.lastIndex = this.#at
    if (!NUMBER.test(this.#text)) throw this.#error('expected value')
    const number = new JsonNumber(this.#text.slice(this.#at, NUMBER.lastIndex))
    this.#at = NUMBER.lastIndex
    return number
  }

  #takeWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#error('expected value')
    this.#at += word.length
    return value
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skipSpace(): void {
    for (;;) {
      const charCode = this.#text.charCodeAt(this.#at)
      if (charCode !== 0x20 && charCode !== 0x0a && charCode !== 0x0d && charCode !== 0x09) return
      this.#at++
    }
  }

  #error(why: string): LedgerStateError {
    const before = this.#text.slice(0, this.#at).split('\n')
    const line = before.length
    const column = before.at(-1)!.length + 1
    return new LedgerStateError('invalid_json', `${why} at line ${line} column ${column}`, { line, column })
  }
}
