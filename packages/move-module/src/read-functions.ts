import type { ByteReader } from '@ledger-state/core'
import { LIMIT, TABLE } from './binary-format.js'
import type { CodedFunction, FunctionHandle } from './module-code.js'
import type { FunctionDefinition, SignatureToken, Visibility } from './module-definition.js'
import { type ModuleTables, readBounded, readTableEntry } from './module-tables.js'
import { readInstructions, skipCode } from './read-code.js'
import type { Steps } from './steps.js'

// Tables of functions: see docs/ledger-formats.md, section "Module binaries".

const ACCESS_SPECIFIERS_VERSION = 7
const ATTRIBUTES_VERSION = 8

const VISIBILITIES: ReadonlyMap<number, Visibility> = new Map([
  [0, 'private'],
  [1, 'public'],
  [3, 'friend'],
])
const FLAG = { native: 2, entry: 4 } as const

type Signatures = readonly (readonly SignatureToken[])[]

/** Reads the functions that a module names, in the order of the binary. */
export function readFunctionHandles(tables: ModuleTables, signatures: Signatures): Steps<FunctionHandle[]> {
  return tables.entries(TABLE.functionHandles, (reader) => readFunctionHandle(reader, tables, signatures))
}

/** Reads the functions that a module defines, in the order of the binary, without code. */
export function* readFunctions(tables: ModuleTables): Steps<FunctionDefinition[]> {
  const handles = yield* readFunctionHandles(tables, yield* tables.signatures())
  return yield* tables.entries(TABLE.functionDefinitions, (reader) => {
    const { definition } = readFunctionDefinition(reader, tables, handles)
    if (!definition.isNative) {
      skipIndex(reader)
      skipCode(reader, tables.version)
    }
    return definition
  })
}

/** Same as `readFunctions`, with code. */
export function readCodedFunctions(
  tables: ModuleTables,
  signatures: Signatures,
  handles: readonly FunctionHandle[],
): Steps<CodedFunction[]> {
  return tables.longEntries(TABLE.functionDefinitions, (reader) =>
    readCodedFunction(reader, tables, signatures, handles),
  )
}

function* readCodedFunction(
  reader: ByteReader,
  tables: ModuleTables,
  signatures: Signatures,
  handles: readonly FunctionHandle[],
): Steps<CodedFunction> {
  const { definition, ...others } = readFunctionDefinition(reader, tables, handles)
  if (definition.isNative) return { ...definition, ...others }
  const locals = readTableEntry(reader, signatures, 'signature')
  const instructions = yield* readInstructions(reader, tables)
  return { ...definition, ...others, code: { locals, ...instructions } }
}

function readFunctionHandle(reader: ByteReader, tables: ModuleTables, signatures: Signatures): FunctionHandle {
  const module = tables.readModuleHandle(reader)
  const name = tables.readIdentifier(reader)
  const parameters = readTableEntry(reader, signatures, 'signature')
  const results = readTableEntry(reader, signatures, 'signature')
  const typeParameters = readList(reader, LIMIT.typeParameters, 'type parameters', () => reader.readU8())
  if (tables.version >= ACCESS_SPECIFIERS_VERSION) {
    skipOption(reader, () => skipList(reader, LIMIT.accessSpecifiers, 'access specifiers', skipAccessSpecifier))
  }
  const attributes =
    tables.version >= ATTRIBUTES_VERSION
      ? readList(reader, LIMIT.attributes, 'attributes', () => readAttribute(reader))
      : NO_ATTRIBUTES
  return { module, name, parameters, results, typeParameters, attributes }
}

const NO_ATTRIBUTES: readonly number[] = []

/** Reads the definition of a function up to its locals and code. */
function readFunctionDefinition(
  reader: ByteReader,
  tables: ModuleTables,
  handles: readonly FunctionHandle[],
): { definition: FunctionDefinition; attributes: readonly number[]; acquires: readonly number[] } {
  const handle = readTableEntry(reader, handles, 'function handle')
  const { name, parameters, results, typeParameters, attributes } = handle
  const start = reader.offset
  tables.expectOwn(handle.module, reader, start)
  const visibility = VISIBILITIES.get(reader.readU8())
  if (visibility === undefined) throw reader.fault('unknown visibility of a function', start)
  const flags = reader.readU8()
  if ((flags & ~(FLAG.native | FLAG.entry)) !== 0) throw reader.fault(`unknown flags ${flags} of a function`, start + 1)
  const acquires = readList(reader, LIMIT.index, 'acquired structs', () =>
    readBounded(reader, LIMIT.index, 'as an index'),
  )
  const isNative = (flags & FLAG.native) !== 0
  const isEntry = (flags & FLAG.entry) !== 0
  return {
    definition: { name, parameters, results, typeParameters, visibility, isNative, isEntry },
    attributes,
    acquires,
  }
}

function readList<T>(reader: ByteReader, most: number, what: string, readItem: () => T): T[] {
  const items: T[] = []
  for (let count = readBounded(reader, most, what); count > 0; count--) items.push(readItem())
  return items
}

function skipList(reader: ByteReader, most: number, what: string, skipItem: (reader: ByteReader) => void): void {
  for (let count = readBounded(reader, most, what); count > 0; count--) skipItem(reader)
}

/** Moves past an option: 1 if nothing follows, 2 if something does. */
function skipOption(reader: ByteReader, skipSome: () => void): void {
  const start = reader.offset
  const tag = reader.readU8()
  if (tag === 2) skipSome()
  else if (tag !== 1) throw reader.fault(`unknown tag ${tag} of an option`, start)
}

/** Moves past an index into a table. */
export function skipIndex(reader: ByteReader): void {
  readBounded(reader, LIMIT.index, 'as an index')
}

/** Number of indexes that follow each kind of resource in an access specifier. */
const INDEXES_OF_RESOURCE: ReadonlyMap<number, number> = new Map([
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 1],
  [5, 2],
])

/**
 * Moves past an access specifier: kind of access, whether it is negated, a resource, and an address, which is any, a
 * literal, or a parameter with an optional function.
 */
function skipAccessSpecifier(reader: ByteReader): void {
  reader.skip(2)
  const start = reader.offset
  const indexes = INDEXES_OF_RESOURCE.get(reader.readU8())
  if (indexes === undefined) throw reader.fault('unknown resource in an access specifier', start)
  for (let at = 0; at < indexes; at++) skipIndex(reader)
  const address = reader.offset
  switch (reader.readU8()) {
    case 1:
      return
    case 2:
      skipIndex(reader)
      return
    case 3:
      skipIndex(reader)
      skipOption(reader, () => skipIndex(reader))
      return
    default:
      throw reader.fault('unknown address in an access specifier', address)
  }
}

const LAST_ATTRIBUTE = 9
const ATTRIBUTES_WITH_OPERAND: ReadonlySet<number> = new Set([4, 6, 7, 8, 9])

function readAttribute(reader: ByteReader): number {
  const start = reader.offset
  const kind = reader.readU8()
  if (kind === 0 || kind > LAST_ATTRIBUTE) throw reader.fault(`unknown attribute ${kind} of a function`, start)
  if (ATTRIBUTES_WITH_OPERAND.has(kind)) reader.skip(2)
  return kind
}
