import { addressToShortHex, clip, LedgerStateError } from '@ledger-state/core'
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

export function wrongTypeArgumentCount(module: ModuleId, struct: string, found: number, expected: number): ModuleError {
  const type = `${moduleText(module)}::${clip(struct)}`
  const message = `Wrong number of type arguments for struct ${type}: found ${found}, expected ${expected}`
  return new LedgerStateError('type_argument_count', message)
}

export function unboundTypeParameter(index: number, count: number): ModuleError {
  return new LedgerStateError(
    'type_argument_count',
    `a field uses type parameter ${index} (counted from 0), but its type has ${count}`,
  )
}

export function referenceType(): ModuleError {
  return new LedgerStateError('unsupported_type', 'a stored type cannot contain a reference')
}

export function signerType(): ModuleError {
  return new LedgerStateError('unsupported_type', 'Type layouts cannot contain signer: it has no stored values')
}

export function nativeType(module: ModuleId, struct: string): ModuleError {
  const type = `${moduleText(module)}::${clip(struct)}`
  return new LedgerStateError('unsupported_type', `the native type ${type} has no layout`)
}

export function needsModuleVersion(what: string, since: number, found: number): ModuleError {
  return new LedgerStateError(
    'unsupported_type',
    `${what} needs module version ${since}; this module has version ${found}`,
  )
}

export function typeTooLarge(most: number, unit: string): ModuleError {
  return new LedgerStateError('type_too_large', `the type has more than ${most} ${unit}`)
}

export function abiTooLong(most: number): ModuleError {
  return new LedgerStateError('type_too_large', `the types of the module print to more than ${most} characters`)
}
