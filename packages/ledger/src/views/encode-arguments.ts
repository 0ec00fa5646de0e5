import type { JsonValue } from '@ledger-state/bcs'
import { addressToLongHex, addressToShortHex, isLedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { type FunctionDefinition, isSigner, type SignatureToken, substitute } from '@ledger-state/move-module'
import { type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { ModuleInterfaces } from '../caches/module-interfaces.js'
import { viewArgumentInvalid } from '../errors.js'
import { isTypeFault } from '../types/type-faults.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { jsonValuesToDebugText } from './debug-text.js'
import type { ViewRequest } from './view-request.js'

/** Finds the signatures of the functions of a module. */
export type InterfaceFinder = Pick<ModuleInterfaces, 'find'>

/**
 * Encodes JSON arguments of a client in BCS. Signers cannot be given and are left out; the vm then finds too few
 * arguments.
 * @throws `view_argument_invalid`, with the texts of the reference
 */
export function encodeArguments(
  view: StateView,
  types: TypeResolver,
  interfaces: InterfaceFinder,
  request: ViewRequest,
  values: readonly JsonValue[],
): readonly Uint8Array[] {
  const { typeParameters, parameters } = findFunction(view, interfaces, request)
  const { typeArguments } = request
  const name = functionText(request)
  if (typeParameters.length !== typeArguments.length) {
    throw viewArgumentInvalid.viewTypeArgumentCount(name, typeParameters.length, typeArguments.length)
  }
  const expected = parameters.filter((token) => !isSigner(token))
  for (const token of expected)
    if (token.kind === 'reference') throw viewArgumentInvalid.viewParameterReference(token.mutable)
  if (expected.length !== values.length) {
    const names = expected.map(typeName).join(', ')
    throw viewArgumentInvalid.viewArgumentCount(expected.length, names, values.length, jsonValuesToDebugText(values))
  }
  return expected.map((token, at) => {
    const tag = substitute(token, typeArguments)
    if (!tag) throw viewArgumentInvalid.argument(at, typeName(token), 'functions cannot be given in JSON')
    return encodeArgument(view, types, tag, typeName(token), values[at]!, at)
  })
}

function findFunction(view: StateView, interfaces: InterfaceFinder, request: ViewRequest): FunctionDefinition {
  const { address, module } = request
  const found = readInterface(view, interfaces, request)
  if (!found) throw viewArgumentInvalid.viewModuleAbsent(addressToLongHex(address).slice(2), module)
  const definition = found.functions.find(({ name }) => name === request.function)
  if (!definition) throw viewArgumentInvalid.viewFunctionAbsent(functionText(request))
  return definition
}

function readInterface(view: StateView, interfaces: InterfaceFinder, { address, module }: ViewRequest) {
  try {
    return interfaces.find(view, { address, name: module })
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_module')) throw error
    throw viewArgumentInvalid.viewModuleUnreadable(addressToLongHex(address).slice(2), module, error)
  }
}

function encodeArgument(
  view: StateView,
  types: TypeResolver,
  tag: TypeTag,
  name: string,
  value: JsonValue,
  at: number,
): Uint8Array {
  try {
    return types.resolve(tag, view).jsonToBytes(value)
  } catch (error) {
    if (!isTypeFault(error) && !isLedgerStateError(error, 'invalid_module')) throw error
    throw viewArgumentInvalid.argument(at, `${name} (${typeTagToText(tag)})`, error.message, error)
  }
}

function functionText({ address, module, function: name }: ViewRequest): string {
  return `${addressToShortHex(address)}::${module}::${name}`
}

/** Name of a type in the reference's messages: the way in which its values are written in JSON. */
function typeName(token: SignatureToken): string {
  switch (token.kind) {
    case 'bool':
      return 'boolean'
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
      return `integer<${token.kind}>`
    case 'address':
    case 'signer':
      return 'string<address>'
    case 'vector':
      return token.element.kind === 'u8' ? 'string<hex>' : `array<${typeName(token.element)}>`
    case 'struct':
    case 'typeParameter':
      return 'string<move_struct_tag_id>'
    case 'function':
      return 'string<move_function_id>'
    case 'reference':
      return typeName(token.to)
    default:
      return `string<${token.kind}>`
  }
}
