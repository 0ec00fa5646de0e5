/** A JSON number as it was written, so that no digit is lost. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A member of an object, with a link to the next. */
export interface JsonMember {
  readonly name: string
  value: JsonValue
  next: JsonMember | undefined
}

/** Most members that are searched one by one: for more it is faster to make a map of the names. */
const INDEXED_MEMBERS = 16

/**
 * A JSON object: members in their order. If a name occurs several times, the last value counts, at the place of the
 * first.
 */
export class JsonObject {
  // Members are a linked list: with two arrays of names and values, parsing takes a quarter longer (`pnpm bench
  // codec`).
  #first: JsonMember | undefined
  #last: JsonMember | undefined
  #size = 0
  #index: Map<string, JsonMember> | undefined

  get size(): number {
    return this.#size
  }

  /** The first member; undefined if there is none. */
  get first(): Readonly<JsonMember> | undefined {
    return this.#first
  }

  /** Member of this name; undefined if there is none. */
  member(name: string): Readonly<JsonMember> | undefined {
    return this.#find(name)
  }

  /** Value of a member; undefined if there is none. */
  get(name: string): JsonValue | undefined {
    return this.#find(name)?.value
  }

  /** Appends a member, or replaces the value of the member of this name. */
  set(name: string, value: JsonValue): void {
    const known = this.#find(name)
    if (known !== undefined) {
      known.value = value
      return
    }
    const member: JsonMember = { name, value, next: undefined }
    if (this.#last === undefined) this.#first = member
    else this.#last.next = member
    this.#last = member
    this.#size++
    this.#index?.set(name, member)
  }

  /** Names of the members, in their order. */
  names(): readonly string[] {
    const names: string[] = []
    for (let member = this.#first; member !== undefined; member = member.next) names.push(member.name)
    return names
  }

  #find(name: string): JsonMember | undefined {
    if (this.#size > INDEXED_MEMBERS) {
      this.#index ??= this.#indexMembers()
      return this.#index.get(name)
    }
    let member = this.#first
    while (member !== undefined && member.name !== name) member = member.next
    return member
  }

  #indexMembers(): Map<string, JsonMember> {
    const index = new Map<string, JsonMember>()
    for (let member = this.#first; member !== undefined; member = member.next) index.set(member.name, member)
    return index
  }
}

/**
 * JSON without the two losses of `JSON.parse`: numbers keep every digit, and objects keep the order of their members and
 * treat `__proto__` like any other name.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject

/** Whether a JSON value is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof JsonObject
}

/** Name of the type of a value, for messages. */
export function jsonTypeName(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (typeof value === 'string') return 'string'
  if (value instanceof JsonNumber) return 'number'
  if (isJsonObject(value)) return 'map'
  if (Array.isArray(value)) return 'sequence'
  // Programs without types pass results of `JSON.parse`.
  return `JavaScript ${typeof value} (JSON is taken as parseJson reads it)`
}

/**
 * Compact JSON text with members in their order and numbers as they were written. A text longer than `maxLength` UTF-16
 * units, such as for a message, is cut there and ends with `…`; it costs no more than `maxLength` units do.
 */
export function jsonValueToText(value: JsonValue, maxLength = Number.POSITIVE_INFINITY): string {
  const out = { text: '', maxLength }
  printValue(value, out)
  return out.text.length > maxLength ? `${out.text.slice(0, maxLength)}…` : out.text
}

interface BoundedText {
  text: string
  readonly maxLength: number
}

function printValue(value: JsonValue, out: BoundedText): void {
  if (typeof value === 'string') out.text += stringToText(value, out.maxLength)
  else if (value instanceof JsonNumber) out.text += value.text
  else if (isJsonObject(value)) {
    let separator = '{'
    for (const name of value.names()) {
      if (out.text.length > out.maxLength) return
      out.text += `${separator}${stringToText(name, out.maxLength)}:`
      printValue(value.get(name)!, out)
      separator = ','
    }
    out.text += value.size === 0 ? '{}' : '}'
  } else if (value !== null && typeof value === 'object') {
    let separator = '['
    for (const item of value) {
      if (out.text.length > out.maxLength) return
      out.text += separator
      printValue(item, out)
      separator = ','
    }
    out.text += value.length === 0 ? '[]' : ']'
  } else out.text += String(value)
}

function stringToText(text: string, maxLength: number): string {
  return JSON.stringify(text.length > maxLength ? text.slice(0, maxLength) : text)
}
