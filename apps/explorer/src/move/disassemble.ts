import { addressToShortHex, hexToBytes } from '@ledger-state/core'
import {
  ABILITY,
  type FieldDefinition,
  type FunctionDefinition,
  type ModuleId,
  type ModuleInterface,
  readModuleInterface,
  type StructDefinition,
} from '@ledger-state/move-module'
import { SignaturePrinter } from './signature-printer.ts'

export interface FieldText {
  readonly name: string
  readonly type: string
}

/** A type as its module declares it. */
export interface TypeDeclaration {
  readonly kind: StructDefinition['kind']
  readonly name: string
  /** Type parameters such as `<T0: copy + drop, phantom T1>`. */
  readonly parameters: string
  readonly abilities: readonly string[]
  readonly isEvent: boolean
  /** Group in which the resource is stored with others, if it is in one. */
  readonly group: string | undefined
  /** Variants of an enum; a struct has one variant without a name. */
  readonly variants: readonly { readonly name: string | undefined; readonly fields: readonly FieldText[] }[]
}

export interface FunctionDeclaration {
  readonly name: string
  readonly visibility: FunctionDefinition['visibility']
  readonly isEntry: boolean
  readonly isView: boolean
  /** Signature such as `public entry fun name<T0: store>(&signer, u64): bool`. */
  readonly signature: string
  readonly typeParameterCount: number
  /** Types as the module writes them; its own type parameters are `T0`, `T1` and so on. */
  readonly parameters: readonly string[]
  readonly results: readonly string[]
}

export interface Disassembly {
  /** Version of the binary format. */
  readonly formatVersion: number
  readonly friends: readonly string[]
  readonly types: readonly TypeDeclaration[]
  /** All functions, also private ones. */
  readonly functions: readonly FunctionDeclaration[]
}

/**
 * The declarations in a module's binary. It has variants of enums and private functions, which the ABI lacks.
 * @param bytecode binary of the module, in hex
 * @throws `invalid_module`
 */
export function disassemble(bytecode: string): Disassembly {
  const module = readModuleInterface(hexToBytes(bytecode))
  const printer = new SignaturePrinter()
  return {
    formatVersion: module.version,
    friends: module.friends.map(moduleToText),
    types: module.structs.map((one) => declareType(one, module, printer)),
    functions: module.functions.map((one) => declareFunction(one, module.views.has(one.name), printer)),
  }
}

function declareType(
  definition: StructDefinition,
  module: ModuleInterface,
  printer: SignaturePrinter,
): TypeDeclaration {
  const { kind, name, abilities, typeParameters, resourceGroup } = definition
  const fieldsOf = (fields: readonly FieldDefinition[]): FieldText[] =>
    fields.map((field) => ({ name: field.name, type: printer.print(field.type) }))
  return {
    kind,
    name,
    parameters: parametersToText(
      typeParameters.map(({ constraints, phantom }) => ({ constraints, isPhantom: phantom })),
    ),
    abilities: abilityNames(abilities),
    isEvent: module.events.has(name),
    group:
      resourceGroup && `${addressToShortHex(resourceGroup.address)}::${resourceGroup.module}::${resourceGroup.name}`,
    variants:
      kind === 'struct'
        ? [{ name: undefined, fields: fieldsOf(definition.fields) }]
        : kind === 'enum'
          ? definition.variants.map((variant) => ({ name: variant.name, fields: fieldsOf(variant.fields) }))
          : [],
  }
}

function declareFunction(
  { name, visibility, isEntry, isNative, typeParameters, parameters, results }: FunctionDefinition,
  isView: boolean,
  printer: SignaturePrinter,
): FunctionDeclaration {
  const words = [
    visibility === 'private' ? '' : visibility === 'friend' ? 'public(friend)' : 'public',
    isNative && 'native',
    isEntry && 'entry',
    'fun',
  ]
  const types = parametersToText(typeParameters.map((constraints) => ({ constraints, isPhantom: false })))
  const parameterTexts = parameters.map((one) => printer.print(one))
  const resultTexts = results.map((one) => printer.print(one))
  const returned = resultTexts.join(', ')
  const result = results.length === 0 ? '' : `: ${results.length === 1 ? returned : `(${returned})`}`
  const signature = `${words.filter(Boolean).join(' ')} ${name}${types}(${parameterTexts.join(', ')})${result}`
  return {
    name,
    visibility,
    isEntry,
    isView,
    signature,
    typeParameterCount: typeParameters.length,
    parameters: parameterTexts,
    results: resultTexts,
  }
}

function parametersToText(
  parameters: readonly { readonly constraints: number; readonly isPhantom: boolean }[],
): string {
  if (parameters.length === 0) return ''
  const texts = parameters.map(({ constraints, isPhantom }, at) => {
    const abilities = abilityNames(constraints).join(' + ')
    return `${isPhantom ? 'phantom ' : ''}T${at}${abilities && `: ${abilities}`}`
  })
  return `<${texts.join(', ')}>`
}

function abilityNames(abilities: number): string[] {
  return Object.entries(ABILITY).flatMap(([name, bit]) => ((abilities & bit) !== 0 ? [name] : []))
}

function moduleToText({ address, name }: ModuleId): string {
  return `${addressToShortHex(address)}::${name}`
}
