import { isLedgerStateError } from '@ledger-state/core'
import type { StructTag } from '@ledger-state/type-tag'
import { invalidModule } from './errors.js'
import type { ModuleInterface, MoveModule, StructDefinition } from './module-definition.js'
import { type Attributes, readAttributes } from './module-metadata.js'
import { ModuleTables } from './module-tables.js'
import { readFunctions } from './read-functions.js'

/** The first version in which attributes of functions and events count. */
const ATTRIBUTES_VERSION = 6

/**
 * Reads the struct and enum definitions of a compiled module, versions 5 to 10, in time linear in its length.
 * Nothing is verified beyond what definitions need: every module that a chain accepted is read, and some that it would
 * refuse.
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
 * As `readModule`, with friends and functions. Code is stepped over: a module with an unknown instruction is refused.
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
