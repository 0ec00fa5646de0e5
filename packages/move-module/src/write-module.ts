import { addressToLongHex } from '@ledger-state/core'
import { typeTagToText } from '@ledger-state/type-tag'
import { type AssembledStruct, assembleModule } from './assemble-module.js'
import { ENUM_VERSION, TOKEN } from './binary-format.js'
import { unsupportedType } from './errors.js'
import type { FieldDefinition, MoveModule, SignatureToken, StructDefinition } from './module-definition.js'

/**
 * Writes a module that defines types and nothing else: no functions, and as metadata only the resource groups of its
 * structs. `readModule` reads the same module back. It is meant for demonstration ledgers and tests; we have not tried
 * whether a chain's verifier accepts such modules.
 * @throws `unsupported_type` for a token or an enum that the module's version does not know
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { readModule, writeModule } from '@ledger-state/move-module'
 *
 * const binary = writeModule({
 *   version: 7,
 *   address: parseAddress('0xcafe'),
 *   name: 'game',
 *   structs: [
 *     { kind: 'struct', name: 'Level', abilities: 8, typeParameters: [], fields: [{ name: 'value', type: { kind: 'u8' } }] },
 *   ],
 * })
 * console.log(readModule(binary).structs[0]!.name) // Level
 * ```
 */
export function writeModule({ version, address, name, structs }: MoveModule): Uint8Array {
  for (const struct of structs) expectKnownStruct(struct, version)
  return assembleModule({
    version,
    address: addressToLongHex(address),
    name,
    structs: structs.map(toAssembledStruct),
    functions: [],
  })
}

function toAssembledStruct(definition: StructDefinition): AssembledStruct {
  const { name, abilities, typeParameters, resourceGroup } = definition
  const group = resourceGroup && typeTagToText(resourceGroup)
  const head = { name, abilities, typeParameters, ...(group !== undefined && { group }) }
  switch (definition.kind) {
    case 'native':
      return { ...head, isNative: true }
    case 'struct':
      return { ...head, fields: definition.fields.map(toPair) }
    case 'enum':
      return {
        ...head,
        variants: definition.variants.map(({ name, fields }) => ({ name, fields: fields.map(toPair) })),
      }
  }
}

function toPair({ name, type }: FieldDefinition): readonly [string, SignatureToken] {
  return [name, type]
}

function expectKnownStruct(definition: StructDefinition, version: number): void {
  if (definition.kind === 'native') return
  if (definition.kind === 'enum') expectVersion(`the enum ${definition.name}`, ENUM_VERSION, version)
  const fields = definition.kind === 'enum' ? definition.variants.flatMap(({ fields }) => fields) : definition.fields
  for (const { type } of fields) expectKnownToken(type, version)
}

function expectKnownToken(token: SignatureToken, version: number): void {
  switch (token.kind) {
    case 'vector':
      expectKnownToken(token.element, version)
      return
    case 'reference':
      expectKnownToken(token.to, version)
      return
    case 'typeParameter':
      return
    case 'function':
      expectVersion('a function type', TOKEN.function.since, version)
      for (const part of [...token.parameters, ...token.results]) expectKnownToken(part, version)
      return
    case 'struct':
      for (const part of token.typeArguments) expectKnownToken(part, version)
      return
    default:
      expectVersion(token.kind, TOKEN[token.kind].since, version)
  }
}

function expectVersion(what: string, since: number, version: number): void {
  if (version < since) throw unsupportedType.needsModuleVersion(what, since, version)
}
