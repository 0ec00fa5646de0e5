import { ByteWriter } from '@ledger-state/core'
import { bytesToHexDigits, decodeUtf8 } from '@ledger-state/core/bytes'
import { typeTagToText } from '@ledger-state/type-tag'
import { expectVectorBytes } from '../budget/meter.js'
import { isRetried } from '../faults/vm-fault.js'
import type { SlicedWork } from '../sliced-work.js'
import type { Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { ClosureValue, type StructValue, type Value, VectorValue } from '../values/value.js'
import { addressOf, byteVectorOf, structOf } from './arguments.js'
import type { NativeContext, TypeLayoutField } from './native.js'

// Values as text, as `0x1::string_utils` writes them.

/** Style in which values are written. */
export interface FormatStyle {
  /** Whether structs show the whole text of their type, or only its name. */
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

/** Work of a slice: values and texts, and 64 bytes of text each. */
const SLICE_PARTS = 512
const BYTES_PER_PART = 64

/** A step of writing a value. If it throws, it has written and charged nothing, and it can be done again. */
type Step = () => void

/**
 * Writes one value as UTF-8, a large one in slices. Within an enum and among the captured values of a closure, fields
 * are written without names.
 */
class Formatter implements SlicedWork<Uint8Array> {
  readonly #context: NativeContext
  readonly #style: FormatStyle
  readonly #writer = new ByteWriter()
  /** Steps that are left, the next one last. */
  readonly #steps: Step[]
  #text = ''
  #left = 0

  constructor(context: NativeContext, type: Type, value: Value, style: FormatStyle) {
    this.#context = context
    this.#style = style
    this.#steps = [() => this.#value(type, value, 0, true)]
  }

  continue(): { readonly result: Uint8Array } | undefined {
    this.#left = SLICE_PARTS
    let isFirst = true
    for (let step = this.#steps.pop(); step; step = this.#left > 0 ? this.#steps.pop() : undefined) {
      try {
        step()
      } catch (error) {
        if (!isRetried(error)) throw error
        this.#steps.push(step)
        // The steps before it count. The next slice begins with this one, and stops the run.
        if (isFirst) throw error
        break
      }
      isFirst = false
    }
    this.#writer.bytes(new TextEncoder().encode(this.#text))
    this.#text = ''
    return this.#steps.length > 0 ? undefined : { result: this.#writer.toBytes() }
  }

  #write(text: string): void {
    this.#left -= text.length / BYTES_PER_PART
    this.#context.chargeBytes(text.length)
    expectVectorBytes(this.#writer.length + this.#text.length + text.length)
    this.#text += text
  }

  /** Steps to do after this one, in order. */
  #then(...steps: readonly Step[]): void {
    for (let at = steps.length - 1; at >= 0; at--) this.#steps.push(steps[at]!)
  }

  #value(type: Type, value: Value, depth: number, isNamed: boolean): void {
    this.#left--
    switch (type.kind) {
      case 'struct':
        this.#struct(type, structOf(value), depth, isNamed)
        return
      case 'function':
        this.#closure(value, depth)
        return
      default:
        this.#context.charge(PART_PRICE)
    }
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
    this.#list(value.items, isSpread, depth, ']', (item) => this.#value(element, item, depth + 1, isNamed))
  }

  /** Writes items, and their closing text. */
  #list<T>(items: readonly T[], isSpread: boolean, depth: number, close: string, writeItem: (item: T) => void): void {
    if (items.length === 0) {
      this.#write(close)
      return
    }
    const gap = (level: number) => gapBefore(level, isSpread)
    const itemStep = (at: number): void => {
      if (at === items.length) {
        this.#write(`${gap(depth)}${close}`)
        return
      }
      this.#write(`${at > 0 ? ',' : ''}${gap(depth + 1)}`)
      this.#then(
        () => writeItem(items[at]!),
        () => itemStep(at + 1),
      )
    }
    itemStep(0)
  }

  #struct(type: Type & { kind: 'struct' }, value: StructValue, depth: number, isNamed: boolean): void {
    if (isNamed && isFrameworkType(type, 'string', 'String')) {
      this.#context.charge(PART_PRICE)
      this.#quoted(byteVectorOf(value.fields[0]))
      return
    }
    const layout = this.#context.layout(type)
    this.#context.charge(PART_PRICE)
    if (isNamed && isFrameworkType(type, 'option', 'Option')) {
      this.#option(type.typeArguments[0]!, optionItem(value, layout.kind === 'enum'), depth)
      return
    }
    if (layout.kind === 'enum') {
      const variant = layout.variants[value.variant]
      if (variant === undefined) throw new RangeError('an enum without such a variant')
      this.#write(`#${value.variant}{`)
      this.#fields(variant.fields, value, depth, false)
      return
    }
    if (layout.kind !== 'struct') throw new TypeError('a struct without fields')
    if (isNamed) this.#write(`${this.#style.showsTypes ? typeTagToText(this.#context.typeTag(type)) : type.name} `)
    this.#write('{')
    this.#fields(layout.fields, value, depth, isNamed)
  }

  #fields(fields: readonly TypeLayoutField[], value: StructValue, depth: number, isNamed: boolean): void {
    if (fields.length !== value.fields.length) throw new RangeError('a struct with other fields')
    const items = fields.map((field, index) => ({ field, item: value.fields[index]! }))
    this.#list(items, !this.#style.isSingleLine, depth, '}', ({ field, item }) => {
      if (isNamed) this.#write(`${field.name}: `)
      this.#then(() => this.#value(field.type, item, depth + 1, isNamed))
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
    this.#then(
      () => this.#value(element, item, depth, true),
      () => this.#write(')'),
    )
  }

  #closure(value: Value, depth: number): void {
    if (!(value instanceof ClosureValue)) throw new TypeError('a value that is not a closure')
    const { target, mask, captured } = value
    const capturedTypes = this.#context.capturedTypes(value)
    this.#context.charge(PART_PRICE)
    const typeArguments = target.typeArguments.map((type) => typeTagToText(this.#context.typeTag(type)))
    const generics = typeArguments.length > 0 ? `<${typeArguments.join(', ')}>` : ''
    this.#write(`0x${target.address.replace(/^0+(?=.)/, '')}::${target.module}::${target.name}${generics}(`)
    const gap = gapBefore(depth + 1, !this.#style.isSingleLine)
    const parameterStep = (parameter: number, next: number): void => {
      if (next === captured.length) {
        this.#write(captured.length > 0 ? `,${gap}..)` : ')')
        return
      }
      if (parameter > 0) this.#write(`,${gap}`)
      if (((mask >> BigInt(parameter)) & 1n) === 0n) {
        this.#write('_')
        this.#then(() => parameterStep(parameter + 1, next))
        return
      }
      this.#then(
        () => this.#value(capturedTypes[next]!, captured[next]!, depth + 1, false),
        () => parameterStep(parameter + 1, next + 1),
      )
    }
    this.#then(() => parameterStep(0, 0))
  }
}

/** A blank, or the beginning of another line. */
function gapBefore(level: number, isSpread: boolean): string {
  return isSpread ? `\n${INDENT.repeat(level)}` : ' '
}

/** The content of an Option, in either representation. */
function optionItem(option: StructValue, isEnum: boolean): Value | undefined {
  if (isEnum) return option.variant === 0 ? undefined : option.fields[0]
  const [items] = option.fields
  if (items instanceof ByteVector) return items.length > 0 ? items.at(0) : undefined
  if (!(items instanceof VectorValue)) throw new TypeError('an Option that is not a vector')
  return items.items[0]
}

/** A value as text in UTF-8. @throws faults of the run */
export function formatValue(context: NativeContext, type: Type, value: Value, style: FormatStyle): Uint8Array {
  return context.inSlices(() => new Formatter(context, type, value, style))
}

/**
 * Fills a format: each `{}` is replaced by an item of a list of `Cons`, which `NIL` ends; `{{` and `}}` are braces.
 * @throws faults of the run
 */
export function formatList(context: NativeContext, format: Uint8Array, type: Type, list: Value): Uint8Array {
  const template = decodeUtf8(format)
  if (template === undefined) context.abort(INVALID_FORMAT)
  context.chargeBytes(format.length)
  return context.inSlices(() => new ListFormatter(context, template, type, list))
}

class ListFormatter implements SlicedWork<Uint8Array> {
  readonly #context: NativeContext
  readonly #template: string
  readonly #writer = new ByteWriter()
  readonly #parts = /[^{}]+|\{\}|\{\{|\}\}|[{}]/g
  #item: Formatter | undefined
  #restType: Type
  #rest: Value

  constructor(context: NativeContext, template: string, type: Type, list: Value) {
    this.#context = context
    this.#template = template
    this.#restType = type
    this.#rest = list
  }

  continue(): { readonly result: Uint8Array } | undefined {
    if (this.#item) {
      const end = this.#item.continue()
      if (!end) return undefined
      this.#item = undefined
      expectVectorBytes(this.#writer.length + end.result.length)
      this.#writer.bytes(end.result)
    }
    let text = ''
    let left = SLICE_PARTS
    while (this.#item === undefined && left > 0) {
      const part = this.#parts.exec(this.#template)?.[0]
      if (part === undefined) {
        if (!isFrameworkType(this.#restType, 'string_utils', 'NIL')) this.#context.abort(ARGUMENTS_MISMATCH)
        this.#writer.bytes(new TextEncoder().encode(text))
        return { result: this.#writer.toBytes() }
      }
      if (part === '{' || part === '}') this.#context.abort(INVALID_FORMAT)
      if (part === '{}') this.#item = this.#nextItem()
      else text += part === '{{' ? '{' : part === '}}' ? '}' : part
      left--
    }
    this.#writer.bytes(new TextEncoder().encode(text))
    return undefined
  }

  #nextItem(): Formatter {
    const type = this.#restType
    if (type.kind !== 'struct' || !isFrameworkType(type, 'string_utils', 'Cons'))
      this.#context.abort(ARGUMENTS_MISMATCH)
    const [itemType, nextType] = (type as Type & { kind: 'struct' }).typeArguments
    const [item, next] = structOf(this.#rest).fields
    this.#restType = nextType!
    this.#rest = next!
    return new Formatter(this.#context, itemType!, item!, LIST_ITEM_STYLE)
  }
}
