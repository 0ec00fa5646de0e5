import { typeTagHeapSize } from '@ledger-state/type-tag'
import type { FieldDefinition, MoveModule, SignatureToken } from './module-definition.js'

// Bytes of heap: upper estimates from measurements on the V8 of Node 24.

const MODULE = 512
/** Heap of a struct or a variant, with its name. */
const DEFINITION = 384
const FIELD = 64
/** Heap of a struct in a signature. */
const STRUCT_TOKEN = 144
const FUNCTION_TOKEN = 256
const TOKEN = 64

/** Heap of a module that `readModule` returns. Definitions share its names, which are no longer than its binary. */
export function moduleHeapSize(module: MoveModule, binary: Uint8Array): number {
  let size = MODULE + binary.length
  for (const definition of module.structs) {
    size += DEFINITION + TOKEN * definition.typeParameters.length
    if (definition.resourceGroup) size += typeTagHeapSize(definition.resourceGroup)
    if (definition.kind === 'struct') size += fieldsHeapSize(definition.fields)
    if (definition.kind !== 'enum') continue
    for (const variant of definition.variants) size += DEFINITION + fieldsHeapSize(variant.fields)
  }
  return size
}

function fieldsHeapSize(fields: readonly FieldDefinition[]): number {
  return fields.reduce((size, { type }) => size + FIELD + tokenHeapSize(type), 0)
}

function tokenHeapSize(token: SignatureToken): number {
  const sum = (tokens: readonly SignatureToken[], own: number) =>
    tokens.reduce((size, part) => size + tokenHeapSize(part), own)
  switch (token.kind) {
    case 'vector':
      return TOKEN + tokenHeapSize(token.element)
    case 'struct':
      return sum(token.typeArguments, STRUCT_TOKEN)
    case 'reference':
      return TOKEN + tokenHeapSize(token.to)
    case 'function':
      return sum([...token.parameters, ...token.results], FUNCTION_TOKEN)
    case 'typeParameter':
      return TOKEN
    default:
      // The primitive types are shared by all modules.
      return 0
  }
}
