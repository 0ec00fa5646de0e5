import { AscendingKeys, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, readName, type StructTag } from '@ledger-state/type-tag'
import type { ErrorDescription } from './module-code.js'

// Metadata that the Aptos compiler writes into a module; see docs/ledger-formats.md, section "Module metadata".

export interface MetadataEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export const ATTRIBUTES_KEY = 'aptos::metadata_v1'
/** Key of the metadata of older modules. Its value has only the errors. */
const ERRORS_KEY = 'aptos::metadata_v0'

const STRUCT_ATTRIBUTE = { groupMember: 3, event: 4 } as const
/** Kinds of the attribute that marks a view: one of the newer compiler, one of an older compiler. */
const VIEW_ATTRIBUTES: ReadonlySet<number> = new Set([1, 0])

export interface Attributes {
  /** Resource group of each struct that is a member of one, by the name of the struct. */
  readonly groups: ReadonlyMap<string, StructTag>
  /** Names of the structs that are events. */
  readonly events: ReadonlySet<string>
  /** Names of the functions that are views. */
  readonly views: ReadonlySet<string>
  /** Errors by abort code. */
  readonly errors: ReadonlyMap<bigint, ErrorDescription>
}

interface Attribute {
  readonly kind: number
  readonly argument: string | undefined
}

/**
 * Reads the attributes of a module from its metadata. Metadata that cannot be parsed to its end counts as absent: a
 * chain accepts any, and the definitions of the module are still good.
 */
export function readAttributes(entries: readonly MetadataEntry[]): Attributes {
  const groups = new Map<string, StructTag>()
  const events = new Set<string>()
  const views = new Set<string>()
  const parsed = parseMetadata(entries)
  for (const [struct, attributes] of parsed?.structs ?? []) {
    for (const { kind, argument } of attributes) {
      if (kind === STRUCT_ATTRIBUTE.event) events.add(struct)
      const group = kind === STRUCT_ATTRIBUTE.groupMember && argument !== undefined ? toGroup(argument) : undefined
      if (group) groups.set(struct, group)
    }
  }
  for (const [name, attributes] of parsed?.functions ?? []) {
    if (attributes.some(({ kind }) => VIEW_ATTRIBUTES.has(kind))) views.add(name)
  }
  return { groups, events, views, errors: parsed?.errors ?? new Map() }
}

type AttributesByName = readonly (readonly [name: string, attributes: readonly Attribute[]])[]

interface ParsedMetadata {
  readonly errors: ReadonlyMap<bigint, ErrorDescription>
  readonly structs: AttributesByName
  readonly functions: AttributesByName
}

function parseMetadata(entries: readonly MetadataEntry[]): ParsedMetadata | undefined {
  const attributes = entries.find(({ key }) => compareBytes(key, ATTRIBUTES_KEY_BYTES) === 0)
  const entry = attributes ?? entries.find(({ key }) => compareBytes(key, ERRORS_KEY_BYTES) === 0)
  if (!entry) return undefined
  try {
    const reader = new ByteReader(entry.value)
    const errors = readErrors(reader)
    const structs = attributes ? readAttributesByName(reader) : []
    const functions = attributes ? readAttributesByName(reader) : []
    reader.expectEnd()
    return { errors, structs, functions }
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

const ATTRIBUTES_KEY_BYTES = new TextEncoder().encode(ATTRIBUTES_KEY)
const ERRORS_KEY_BYTES = new TextEncoder().encode(ERRORS_KEY)

/**
 * Reads the errors. Compilers write the codes in ascending order. Other orders are accepted, so that the marks after
 * the errors count.
 */
function readErrors(reader: ByteReader): ReadonlyMap<bigint, ErrorDescription> {
  return new Map(
    readList(reader, () => {
      const code = reader.readU64()
      const name = readName(reader)
      return [code, { name, text: readName(reader) }] as const
    }),
  )
}

function readAttributesByName(reader: ByteReader): AttributesByName {
  return readMap(reader, () => {
    const name = readName(reader)
    return () => [name, readList(reader, () => readAttribute(reader))] as const
  })
}

function readAttribute(reader: ByteReader): Attribute {
  const kind = reader.readU8()
  const [argument] = readList(reader, () => readName(reader))
  return { kind, argument }
}

/** Reads a map. `readKey` reads a key and returns the function that reads its value. */
function readMap<T>(reader: ByteReader, readKey: () => () => T): T[] {
  const keys = new AscendingKeys(reader)
  return readList(reader, () => {
    const start = reader.offset
    const readValue = readKey()
    keys.expectNext(start)
    return readValue()
  })
}

function readList<T>(reader: ByteReader, readItem: () => T): T[] {
  const items: T[] = []
  for (let count = reader.readLength(); count > 0; count--) items.push(readItem())
  return items
}

function toGroup(text: string): StructTag | undefined {
  try {
    return parseStructTag(text)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_type_tag')) return undefined
    throw error
  }
}
