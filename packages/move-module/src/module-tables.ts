import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import { primitiveTag } from '@ledger-state/type-tag'
import {
  DOLLAR_VERSION,
  ENUM_VERSION,
  FIELDS,
  FLAVOUR,
  FLAVOURED_VERSION,
  LIMIT,
  MAGIC,
  NEWEST_VERSION,
  OLDEST_VERSION,
  TABLE,
  TOKEN,
} from './binary-format.js'
import type { StructHandle } from './module-code.js'
import type {
  FieldDefinition,
  ModuleId,
  SignatureToken,
  StructDefinition,
  TypeParameter,
  VariantDefinition,
} from './module-definition.js'
import type { MetadataEntry } from './module-metadata.js'
import { STEP_BYTES, type Steps } from './steps.js'

const TOKEN_KIND: ReadonlyMap<number, { readonly kind: keyof typeof TOKEN; readonly since: number }> = new Map(
  Object.entries(TOKEN).map(([kind, { tag, since }]) => [tag, { kind: kind as keyof typeof TOKEN, since }]),
)

/**
 * The tables of a module binary that names and types need. `open` reads the headers and these tables; `entries` reads
 * others. Every fault is `invalid_bcs`.
 */
export class ModuleTables {
  readonly version: number
  readonly #bytes: Uint8Array
  readonly #frame: ByteReader
  readonly #tables: ReadonlyMap<number, { readonly start: number; readonly end: number }>
  #identifiers: readonly string[] = []
  #addresses: readonly Uint8Array[] = []
  #moduleHandles: readonly ModuleId[] = []
  #structHandles: readonly StructHandle[] = []
  #self: ModuleId | undefined
  #parts = 0
  #tokens = 0
  /** Number of types that were read before the current one. */
  #typeStart = 0
  /** Offset at which the current step began. */
  #stepStart = 0

  static *open(bytes: Uint8Array): Steps<ModuleTables> {
    const tables = new ModuleTables(bytes)
    yield* tables.#readNames()
    tables.#self = readTableEntry(tables.#frame, tables.#moduleHandles, 'module handle')
    return tables
  }

  /** Same as `open`, for a script, which has no module handle of its own. `body` is the reader after the tables. */
  static *openScript(bytes: Uint8Array): Steps<{ readonly tables: ModuleTables; readonly body: ByteReader }> {
    const tables = new ModuleTables(bytes)
    yield* tables.#readNames()
    return { tables, body: tables.#frame }
  }

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#frame = new ByteReader(bytes)
    this.version = this.#readVersion()
    this.#tables = this.#readTableHeaders()
  }

  *#readNames(): Steps<void> {
    this.#identifiers = yield* this.entries(TABLE.identifiers, (reader) => readIdentifier(reader, this.version))
    this.#addresses = yield* this.entries(TABLE.addresses, (reader) => new Uint8Array(reader.readBytes(ADDRESS_LENGTH)))
    this.#moduleHandles = yield* this.entries(TABLE.moduleHandles, (reader) => this.#readModuleId(reader))
    this.#structHandles = yield* this.entries(TABLE.structHandles, (reader) => this.#readStructHandle(reader))
  }

  /** The module itself. */
  get self(): ModuleId {
    return this.#self!
  }

  get identifiers(): readonly string[] {
    return this.#identifiers
  }

  get addresses(): readonly Uint8Array[] {
    return this.#addresses
  }

  get moduleHandles(): readonly ModuleId[] {
    return this.#moduleHandles
  }

  /** The structs that the module names, in the order of the binary. */
  get structHandles(): readonly StructHandle[] {
    return this.#structHandles
  }

  /** Number of types that were read, those within types included. */
  get tokenCount(): number {
    return this.#tokens
  }

  /** Entries of a table; none if the module has no such table. */
  *entries<T>(kind: number, readEntry: (reader: ByteReader) => T): Steps<T[]> {
    const items: T[] = []
    const reader = this.#beginTable(kind)
    while (reader && reader.remaining > 0) {
      this.#countPart(reader)
      items.push(readEntry(reader))
      if (this.isStepOver(reader)) yield this.endStep(reader)
    }
    return items
  }

  /** Same as `entries`, for entries that take several steps. */
  *longEntries<T>(kind: number, readEntry: (reader: ByteReader) => Steps<T>): Steps<T[]> {
    const items: T[] = []
    const reader = this.#beginTable(kind)
    while (reader && reader.remaining > 0) {
      this.#countPart(reader)
      items.push(yield* readEntry(reader))
      if (this.isStepOver(reader)) yield this.endStep(reader)
    }
    return items
  }

  #beginTable(kind: number): ByteReader | undefined {
    const table = this.#tables.get(kind)
    if (!table) return undefined
    this.#stepStart = table.start
    return new ByteReader(this.#bytes, table.start, table.end)
  }

  /** Whether the current step has read so much that it should end. */
  isStepOver(reader: ByteReader): boolean {
    return reader.offset - this.#stepStart >= STEP_BYTES
  }

  /** Ends the current step. Returns the number of bytes that it read. */
  endStep(reader: ByteReader): number {
    const length = reader.offset - this.#stepStart
    this.#stepStart = reader.offset
    return length
  }

  #countPart(reader: ByteReader): void {
    if (++this.#parts > LIMIT.parts) throw reader.fault(`more than ${LIMIT.parts} names, types and definitions`)
  }

  structDefinitions(): Steps<StructDefinition[]> {
    return this.longEntries(TABLE.structDefinitions, (reader) => this.#readStructDefinition(reader))
  }

  metadata(): Steps<MetadataEntry[]> {
    return this.entries(TABLE.metadata, readMetadataEntry)
  }

  friends(): Steps<ModuleId[]> {
    return this.entries(TABLE.friends, (reader) => this.#readModuleId(reader))
  }

  signatures(): Steps<(readonly SignatureToken[])[]> {
    return this.longEntries(TABLE.signatures, (reader) => this.#readSignature(reader))
  }

  *#readSignature(reader: ByteReader): Steps<readonly SignatureToken[]> {
    const count = readBounded(reader, LIMIT.signatureTokens, 'types in a signature')
    const tokens: SignatureToken[] = []
    for (let at = 0; at < count; at++) {
      tokens.push(this.#readToken(reader, 0))
      if (this.isStepOver(reader)) yield this.endStep(reader)
    }
    return tokens
  }

  /** Expects that a definition is of this module. */
  expectOwn(module: ModuleId, reader: ByteReader, start: number): void {
    if (module !== this.self) throw reader.fault('a definition of another module', start)
  }

  readIdentifier(reader: ByteReader): string {
    return readTableEntry(reader, this.#identifiers, 'identifier')
  }

  /** Reads a complete type. */
  readToken(reader: ByteReader): SignatureToken {
    return this.#readToken(reader, 0)
  }

  readModuleHandle(reader: ByteReader): ModuleId {
    return readTableEntry(reader, this.#moduleHandles, 'module handle')
  }

  #readModuleId(reader: ByteReader): ModuleId {
    const address = readTableEntry(reader, this.#addresses, 'address')
    return { address, name: this.readIdentifier(reader) }
  }

  #readVersion(): number {
    const reader = this.#frame
    for (const byte of MAGIC) {
      if (reader.readU8() !== byte) throw reader.fault('a compiled module begins with a1 1c eb 0b', 0)
    }
    const word = reader.readU32()
    const plain = word & 0xff_ffff
    const version = plain >= FLAVOURED_VERSION && word - plain === FLAVOUR ? plain : word
    if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
      throw reader.fault(`module version ${version}, ${OLDEST_VERSION} to ${NEWEST_VERSION} are read`, MAGIC.length)
    }
    return version
  }

  /** Reads the offset and length of each table, by kind. The reader is left after the tables. */
  #readTableHeaders(): ReadonlyMap<number, { start: number; end: number }> {
    const reader = this.#frame
    const count = readBounded(reader, LIMIT.tables, 'tables')
    const headers: { kind: number; offset: number; length: number }[] = []
    for (let at = 0; at < count; at++) {
      headers.push({ kind: reader.readU8(), offset: reader.readUleb128(), length: reader.readUleb128() })
    }
    headers.sort((a, b) => a.offset - b.offset)
    const contents = reader.offset
    const tables = new Map<number, { start: number; end: number }>()
    let expected = 0
    for (const { kind, offset, length } of headers) {
      if (offset !== expected || length === 0) throw reader.fault(`table ${kind} does not follow the one before it`)
      if (tables.has(kind)) throw reader.fault(`table ${kind} occurs twice`)
      const start = reader.skip(length)
      tables.set(kind, { start, end: start + length })
      expected = reader.offset - contents
    }
    return tables
  }

  #readStructHandle(reader: ByteReader): StructHandle {
    const module = this.readModuleHandle(reader)
    const name = this.readIdentifier(reader)
    const abilities = reader.readU8()
    const count = readBounded(reader, LIMIT.typeParameters, 'type parameters')
    const typeParameters: TypeParameter[] = []
    for (let at = 0; at < count; at++) {
      this.#countPart(reader)
      typeParameters.push({ constraints: reader.readU8(), phantom: reader.readBool() })
    }
    return { module, name, abilities, typeParameters }
  }

  *#readStructDefinition(reader: ByteReader): Steps<StructDefinition> {
    const { module, name, abilities, typeParameters } = readTableEntry(reader, this.#structHandles, 'struct handle')
    const definition = { name, abilities, typeParameters }
    const start = reader.offset
    this.expectOwn(module, reader, start)
    const flag = reader.readU8()
    if (flag === FIELDS.native) return { kind: 'native', ...definition }
    if (flag === FIELDS.declared) return { kind: 'struct', ...definition, fields: yield* this.#readFields(reader) }
    if (flag !== FIELDS.variants || this.version < ENUM_VERSION)
      throw reader.fault(`unknown kind ${flag} of fields`, start)
    const count = readBounded(reader, LIMIT.variants, 'variants')
    const variants: VariantDefinition[] = []
    for (let at = 0; at < count; at++) {
      this.#countPart(reader)
      const variantName = this.readIdentifier(reader)
      variants.push({ name: variantName, fields: yield* this.#readFields(reader) })
    }
    return { kind: 'enum', ...definition, variants }
  }

  *#readFields(reader: ByteReader): Steps<FieldDefinition[]> {
    const count = readBounded(reader, LIMIT.fields, 'fields')
    const fields: FieldDefinition[] = []
    for (let at = 0; at < count; at++) {
      const name = this.readIdentifier(reader)
      fields.push({ name, type: this.#readToken(reader, 0) })
      if (this.isStepOver(reader)) yield this.endStep(reader)
    }
    return fields
  }

  #readTokens(reader: ByteReader, count: number, depth: number): SignatureToken[] {
    const tokens: SignatureToken[] = []
    for (let at = 0; at < count; at++) tokens.push(this.#readToken(reader, depth))
    return tokens
  }

  #readToken(reader: ByteReader, depth: number): SignatureToken {
    const start = reader.offset
    this.#countPart(reader)
    if (depth === 0) this.#typeStart = this.#tokens
    this.#tokens++
    if (this.#tokens - this.#typeStart > LIMIT.typeParts) {
      throw reader.fault(`a type of more than ${LIMIT.typeParts} types`, start)
    }
    if (depth > LIMIT.tokenDepth) throw reader.fault(`types are nested more than ${LIMIT.tokenDepth} levels deep`)
    const token = TOKEN_KIND.get(reader.readU8())
    if (!token || token.since > this.version) throw reader.fault(`unknown type in version ${this.version}`, start)
    const inner = () => this.#readToken(reader, depth + 1)
    switch (token.kind) {
      case 'vector':
        return { kind: 'vector', element: inner() }
      case 'reference':
      case 'mutableReference':
        return { kind: 'reference', mutable: token.kind === 'mutableReference', to: inner() }
      case 'typeParameter':
        return { kind: 'typeParameter', index: readBounded(reader, LIMIT.typeParameterIndex, 'type parameter index') }
      case 'struct':
      case 'genericStruct': {
        const { module, name } = readTableEntry(reader, this.#structHandles, 'struct handle')
        const generic = token.kind === 'genericStruct'
        const count = generic ? readBounded(reader, LIMIT.typeParameters, 'type arguments') : 0
        if (generic && count === 0) throw reader.fault('a generic struct without type arguments', start)
        return { kind: 'struct', module, name, typeArguments: this.#readTokens(reader, count, depth + 1) }
      }
      case 'function': {
        const abilities = reader.readU8()
        const parameterCount = readBounded(reader, LIMIT.signatureTokens, 'parameters')
        const resultCount = readBounded(reader, LIMIT.signatureTokens, 'results')
        const parameters = this.#readTokens(reader, parameterCount, depth + 1)
        const results = this.#readTokens(reader, resultCount, depth + 1)
        return { kind: 'function', abilities, parameters, results }
      }
      default:
        return primitiveTag(token.kind)!
    }
  }
}

function readMetadataEntry(reader: ByteReader): MetadataEntry {
  const key = reader.readBytes(readBounded(reader, LIMIT.metadataKeyBytes, 'bytes in a metadata key'))
  const value = reader.readBytes(readBounded(reader, LIMIT.metadataValueBytes, 'bytes of metadata'))
  return { key, value }
}

const IDENTIFIER = /^(?:[a-zA-Z][a-zA-Z0-9_$]*|[_$][a-zA-Z0-9_$]+|<SELF>(?:_[0-9]+)?)$/

function readIdentifier(reader: ByteReader, version: number): string {
  const start = reader.offset
  const bytes = reader.readBytes(readBounded(reader, LIMIT.identifierBytes, 'bytes in an identifier'))
  const name = decodeUtf8(bytes)
  if (name === undefined || !IDENTIFIER.test(name) || (version < DOLLAR_VERSION && name.includes('$'))) {
    throw reader.fault('a name that is not an identifier', start)
  }
  return name
}

export function readBounded(reader: ByteReader, most: number, what: string): number {
  const start = reader.offset
  const value = reader.readUleb128()
  if (value > most) throw reader.fault(`expected at most ${most} ${what}, found ${value}`, start)
  return value
}

export function readTableEntry<T>(reader: ByteReader, table: readonly T[], what: string): T {
  const start = reader.offset
  const index = readBounded(reader, LIMIT.index, `as index of ${what}`)
  if (index >= table.length) throw reader.fault(`${what} ${index} of ${table.length}`, start)
  return table[index]!
}
