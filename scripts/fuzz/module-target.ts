import { readFileSync } from 'node:fs'
import { hexToBytes } from '@ledger-state/core'
import {
  layoutOf,
  type MoveModule,
  moduleAbi,
  readModule,
  readModuleInterface,
  type SignatureToken,
  type StructDefinition,
  writeModule,
} from '@ledger-state/move-module'
import type { Random } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { PRIMITIVE_TYPES } from '@ledger-state/type-tag'
import { expectOwnError, mutate, type Target } from './target.ts'

function generateToken(random: Random, depth: number): SignatureToken {
  const inner = () => generateToken(random, depth + 1)
  switch (depth > 4 ? 0 : random.below(6)) {
    case 1:
      return { kind: 'vector', element: inner() }
    case 2:
      return { kind: 'typeParameter', index: random.below(3) }
    case 3:
      return {
        kind: 'struct',
        module: { address: new Uint8Array(32), name: 'm' },
        name: `S${random.below(5)}`,
        typeArguments: Array.from({ length: random.below(3) }, inner),
      }
    case 4:
      return random.below(4) === 0
        ? { kind: 'function', abilities: random.below(16), parameters: [inner()], results: [] }
        : { kind: 'bool' }
    default:
      return { kind: random.pick(PRIMITIVE_TYPES) }
  }
}

function generateModule(random: Random, count = 5): MoveModule {
  const fields = () =>
    Array.from({ length: random.below(4) }, (_, at) => ({ name: `f${at}`, type: generateToken(random, 0) }))
  const structs = Array.from({ length: count }, (_, at): StructDefinition => {
    const definition = {
      name: `S${at}`,
      abilities: random.below(16),
      typeParameters: Array.from({ length: random.below(3) }, () => ({
        constraints: 0,
        phantom: random.below(2) === 0,
      })),
    }
    return random.below(2) === 0
      ? { ...definition, kind: 'struct', fields: fields() }
      : {
          ...definition,
          kind: 'enum',
          variants: [
            { name: 'A', fields: fields() },
            { name: 'B', fields: [] },
          ],
        }
  })
  return { version: 9 + random.below(2), address: new Uint8Array(32), name: 'm', structs }
}

/** Modules with functions, which `writeModule` does not make; none if the shared data is absent. */
const REAL_MODULES: readonly Uint8Array<ArrayBuffer>[] = hasSharedData
  ? (
      JSON.parse(readFileSync(sharedPath('cases/module-abi.json'), 'utf8')) as { cases: { bytecode: string }[] }
    ).cases.map(({ bytecode }) => Uint8Array.from(hexToBytes(bytecode)))
  : []

/** Modules, their ABIs, and the layouts of all types that they define. */
export const moduleTarget: Target = {
  name: 'module',
  generate: (() => {
    let binary = new Uint8Array(0)
    let uses = 0
    return (random: Random) => {
      // Each module is mutated several times: making one costs more than reading it.
      if (uses-- <= 0) {
        const withFunctions = REAL_MODULES.length > 0 && random.below(2) === 0
        binary = withFunctions ? random.pick(REAL_MODULES) : Uint8Array.from(writeModule(generateModule(random)))
        uses = 16
      }
      return mutate(random, binary)
    }
  })(),
  generateLong(random, size) {
    return writeModule(generateModule(random, size >> 5))
  },
  check(input) {
    let module: MoveModule
    try {
      module = readModule(input)
    } catch (error) {
      expectOwnError(error, 'invalid_module')
      return
    }
    try {
      JSON.stringify(moduleAbi(readModuleInterface(input)))
    } catch (error) {
      expectOwnError(error, 'invalid_module', 'type_too_large')
    }
    for (const { name, typeParameters } of module.structs) {
      const typeArguments = typeParameters.map(() => ({ kind: 'u8' as const }))
      try {
        layoutOf({ kind: 'struct', address: module.address, module: module.name, name, typeArguments }, () => module)
      } catch (error) {
        expectOwnError(error, 'struct_not_found', 'type_argument_count', 'unsupported_type', 'type_too_large')
      }
    }
  },
}
