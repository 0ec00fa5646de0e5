import type { ModuleCode } from '@ledger-state/move-module'
import { verifyEntries } from './distinct-entries.js'
import { verifyInstantiations } from './instantiation-loops.js'
import { type StructNames, verifyStructs } from './struct-definitions.js'
import { verifyWellFormed } from './well-formed-entries.js'

/**
 * Verifies everything of a module but the code of its functions. It yields the work of steps, in types and entries.
 * @throws VmFault
 */
export function* verifyTables(code: ModuleCode, names: StructNames): Generator<number, void, void> {
  yield* verifyEntries(code)
  yield* verifyWellFormed(code, names)
  yield* verifyStructs(code, names)
  yield* verifyInstantiations(code)
}
