import { bytesToHexDigits, decodeUtf8 } from '@ledger-state/core/bytes'
import { typeTagToText } from '@ledger-state/type-tag'
import type { Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { ClosureValue, type StructValue, type Value, VectorValue } from '../values/value.js'
import { addressOf, byteVectorOf, structOf } from './arguments.js'
import type { NativeContext, TypeLayoutField } from './native.js'

// Values as text, as `0x1::string_utils` writes them.

/** Style in which values are written. */
export interface FormatStyle {
  /** Whether structs show the whole text of their type, or its name alone. */
  readonly showsTypes: boolean
  /** Whether addresses have all 64 digits. */
  readonly showsWholeAddresses: boolean
  readonly isSingleLine: boolean
  /** Whether the type follows an integer. */
  readonly showsIntegerTypes: boolean
}

const LIST_ITEM_STYLE: FormatStyle = {
  showsTypes: true,
  showsWholeAddresses: false,
  isSingleLine: true,
  showsIntegerTypes: false,
}

const SIGNER_FLAG = 25
const ARGUMENTS_MISMATCH = 1
const INVALID_FORMAT = 2
const UNABLE_TO_FORMAT = 3
const INTERNAL_TYPE_ERROR = 2009

const FRAMEWORK = '1'.padStart(64, '0')
const INDENT = '  '
const PART_PRICE = 10

function isFrameworkType(type: Type, module: string, name: string): boolean {
  return type.kind === 'struct' && type.address === FRAMEWORK && type.module === module && type.name === name
}

/** Writes one value. Within an enum and among the captured values of a closure, fields are written without names. */
class Formatter {
  readonly #context: NativeContext
  readonly #style: FormatStyle
  #text = ''

  constructor(context: NativeContext, style: FormatStyle) {
    this.#context = context
    this.#style = style
  }

  get text(): string {
    return this.#text
  }

  #write(text: string): void {
    this.#context.chargeBytes(text.length)
    this.#text += text
  }

  value(type: Type, value: Value, depth: number, isNamed: boolean): void {
    this.#context.charge(PART_PRICE)
    switch (type.kind) {
      case 'bool':
        this.#write(String(value))
        return
      case 'address':
        this.#write(this.#address(value))
        return
      case 'signer':
        this.#signer(value)
        return
      case 'vector':
        this.#vector(type.element, value, depth, isNamed)
        return
      case 'struct':
        this.#struct(type, structOf(value), depth, isNamed)
        return
      case 'function':
        this.#closure(value, depth)
        return
      case 'reference':
        this.#context.abort(UNABLE_TO_FORMAT)
        return
      default:
        this.#write(`${String(value)}${this.#style.showsIntegerTypes ? type.kind : ''}`)
    }
  }

  #address(value: Value | undefined): string {
    const digits = addressOf(value)
    if (this.#style.showsWholeAddresses) return `@${digits}`
    return `@0x${digits.replace(/^0+(?=.)/, '')}`
  }

  #signer(value: Value): void {
    if (!this.#context.isFeatureOn(SIGNER_FLAG)) this.#context.fault(INTERNAL_TYPE_ERROR)
    this.#write(`signer(${this.#address(structOf(value).fields[0])})`)
  }

  #vector(element: Type, value: Value, depth: number, isNamed: boolean): void {
    if (value instanceof ByteVector) {
      this.#write(`0x${bytesToHexDigits(value.view())}`)
      return
    }
    if (!(value instanceof VectorValue)) throw new TypeError('a value that is not a vector')
    const isSpread = !this.#style.isSingleLine && (element.kind === 'vector' || element.kind === 'struct')
    this.#write('[')
    this.#list(value.items, isSpread, depth, (item) => this.value(element, item, depth + 1, isNamed))
    this.#write(']')
  }

  #list<T>(items: readonly T[], isSpread: boolean, depth: number, writeItem: (item: T) => void): void {
    if (items.length === 0) return
    const gap = (level: number) => (isSpread ? `\n${INDENT.repeat(level)}` : ' ')
    items.forEach((item, index) => {
      this.#write(`${index > 0 ? ',' : ''}${gap(depth + 1)}`)
      writeItem(item)
    })
    this.#write(gap(depth))
  }

  #struct(type: Type & { kind: 'struct' }, value: StructValue, depth: number, isNamed: boolean): void {
    if (isNamed && isFrameworkType(type, 'string', 'String')) {
      this.#quoted(byteVectorOf(value.fields[0]))
      return
    }
    const layout = this.#context.layout(type)
    if (isNamed && isFrameworkType(type, 'option', 'Option')) {
      this.#option(type.typeArguments[0]!, optionItem(value, layout.kind === 'enum'), depth)
      return
    }
    if (layout.kind === 'enum') {
      const variant = layout.variants[value.variant]
      if (variant === undefined) throw new RangeError('an enum without such a variant')
      this.#write(`#${value.variant}{`)
      this.#fields(variant.fields, value, depth, false)
      this.#write('}')
      return
    }
    if (layout.kind !== 'struct') throw new TypeError('a struct without fields')
    if (isNamed) this.#write(`${this.#style.showsTypes ? typeTagToText(this.#context.typeTag(type)) : type.name} `)
    this.#write('{')
    this.#fields(layout.fields, value, depth, isNamed)
    this.#write('}')
  }

  #fields(fields: readonly TypeLayoutField[], value: StructValue, depth: number, isNamed: boolean): void {
    if (fields.length !== value.fields.length) throw new RangeError('a struct with other fields')
    const items = fields.map((field, index) => ({ field, item: value.fields[index]! }))
    this.#list(items, !this.#style.isSingleLine, depth, ({ field, item }) => {
      if (isNamed) this.#write(`${field.name}: `)
      this.value(field.type, item, depth + 1, isNamed)
    })
  }

  #quoted(bytes: Uint8Array): void {
    const text = decodeUtf8(bytes)
    if (text === undefined) throw new TypeError('a String that is not UTF-8')
    this.#write(`"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
  }

  #option(element: Type, item: Value | undefined, depth: number): void {
    if (item === undefined) {
      this.#write('None')
      return
    }
    this.#write('Some(')
    this.value(element, item, depth, true)
    this.#write(')')
  }

  #closure(value: Value, depth: number): void {
    if (!(value instanceof ClosureValue)) throw new TypeError('a value that is not a closure')
    const { target, mask, captured } = value
    const capturedTypes = this.#context.capturedTypes(value)
    const typeArguments = target.typeArguments.map((type) => typeTagToText(this.#context.typeTag(type)))
    const generics = typeArguments.length > 0 ? `<${typeArguments.join(', ')}>` : ''
    this.#write(`0x${target.address.replace(/^0+(?=.)/, '')}::${target.module}::${target.name}${generics}(`)
    let next = 0
    for (let parameter = 0; next < captured.length; parameter++) {
      if (parameter > 0) this.#write(', ')
      if (((mask >> BigInt(parameter)) & 1n) === 0n) {
        this.#write('_')
        continue
      }
      this.value(capturedTypes[next]!, captured[next]!, depth, false)
      next++
    }
    this.#write(captured.length > 0 ? ', ..)' : ')')
  }
}

/** What an Option holds, in either representation. */
function optionItem(option: StructValue, isEnum: boolean): Value | undefined {
  if (isEnum) return option.variant === 0 ? undefined : option.fields[0]
  const [items] = option.fields
  if (items instanceof ByteVector) return items.length > 0 ? items.at(0) : undefined
  if (!(items instanceof VectorValue)) throw new TypeError('an Option that is not a vector')
  return items.items[0]
}

/** A value as text. @throws faults of the run */
export function formatValue(context: NativeContext, type: Type, value: Value, style: FormatStyle): string {
  const formatter = new Formatter(context, style)
  formatter.value(type, value, 0, true)
  return formatter.text
}

/**
 * Fills a format: each `{}` stands for an item of a list of `Cons`, which `NIL` ends; `{{` and `}}` are braces.
 * @throws faults of the run
 */
export function formatList(context: NativeContext, format: Uint8Array, type: Type, list: Value): string {
  const template = decodeUtf8(format)
  if (template === undefined) context.abort(INVALID_FORMAT)
  context.chargeBytes(format.length)
  let text = ''
  let restType = type
  let rest = list
  for (const [part] of template.matchAll(/[^{}]+|\{\}|\{\{|\}\}|[{}]/g)) {
    if (part === '{' || part === '}') context.abort(INVALID_FORMAT)
    if (part !== '{}') {
      text += part === '{{' ? '{' : part === '}}' ? '}' : part
      continue
    }
    if (restType.kind !== 'struct' || !isFrameworkType(restType, 'string_utils', 'Cons'))
      context.abort(ARGUMENTS_MISMATCH)
    const [itemType, nextType] = restType.typeArguments
    const [item, next] = structOf(rest).fields
    text += formatValue(context, itemType!, item!, LIST_ITEM_STYLE)
    restType = nextType!
    rest = next!
  }
  if (!isFrameworkType(restType, 'string_utils', 'NIL')) context.abort(ARGUMENTS_MISMATCH)
  return text
}
