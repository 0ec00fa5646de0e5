import { type ByteReader, isLedgerStateError } from '@ledger-state/core'
import type { StructTag } from '@ledger-state/type-tag'
import { LIMIT, TABLE } from './binary-format.js'
import { invalidModule } from './errors.js'
import type { Instantiation, ModuleCode } from './module-code.js'
import type { ModuleInterface, MoveModule, StructDefinition } from './module-definition.js'
import { type Attributes, readAttributes } from './module-metadata.js'
import { ModuleTables, readBounded, readTableEntry } from './module-tables.js'
import { readCodedFunctions, readFunctionHandles, readFunctions } from './read-functions.js'

/** First version of the binary format in which attributes of functions and events count. */
const ATTRIBUTES_VERSION = 6

/**
 * Reads the struct and enum definitions of a compiled module, versions 5 to 10, in time linear in its length. It
 * verifies only what definitions need: it reads every module that a chain accepts, and some that a chain would refuse.
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
  return blaming(() => {
    const tables = new ModuleTables(bytes)
    return readDefinitions(tables, readAttributes(tables.metadata()))
  })
}

/**
 * Same as `readModule`, with friends and functions. It steps over code, so a module with an unknown instruction is
 * refused.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleInterface(bytes: Uint8Array): ModuleInterface {
  return blaming(() => {
    const tables = new ModuleTables(bytes)
    const attributes = readAttributes(tables.metadata())
    const counts = tables.version >= ATTRIBUTES_VERSION
    return {
      ...readDefinitions(tables, attributes),
      friends: tables.friends(),
      functions: readFunctions(tables),
      views: counts ? attributes.views : new Set(),
      events: counts ? attributes.events : new Set(),
    }
  })
}

/**
 * Reads everything of a compiled module that is needed to run it. Instructions are decoded and not verified: their
 * operands may name entries that do not exist.
 * @throws `invalid_module` with `fields.offset`
 */
export function readModuleCode(bytes: Uint8Array): ModuleCode {
  return blaming(() => {
    const tables = new ModuleTables(bytes)
    const attributes = readAttributes(tables.metadata())
    const signatures = tables.signatures()
    const functionHandles = readFunctionHandles(tables, signatures)
    const definitions = readDefinitions(tables, attributes)
    const instantiations = (kind: number, of: readonly unknown[]): Instantiation[] =>
      tables.entries(kind, (reader) => ({
        of: readIndex(reader, of.length),
        typeArguments: readTableEntry(reader, signatures, 'signature'),
      }))
    const structIndex = (reader: ByteReader) => readIndex(reader, definitions.structs.length)
    const small = (reader: ByteReader) => readBounded(reader, LIMIT.index, 'as an index')
    const fieldHandles = tables.entries(TABLE.fieldHandles, (reader) => ({
      struct: structIndex(reader),
      field: small(reader),
    }))
    const variantFieldHandles = tables.entries(TABLE.variantFieldHandles, (reader) => {
      const struct = structIndex(reader)
      const field = small(reader)
      const variants: number[] = []
      for (let count = readBounded(reader, LIMIT.variants, 'variants'); count > 0; count--) variants.push(small(reader))
      return { struct, field, variants }
    })
    const variantHandles = tables.entries(TABLE.variantHandles, (reader) => ({
      struct: structIndex(reader),
      variant: small(reader),
    }))
    return {
      ...definitions,
      friends: tables.friends(),
      functions: readCodedFunctions(tables, signatures, functionHandles),
      functionHandles,
      functionInstantiations: instantiations(TABLE.functionInstantiations, functionHandles),
      signatures,
      constants: tables.entries(TABLE.constants, (reader) => ({
        type: tables.readToken(reader),
        bytes: reader.readBytes(readBounded(reader, LIMIT.constantBytes, 'bytes in a constant')),
      })),
      structInstantiations: instantiations(TABLE.structInstantiations, definitions.structs),
      fieldHandles,
      fieldInstantiations: instantiations(TABLE.fieldInstantiations, fieldHandles),
      variantFieldHandles,
      variantFieldInstantiations: instantiations(TABLE.variantFieldInstantiations, variantFieldHandles),
      variantHandles,
      variantInstantiations: instantiations(TABLE.variantInstantiations, variantHandles),
      views: attributes.views,
      errors: attributes.errors,
    }
  })
}

function readIndex(reader: ByteReader, count: number): number {
  const start = reader.offset
  const index = readBounded(reader, LIMIT.index, 'as an index')
  if (index >= count) throw reader.fault(`index ${index} into a table of ${count}`, start)
  return index
}

function readDefinitions(tables: ModuleTables, { groups }: Attributes): MoveModule {
  const structs = tables.structDefinitions().map((one) => withGroup(one, groups.get(one.name)))
  return { ...tables.self, version: tables.version, structs }
}

function withGroup(definition: StructDefinition, resourceGroup: StructTag | undefined): StructDefinition {
  return resourceGroup ? { ...definition, resourceGroup } : definition
}

function blaming<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw invalidModule(error.message, error.fields)
  }
}
