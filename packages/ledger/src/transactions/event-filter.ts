import {
  codecOf,
  INTEGER_WIDTH,
  isJsonObject,
  JsonNumber,
  type JsonValue,
  jsonValueToText,
  type Layout,
  type LayoutField,
  parseJson,
} from '@ledger-state/bcs'
import { isLedgerStateError } from '@ledger-state/core'
import { type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import { invalidValue } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { isTypeFault } from '../types/type-faults.js'
import type { DecodedEvent } from './events.js'
import { renderContextAt } from './ledger-transaction.js'
import { valueToJson } from './render/render-context.js'

/** A field of an event, and the value that it must have. */
export interface FieldFilter {
  /** Name of the field; fields of inner structs follow after a dot. */
  readonly path: string
  /** The value as a text: `true`, `17`, `0x1`, or any text for a string. */
  readonly value: string
}

/** Tells which events have the wanted values. */
export interface EventFilter {
  /** Bytes of JSON that were made of the data of the events, so far. */
  readonly examinedBytes: number
  /** Whether an event has all values. An event that cannot be decoded has none. */
  matches(event: DecodedEvent): boolean
}

interface WantedField {
  readonly path: readonly string[]
  /** JSON of the wanted value. In an enum, a field may have another type in each variant. */
  readonly texts: ReadonlySet<string>
}

/**
 * Creates the filter of the events of a type.
 * @throws `invalid_value` if the type cannot be resolved at the version of the state, if it has no such field, or if
 *   the value does not fit the field
 */
export function createEventFilter(state: LedgerState, type: TypeTag, filters: readonly FieldFilter[]): EventFilter {
  const layout = layoutOf(state, type)
  const wanted = filters.map((filter) => wantedField(layout, type, filter))
  let examinedBytes = 0
  return {
    get examinedBytes() {
      return examinedBytes
    },
    matches({ version, event }) {
      const text = valueToJson(renderContextAt(state, version), event.type, event.data)
      if (text === undefined) return false
      examinedBytes += text.length
      const value = parsedJson(text)
      return wanted.every(({ path, texts }) => {
        const found = valueAt(value, path)
        return found !== undefined && texts.has(jsonValueToText(found))
      })
    },
  }
}

/** A JSON text; undefined if its values are nested too deep. */
function parsedJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_json')) return undefined
    throw error
  }
}

function layoutOf({ source, view }: LedgerState, type: TypeTag): Layout {
  try {
    return source.types.resolve(type, view).layout
  } catch (error) {
    if (isTypeFault(error)) throw invalidValue.filterTypeUnresolved(typeTagToText(type), error)
    throw error
  }
}

function wantedField(type: Layout, tag: TypeTag, { path: text, value }: FieldFilter): WantedField {
  const path = text.split('.')
  let layouts: readonly Layout[] = [type]
  for (const name of path) {
    const fields = layouts.flatMap(fieldsOf)
    layouts = [...new Set(fields.filter((field) => field.name === name).map((field) => field.layout))]
    if (layouts.length === 0) throw invalidValue.filterFieldUnknown(text, typeTagToText(tag), namesOf(fields))
  }
  const scalars = layouts.filter(isScalar)
  if (scalars.length === 0)
    throw invalidValue.filterFieldUnknown(text, typeTagToText(tag), namesOf(layouts.flatMap(fieldsOf)))
  return { path, texts: scalarTexts(scalars, text, value) }
}

/** The JSON of a value in the layouts that it fits. @throws `invalid_value` if it fits none */
function scalarTexts(layouts: readonly Layout[], path: string, value: string): ReadonlySet<string> {
  const texts = new Set<string>()
  let fault: unknown
  for (const layout of layouts) {
    const codec = codecOf(layout)
    try {
      texts.add(jsonValueToText(parseJson(codec.bytesToJson(codec.jsonToBytes(textToJson(layout, value))))))
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      fault ??= invalidValue.fieldValueInvalid(path, error)
    }
  }
  if (texts.size === 0) throw fault
  return texts
}

const OBJECT_FIELDS: readonly LayoutField[] = [{ name: 'inner', layout: { kind: 'address' } }]

function fieldsOf(layout: Layout): readonly LayoutField[] {
  if (layout.kind === 'object') return OBJECT_FIELDS
  if (layout.kind === 'struct') return layout.fields
  return layout.kind === 'enum' ? layout.variants.flatMap(({ fields }) => fields) : []
}

function namesOf(fields: readonly LayoutField[]): readonly string[] {
  return [...new Set(fields.map(({ name }) => name))]
}

/** Whether a field has one value: a boolean, an integer, an address, an object, a text, or bytes. */
function isScalar(layout: Layout): boolean {
  if (layout.kind === 'vector') return layout.element.kind === 'u8'
  return ['bool', 'address', 'object', 'string'].includes(layout.kind) || layout.kind in INTEGER_WIDTH
}

/** Most digits of a number: the digits of the least i256. */
const NUMBER = /^-?\d{1,78}$/

function textToJson({ kind }: Layout, text: string): JsonValue {
  if (kind === 'bool' && (text === 'true' || text === 'false')) return text === 'true'
  return kind in INTEGER_WIDTH && NUMBER.test(text) ? new JsonNumber(text) : text
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let inner = value
  for (const name of path) inner = inner !== undefined && isJsonObject(inner) ? inner.get(name) : undefined
  return inner
}
