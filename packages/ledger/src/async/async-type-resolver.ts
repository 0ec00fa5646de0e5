import type { Codec } from '@ledger-state/bcs'
import { addressToShortHex, ByteReader, isLedgerStateError, noSteps } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import type { MoveModule, SignatureToken, StructDefinition } from '@ledger-state/move-module'
import { readStructTag, type TypeTag } from '@ledger-state/type-tag'
import type { ModuleCache } from '../caches/module-cache.js'
import type { StructResolver, TypeResolver } from '../types/type-resolver.js'
import type { LoadedState } from './loaded-state.js'
import type { LoadedVersion } from './loaded-version.js'

/** Most structs for which one run looks up modules ahead. */
const MOST_STRUCTS = 1_024

type StructToken = Extract<SignatureToken, { kind: 'struct' }>

/**
 * Resolves types while modules may be lacking. A synchronous resolver ends at the first module that is absent. This one
 * then looks for all other modules that the type is known to need, so that one round loads a whole level of them. It
 * returns a codec that prints nothing, so that the run continues and finds further missing data.
 */
export class AsyncTypeResolver implements StructResolver {
  readonly #types: TypeResolver
  readonly #modules: ModuleCache
  readonly #loaded: LoadedState

  /** @param types resolves the types with loaded modules */
  constructor(types: TypeResolver, modules: ModuleCache, loaded: LoadedState) {
    this.#types = types
    this.#modules = modules
    this.#loaded = loaded
  }

  resolve(tag: TypeTag, view: StateView, noteDependency?: (key: Uint8Array) => void): Codec {
    try {
      return this.#types.resolve(tag, view, noteDependency)
    } catch (error) {
      const loaded = this.#loaded.loadedAt(view.version)
      if (!loaded?.isLacking) throw error
      // The error may have another reason than the data that is lacking, and then nothing was noted for it.
      this.#loaded.noteLack()
      this.#searchModules(tag, loaded)
      return unknownCodec(error)
    }
  }

  resolveStruct(tag: Uint8Array, view: StateView): Codec {
    return this.resolve(readStructTag(new ByteReader(tag)), view)
  }

  #searchModules(tag: TypeTag, view: LoadedVersion): void {
    const open: SignatureToken[] = [tagToToken(tag)]
    const { searchedStructs } = view
    for (let token = open.pop(); token && searchedStructs.size < MOST_STRUCTS; token = open.pop()) {
      if (token.kind === 'vector') open.push(token.element)
      if (token.kind !== 'struct') continue
      open.push(...token.typeArguments)
      const name = `${addressToShortHex(token.module.address)}::${token.module.name}::${token.name}`
      if (searchedStructs.has(name)) continue
      searchedStructs.add(name)
      open.push(...this.#fieldsOf(token, view))
    }
  }

  #fieldsOf({ module: id, name }: StructToken, view: LoadedVersion): readonly SignatureToken[] {
    const module = readIfSound(() => this.#modules.find(view, id)?.read())
    return fieldTypes(module?.structs.find((struct) => struct.name === name))
  }
}

function fieldTypes(struct: StructDefinition | undefined): readonly SignatureToken[] {
  if (struct?.kind === 'struct') return struct.fields.map(({ type }) => type)
  if (struct?.kind === 'enum') return struct.variants.flatMap(({ fields }) => fields.map(({ type }) => type))
  return []
}

function readIfSound(read: () => MoveModule | undefined): MoveModule | undefined {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return undefined
    throw error
  }
}

/** Token for a type tag. Function types have one layout, whatever their parameters. */
function tagToToken(tag: TypeTag): SignatureToken {
  switch (tag.kind) {
    case 'vector':
      return { kind: 'vector', element: tagToToken(tag.element) }
    case 'struct': {
      const { address, module, name, typeArguments } = tag
      return { kind: 'struct', module: { address, name: module }, name, typeArguments: typeArguments.map(tagToToken) }
    }
    case 'function':
      return { kind: 'bool' }
    default:
      return { kind: tag.kind }
  }
}

const NULL = new TextEncoder().encode('null')

/** Stand-in for the codec of a type that is not resolved yet. It cannot compute the key of an item. */
function unknownCodec(error: unknown): Codec {
  return {
    layout: { kind: 'bool' },
    bytesToJson: () => 'null',
    bytesToJsonInSteps: () => noSteps('null'),
    bytesToJsonUtf8: () => NULL,
    bytesToJsonUtf8InSteps: () => noSteps(NULL),
    appendJson(_, out) {
      out.raw(NULL)
      return true
    },
    jsonToBytes() {
      throw error
    },
    jsonTextToBytes() {
      throw error
    },
  }
}
