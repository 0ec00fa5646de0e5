import { addressToShortHex, clip, declareErrors, LedgerStateError } from '@ledger-state/core'
import type { ModuleId } from './module-definition.js'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` of the byte in the binary. */
    invalid_module: { readonly offset?: number }
  }
}

/** Codes of binaries that cannot be read, and of types that have no layout. */
export type ModuleErrorCode =
  | 'invalid_module'
  | 'module_not_found'
  | 'struct_not_found'
  | 'type_argument_count'
  | 'unsupported_type'
  | 'type_too_large'

type ModuleError = LedgerStateError<ModuleErrorCode>

export function invalidModule(why: string, fields: { readonly offset?: number }): ModuleError {
  return new LedgerStateError('invalid_module', `the module cannot be read: ${why}`, fields)
}

function moduleText({ address, name }: ModuleId): string {
  return `${addressToShortHex(address)}::${clip(name)}`
}

export function moduleNotFound(module: ModuleId, struct: string): ModuleError {
  const message = `Could not find module ${moduleText(module)} of type ${moduleText(module)}::${clip(struct)}`
  return new LedgerStateError('module_not_found', message)
}

export function structNotFound(module: ModuleId, struct: string): ModuleError {
  const message = `Could not find struct named ${clip(struct)} in module ${moduleText(module)}`
  return new LedgerStateError('struct_not_found', message)
}

export const typeArgumentCount = declareErrors('type_argument_count', {
  wrongTypeArgumentCount: (module: ModuleId, struct: string, found: number, expected: number) => {
    const type = `${moduleText(module)}::${clip(struct)}`
    return `Wrong number of type arguments for struct ${type}: found ${found}, expected ${expected}`
  },
  unboundTypeParameter: (index: number, count: number) =>
    `a field uses type parameter ${index} (counted from 0), but its type has ${count}`,
})

export const unsupportedType = declareErrors('unsupported_type', {
  referenceType: () => 'a stored type cannot contain a reference',
  signerType: () => 'Type layouts cannot contain signer: it has no stored values',
  nativeType: (module: ModuleId, struct: string) => {
    const type = `${moduleText(module)}::${clip(struct)}`
    return `the native type ${type} has no layout`
  },
  needsModuleVersion: (what: string, since: number, found: number) =>
    `${what} needs module version ${since}; this module has version ${found}`,
})

export const typeTooLarge = declareErrors('type_too_large', {
  tooManyParts: (most: number, unit: string) => `the type has more than ${most} ${unit}`,
  abiTooLong: (most: number) => `the types of the module print to more than ${most} characters`,
})
