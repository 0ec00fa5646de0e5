import { atOnce, type ByteReader, isLedgerStateError } from '@ledger-state/core'
import type { StructTag } from '@ledger-state/type-tag'
import { LIMIT, TABLE } from './binary-format.js'
import { invalidModule } from './errors.js'
import type { Instantiation, ModuleCode } from './module-code.js'
import type { ModuleInterface, MoveModule, ScriptInterface, StructDefinition } from './module-definition.js'
import { type Attributes, readAttributes } from './module-metadata.js'
import { ModuleTables, readBounded, readTableEntry } from './module-tables.js'
import { skipCode } from './read-code.js'
import { readCodedFunctions, readFunctionHandles, readFunctions, skipIndex } from './read-functions.js'
import type { Steps } from './steps.js'

/** First version of the binary format in which attributes of functions and events count. */
const ATTRIBUTES_VERSION = 6

/**
 * Reads the struct and enum definitions of a compiled module, versions 5 to 10, in time linear in its length. It
 * verifies only the parts that definitions need: it reads every module that a chain accepts, and some that a chain
 * would refuse.
 * @throws `invalid_module` with `fields.offset`
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { readModule, writeModule } from '@ledger-state/move-module'
 *
 * const binary = writeModule({ version: 7, address: parseAddress('0xcafe'), name: 'empty', structs: [] })
 * console.log(readModule(binary).name) // empty
 * ```
 */
export function readModule(bytes: Uint8Array): MoveModule {
  return atOnce(blaming(readModuleInSteps(bytes)))
}

function* readModuleInSteps(bytes: Uint8Array): Steps<MoveModule> {
  const tables = yield* ModuleTables.open(bytes)
  return yield* readDefinitions(tables, readAttributes(yield* tables.metadata()))
}

/**
 * Same as `readModule`, with friends and functions. It steps over code, so a module with an unknown instruction is
 * refused.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleInterface(bytes: Uint8Array): ModuleInterface {
  return atOnce(readModuleInterfaceInSteps(bytes))
}

/**
 * Same as `readModuleInterface`, in steps. It yields the number of bytes that each step has read.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleInterfaceInSteps(bytes: Uint8Array): Generator<number, ModuleInterface, void> {
  return blaming(readInterfaceInSteps(bytes))
}

function* readInterfaceInSteps(bytes: Uint8Array): Steps<ModuleInterface> {
  const tables = yield* ModuleTables.open(bytes)
  const attributes = readAttributes(yield* tables.metadata())
  const counts = tables.version >= ATTRIBUTES_VERSION
  return {
    ...(yield* readDefinitions(tables, attributes)),
    friends: yield* tables.friends(),
    functions: yield* readFunctions(tables),
    views: counts ? attributes.views : new Set(),
    events: counts ? attributes.events : new Set(),
  }
}

/**
 * Reads the signature of a compiled script. It steps over the code, so a script with an unknown instruction is refused.
 * @throws `invalid_module` with `fields.offset`
 */
export function readScript(bytes: Uint8Array): ScriptInterface {
  return atOnce(blaming(readScriptInSteps(bytes)))
}

function* readScriptInSteps(bytes: Uint8Array): Steps<ScriptInterface> {
  const { tables, body } = yield* ModuleTables.openScript(bytes)
  const signatures = yield* tables.signatures()
  const typeParameters: number[] = []
  const count = readBounded(body, LIMIT.typeParameters, 'type parameters')
  for (let at = 0; at < count; at++) typeParameters.push(body.readU8())
  const parameters = readTableEntry(body, signatures, 'signature')
  skipIndex(body)
  skipCode(body, tables.version)
  return { typeParameters, parameters }
}

/**
 * Reads everything of a compiled module that is needed to run it. Instructions are decoded and not verified: their
 * operands may name entries that do not exist.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleCode(bytes: Uint8Array): ModuleCode {
  return atOnce(readModuleCodeInSteps(bytes))
}

/**
 * Same as `readModuleCode`, in steps of a fraction of a millisecond. It yields the number of bytes that each step has
 * read.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleCodeInSteps(bytes: Uint8Array): Generator<number, ModuleCode, void> {
  return blaming(readCodeInSteps(bytes))
}

function* readCodeInSteps(bytes: Uint8Array): Steps<ModuleCode> {
  const tables = yield* ModuleTables.open(bytes)
  const attributes = readAttributes(yield* tables.metadata())
  const signatures = yield* tables.signatures()
  const functionHandles = yield* readFunctionHandles(tables, signatures)
  const definitions = yield* readDefinitions(tables, attributes)
  const instantiations = (kind: number, of: readonly unknown[]): Steps<Instantiation[]> =>
    tables.entries(kind, (reader) => ({
      of: readIndex(reader, of.length),
      typeArguments: readTableEntry(reader, signatures, 'signature'),
    }))
  const structIndex = (reader: ByteReader) => readIndex(reader, definitions.structs.length)
  const small = (reader: ByteReader) => readBounded(reader, LIMIT.index, 'as an index')
  const fieldHandles = yield* tables.entries(TABLE.fieldHandles, (reader) => ({
    struct: structIndex(reader),
    field: small(reader),
  }))
  const variantFieldHandles = yield* tables.entries(TABLE.variantFieldHandles, (reader) => {
    const struct = structIndex(reader)
    const field = small(reader)
    const variants: number[] = []
    for (let count = readBounded(reader, LIMIT.variants, 'variants'); count > 0; count--) variants.push(small(reader))
    return { struct, field, variants }
  })
  const variantHandles = yield* tables.entries(TABLE.variantHandles, (reader) => ({
    struct: structIndex(reader),
    variant: small(reader),
  }))
  return {
    ...definitions,
    self: tables.self,
    identifiers: tables.identifiers,
    addresses: tables.addresses,
    moduleHandles: tables.moduleHandles,
    friends: yield* tables.friends(),
    functions: yield* readCodedFunctions(tables, signatures, functionHandles),
    structHandles: tables.structHandles,
    functionHandles,
    functionInstantiations: yield* instantiations(TABLE.functionInstantiations, functionHandles),
    signatures,
    constants: yield* tables.entries(TABLE.constants, (reader) => ({
      type: tables.readToken(reader),
      bytes: reader.readBytes(readBounded(reader, LIMIT.constantBytes, 'bytes in a constant')),
    })),
    structInstantiations: yield* instantiations(TABLE.structInstantiations, definitions.structs),
    fieldHandles,
    fieldInstantiations: yield* instantiations(TABLE.fieldInstantiations, fieldHandles),
    variantFieldHandles,
    variantFieldInstantiations: yield* instantiations(TABLE.variantFieldInstantiations, variantFieldHandles),
    variantHandles,
    variantInstantiations: yield* instantiations(TABLE.variantInstantiations, variantHandles),
    views: attributes.views,
    errors: attributes.errors,
    tokenCount: tables.tokenCount,
  }
}

function readIndex(reader: ByteReader, count: number): number {
  const start = reader.offset
  const index = readBounded(reader, LIMIT.index, 'as an index')
  if (index >= count) throw reader.fault(`index ${index} into a table of ${count}`, start)
  return index
}

function* readDefinitions(tables: ModuleTables, { groups }: Attributes): Steps<MoveModule> {
  const structs = (yield* tables.structDefinitions()).map((one) => withGroup(one, groups.get(one.name)))
  return { ...tables.self, version: tables.version, structs }
}

function withGroup(definition: StructDefinition, resourceGroup: StructTag | undefined): StructDefinition {
  return resourceGroup ? { ...definition, resourceGroup } : definition
}

function* blaming<T>(steps: Steps<T>): Steps<T> {
  try {
    return yield* steps
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw invalidModule(error.message, error.fields)
  }
}
