import { type Codec, codecOf } from '@ledger-state/bcs'
import { SizedCache } from '@ledger-state/core'
import { branchOf, type StateView } from '@ledger-state/engine'
import { type ModuleId, type MoveModule, resolveLayout } from '@ledger-state/move-module'
import { type TypeTag, typeTagSize, typeTagToText } from '@ledger-state/type-tag'
import { type CacheUse, cacheUse } from '../caches/cache-use.js'
import { codecHeapSize } from '../caches/codec-heap-size.js'
import type { FoundModule, ModuleCache } from '../caches/module-cache.js'

/** Capacity in bytes of heap. */
const CAPACITY = 16 << 20
/** Most types that a kept type may name; types in use name ten at most. Resolving one that names 255 takes 0.2 ms. */
const MOST_KEPT_TYPES = 64
/** Most states of a type that are kept. Each upgrade of a module between versions that are asked for makes another. */
const MOST_STATES_OF_TYPE = 8
/** Heap of a dependency in addition to its key. */
const DEPENDENCY_SIZE = 256

const NO_STATES: readonly ResolvedType[] = []

/** A module that a type depends on, by its state key and the version that wrote it. */
type Dependency = Pick<FoundModule, 'key' | 'version'>

interface ResolvedType {
  readonly codec: Codec
  /** Branch of the ledger (see `branchOf`): on another branch, the same versions may have other modules. */
  readonly branch: number
  readonly dependencies: readonly Dependency[]
  /** First version with all modules in their used form. */
  readonly from: bigint
  /** Newest version at which all modules were seen unchanged. */
  seenUntil: bigint
}

/** Resolves types to their codecs with the modules of the ledger as of the version that is read. */
export interface TypeResolver {
  /**
   * Resolves a type.
   * @param noteDependency called with the state key of each module that the type depends on if the codec was cached:
   *   the view is not asked for these modules
   * @throws `module_not_found`, `struct_not_found`, `type_argument_count`, `unsupported_type`, `type_too_large`,
   * `invalid_module`
   */
  resolve(tag: TypeTag, view: StateView, noteDependency?: (key: Uint8Array) => void): Codec
}

/**
 * Resolves types to their codecs with the modules of the ledger as of the version that is read. A resolved type is kept
 * together with the versions that wrote its modules, and is valid at every version at which these are the newest.
 * Using it takes no look-up within the span of versions that was seen, and one for each module outside.
 */
export class CachedTypeResolver implements TypeResolver {
  /** Texts of tags. They are weak, because a tag may outlive its entry in the cache. */
  readonly #texts = new WeakMap<TypeTag, string>()
  readonly #types = new SizedCache<readonly ResolvedType[]>(CAPACITY)
  /** The last large type, because a reader of many values of one type resolves it for each. */
  #large: { readonly tag: TypeTag; readonly states: readonly ResolvedType[] } | undefined
  readonly #modules: ModuleCache

  constructor(modules: ModuleCache) {
    this.#modules = modules
  }

  /** Estimated bytes of heap. */
  get size(): number {
    return this.#types.size
  }

  get use(): CacheUse {
    return cacheUse(this.#types)
  }

  resolve(tag: TypeTag, view: StateView, noteDependency?: (key: Uint8Array) => void): Codec {
    const { version } = view
    const text = this.#texts.get(tag) ?? this.#textToKeep(tag)
    const states = text === undefined ? this.#statesOfLarge(tag) : (this.#types.get(text) ?? NO_STATES)
    const branch = branchOf(view.ledger)
    for (const state of states) {
      if (state.branch !== branch) continue
      if (state.from <= version && (version <= state.seenUntil || standsAt(state, view))) {
        if (noteDependency) for (const { key } of state.dependencies) noteDependency(key)
        return state.codec
      }
    }
    const resolved = this.#resolveAnew(tag, view)
    const kept = [resolved, ...states].slice(0, MOST_STATES_OF_TYPE)
    if (text === undefined) this.#large = { tag, states: kept }
    else this.#types.set(text, kept, heapSize(text, kept))
    return resolved.codec
  }

  #statesOfLarge(tag: TypeTag): readonly ResolvedType[] {
    return this.#large?.tag === tag ? this.#large.states : NO_STATES
  }

  /** Text of a tag under which its codec is kept. Undefined for a large type, which is not kept by text. */
  #textToKeep(tag: TypeTag): string | undefined {
    if (typeTagSize(tag) > MOST_KEPT_TYPES) return undefined
    const text = typeTagToText(tag)
    this.#texts.set(tag, text)
    return text
  }

  #resolveAnew(tag: TypeTag, view: StateView): ResolvedType {
    const dependencies: Dependency[] = []
    const getModule = (id: ModuleId): MoveModule | undefined => {
      const found = this.#modules.find(view, id)
      if (!found) return undefined
      dependencies.push({ key: found.key, version: found.version })
      return found.read()
    }
    const resolved = resolveLayout(tag, getModule)
    const codec = codecOf(resolved.layout, resolved)
    const from = dependencies.reduce((newest, { version }) => (version > newest ? version : newest), 0n)
    return { codec, branch: branchOf(view.ledger), dependencies, from, seenUntil: view.version }
  }
}

function heapSize(text: string, states: readonly ResolvedType[]): number {
  let size = 2 * text.length
  for (const { codec, dependencies } of states) {
    size += codecHeapSize(codec.layout)
    for (const { key } of dependencies) size += DEPENDENCY_SIZE + key.length
  }
  return size
}

function standsAt(state: ResolvedType, view: StateView): boolean {
  let stands = true
  // Looks at all dependencies, even after one that differs: an async engine then loads all that it lacks in one round.
  for (const { key, version } of state.dependencies) if (view.getEntry(key)?.version !== version) stands = false
  if (stands) state.seenUntil = view.version
  return stands
}
