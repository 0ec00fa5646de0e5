import { hexDigitValue, type LedgerStateError, parseAddressDigits } from '@ledger-state/core'
import { invalidTypeTag, type TypeTagErrorCode } from './errors.js'
import { isStructTag, primitiveTag, type StructTag, type TypeTag } from './type-tag.js'

/** Most levels of type arguments and vectors around the innermost type. The outermost type is level 0. */
export const MAX_TYPE_NESTING = 8
/** Longest text that is parsed, in UTF-16 units. */
export const MAX_TYPE_TEXT_LENGTH = 65_536

/**
 * Parses a type tag:
 * ```
 * type    = primitive | "vector" "<" type ">" | address "::" name "::" name [ ["::"] "<" [ type { "," type } [","] ] ">" ]
 * address = "0" ("x" | "X") hexdigit{1..64}
 * name    = letter { letter | digit | "_" | "$" } | ( "_" | "$" ) ( letter | digit | "_" | "$" )+
 * ```
 * Spaces, tabs, LF, CR and FF may appear between any two tokens.
 * @throws `invalid_type_tag` with `fields.offset` in UTF-16 units
 * @example
 * ```ts
 * import { parseTypeTag, typeTagToText } from '@ledger-state/type-tag'
 *
 * const tag = parseTypeTag('vector<0x01::coin::Coin<0x1::aptos_coin::AptosCoin>>')
 * console.log(tag.kind, typeTagToText(tag)) // vector vector<0x1::coin::Coin<0x1::aptos_coin::AptosCoin>>
 * ```
 */
export function parseTypeTag(text: string): TypeTag {
  return new TypeTagParser(text).parseWhole()
}

/** Same as `parseTypeTag`, but only structs are accepted. */
export function parseStructTag(text: string): StructTag {
  const tag = parseTypeTag(text)
  if (isStructTag(tag)) return tag
  throw invalidTypeTag(text, 0, `found the type ${tag.kind}, expected a struct 0x…::module::Name`)
}

const EXPECTED_TYPE = 'a type such as u64, vector<u8> or 0x1::module::Name'

const COLON = 0x3a
const COMMA = 0x2c
const LESS = 0x3c
const GREATER = 0x3e

const NO_ARGUMENTS: readonly TypeTag[] = []

class TypeTagParser {
  readonly #text: string
  #at = 0
  /** Stack of the type arguments of the enclosing structs, so that each array is made once, with its final length. */
  readonly #open: TypeTag[] = []
  /** The last address and the offset of its digits. Tags share the address of a text that repeats it. */
  #address: Uint8Array | undefined
  #digitsAt = 0
  #digits = 0

  constructor(text: string) {
    this.#text = text
  }

  parseWhole(): TypeTag {
    if (this.#text.length > MAX_TYPE_TEXT_LENGTH) {
      throw this.#error(`expected at most ${MAX_TYPE_TEXT_LENGTH} characters, found ${this.#text.length}`)
    }
    const tag = this.#parseType(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#expected('the end of the type')
    return tag
  }

  #parseType(depth: number): TypeTag {
    this.#skipSpace()
    if (depth > MAX_TYPE_NESTING) throw this.#error(`types are nested more than ${MAX_TYPE_NESTING} levels deep`)
    const start = this.#at
    if (this.#charCode() === 0x30) return this.#parseStruct(depth)
    const word = this.#takeWord()
    if (word === 'vector') {
      this.#expect(LESS, '"<"')
      const element = this.#parseType(depth + 1)
      this.#expect(GREATER, '">"')
      return { kind: 'vector', element }
    }
    const primitive = primitiveTag(word)
    if (primitive) return primitive
    this.#at = start
    throw this.#expected(EXPECTED_TYPE)
  }

  #parseStruct(depth: number): StructTag {
    const address = this.#parseAddress()
    this.#expectColons()
    const module = this.#parseName('a module name')
    this.#expectColons()
    const name = this.#parseName('a struct name')
    if (this.#takeColons()) this.#expect(LESS, '"<"')
    else if (!this.#take(LESS)) return { kind: 'struct', address, module, name, typeArguments: NO_ARGUMENTS }
    const first = this.#open.length
    while (!this.#take(GREATER)) {
      this.#open.push(this.#parseType(depth + 1))
      if (this.#take(COMMA)) continue
      this.#expect(GREATER, '"," or ">"')
      break
    }
    return { kind: 'struct', address, module, name, typeArguments: this.#open.splice(first) }
  }

  #parseAddress(): Uint8Array {
    const start = this.#at
    if ((this.#text.charCodeAt(start + 1) | 0x20) !== 0x78) throw this.#expected(EXPECTED_TYPE)
    let end = start + 2
    while (hexDigitValue(this.#text.charCodeAt(end)) >= 0) end++
    const digits = end - start - 2
    if (digits === 0 || digits > 64) {
      this.#at = start + 2
      throw this.#error(`found ${digits} hex digits, expected an address of 1 to 64`)
    }
    this.#at = end
    if (this.#address === undefined || digits !== this.#digits || !this.#repeats(this.#digitsAt, start + 2, digits)) {
      this.#address = parseAddressDigits(this.#text, start + 2, end)
      this.#digitsAt = start + 2
      this.#digits = digits
    }
    return this.#address
  }

  /** Whether the `length` characters at `start` repeat those at `before`. */
  #repeats(before: number, start: number, length: number): boolean {
    let at = 0
    while (at < length && this.#text.charCodeAt(before + at) === this.#text.charCodeAt(start + at)) at++
    return at === length
  }

  #parseName(expected: string): string {
    this.#skipSpace()
    const start = this.#at
    const name = this.#takeWord()
    if (name === '' || name === '_' || name === '$') {
      this.#at = start
      throw this.#expected(expected)
    }
    return name
  }

  /** Takes a run of identifier characters that begins with a letter, `_` or `$`. Empty if there is none. */
  #takeWord(): string {
    const start = this.#at
    if (!isWordStart(this.#charCode())) return ''
    do this.#at++
    while (isWordPart(this.#charCode()))
    return this.#text.slice(start, this.#at)
  }

  #take(charCode: number): boolean {
    this.#skipSpace()
    if (this.#charCode() !== charCode) return false
    this.#at++
    return true
  }

  #takeColons(): boolean {
    this.#skipSpace()
    if (this.#charCode() !== COLON || this.#text.charCodeAt(this.#at + 1) !== COLON) return false
    this.#at += 2
    return true
  }

  #expect(charCode: number, expected: string): void {
    if (!this.#take(charCode)) throw this.#expected(expected)
  }

  #expectColons(): void {
    if (!this.#takeColons()) throw this.#expected('"::"')
  }

  #skipSpace(): void {
    while (isSpace(this.#charCode())) this.#at++
  }

  /** Code of the next character; NaN at the end of the text. */
  #charCode(): number {
    return this.#text.charCodeAt(this.#at)
  }

  #expected(what: string): LedgerStateError<TypeTagErrorCode> {
    const found = this.#text.codePointAt(this.#at)
    const foundText = found === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(found))
    return this.#error(`found ${foundText}, expected ${what}`)
  }

  #error(why: string): LedgerStateError<TypeTagErrorCode> {
    return invalidTypeTag(this.#text, this.#at, why)
  }
}

function isSpace(charCode: number): boolean {
  return charCode === 0x20 || (charCode >= 0x09 && charCode <= 0x0d && charCode !== 0x0b)
}

function isWordStart(charCode: number): boolean {
  const lower = charCode | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || charCode === 0x5f || charCode === 0x24
}

function isWordPart(charCode: number): boolean {
  return isWordStart(charCode) || (charCode >= 0x30 && charCode <= 0x39)
}
