import { type Codec, codecOf } from '@ledger-state/bcs'
import { ByteReader, SizedCache } from '@ledger-state/core'
import { bytesToLatin1 } from '@ledger-state/core/bytes'
import { branchOf, type StateView } from '@ledger-state/engine'
import { type ModuleId, type MoveModule, type ResolvedLayout, resolveLayout } from '@ledger-state/move-module'
import {
  isStructTag,
  readStructTag,
  structTagToBytes,
  type TypeTag,
  typeTagSize,
  typeTagToText,
} from '@ledger-state/type-tag'
import { type CacheUse, cacheUse } from '../caches/cache-use.js'
import { codecHeapSize } from '../caches/codec-heap-size.js'
import type { FoundModule, ModuleCache } from '../caches/module-cache.js'

/** Capacity in bytes of heap of the types, of the codecs that they share, and of the texts of their layouts. */
const TYPES_CAPACITY = 7 << 20
const CODECS_CAPACITY = 8 << 20
const LAYOUTS_CAPACITY = 1 << 20
const CAPACITY = TYPES_CAPACITY + CODECS_CAPACITY + LAYOUTS_CAPACITY
/** Most types that a kept type may name; types in use name ten at most. Resolving one that names 255 takes 0.2 ms. */
const MOST_KEPT_TYPES = 64
/** Most states of a type that are kept. Each upgrade of a module between versions that are asked for makes another. */
const MOST_STATES_OF_TYPE = 8
/** Heap of a state of a type in addition to its dependencies. */
const STATE_SIZE = 128
/** Heap of a dependency in addition to its key. */
const DEPENDENCY_SIZE = 256
/** Most nodes of a layout whose codec is shared; its text has about 60 characters for each. */
const MOST_SHARED_NODES = 256

/** First character of the keys of types that are no structs. The key of a struct, from its bytes, has only characters below it. */
const OTHER_TYPE = '\u0100'

const NO_STATES: readonly ResolvedType[] = []

/** A module that a type depends on, by its state key and the version that wrote it. */
type Dependency = Pick<FoundModule, 'key' | 'version'>

/** The versions at which a type has the same layout. */
interface Lifetime {
  /** Branch of the ledger (see `branchOf`): on another branch, the same versions may have other modules. */
  readonly branch: number
  readonly dependencies: readonly Dependency[]
  /** First version with all modules in their used form. */
  readonly from: bigint
  /** Newest version at which all modules were seen unchanged. */
  seenUntil: bigint
}

interface ResolvedType extends Lifetime {
  /** Key of the codec. A type that held the codec itself would keep one that its cache has dropped and no longer counts. */
  readonly codecKey: string
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

/** Resolves structs also by the BCS of their tags, which costs less than a decoded tag if their codec is known. */
export interface StructResolver extends TypeResolver {
  /** Same as `resolve`. The bytes must be the BCS of a struct tag. */
  resolveStruct(tag: Uint8Array, view: StateView): Codec
}

/**
 * Resolves types to their codecs with the modules of the ledger as of the version that is read. A resolved type is kept
 * together with the versions that wrote its modules, and is valid at every version at which these are the newest.
 * Using it takes no look-up within the span of versions that was seen, and one for each module outside. Types of one
 * layout share a codec, which takes most of the memory and most of the time: a network has tens of thousands of coins.
 */
export class CachedTypeResolver implements StructResolver {
  /** Keys of tags in the cache. They are weak, because a tag may outlive its entry. */
  readonly #keys = new WeakMap<TypeTag, string>()
  readonly #types = new SizedCache<readonly ResolvedType[]>(TYPES_CAPACITY)
  readonly #codecs = new SizedCache<Codec>(CODECS_CAPACITY)
  /** Keys of codecs by the texts of their layouts. */
  readonly #codecKeys = new SizedCache<string>(LAYOUTS_CAPACITY)
  #keyCount = 0
  /** The last large type, because a reader of many values of one type resolves it for each. */
  #large: { readonly tag: TypeTag; readonly lifetime: Lifetime; readonly codec: Codec } | undefined
  readonly #modules: ModuleCache

  constructor(modules: ModuleCache) {
    this.#modules = modules
  }

  /** Estimated bytes of heap. */
  get size(): number {
    return this.#types.size + this.#codecs.size + this.#codecKeys.size
  }

  get use(): CacheUse {
    const { misses } = this.#types
    return cacheUse({ size: this.size, capacity: CAPACITY, misses })
  }

  resolve(tag: TypeTag, view: StateView, noteDependency?: (key: Uint8Array) => void): Codec {
    const key = this.#keys.get(tag) ?? this.#keyToKeep(tag)
    if (key === undefined) return this.#resolveLarge(tag, view, noteDependency)
    const states = this.#types.get(key) ?? NO_STATES
    const found = stateValidAt(states, view)
    const known = found && this.#codecs.get(found.codecKey)
    if (known) {
      note(found, noteDependency)
      return known
    }
    const { layout, ...lifetime } = this.#resolveAnew(tag, view)
    const { key: codecKey, codec } = this.#sharedCodecOf(layout, found?.codecKey)
    const others = states.filter((state) => state !== found)
    const kept = [{ codecKey, ...lifetime }, ...others].slice(0, MOST_STATES_OF_TYPE)
    this.#types.set(key, kept, heapSize(key, kept))
    return codec
  }

  resolveStruct(tag: Uint8Array, view: StateView): Codec {
    const found = stateValidAt(this.#types.get(bytesToLatin1(tag)) ?? NO_STATES, view)
    const known = found && this.#codecs.get(found.codecKey)
    return known ?? this.resolve(readStructTag(new ByteReader(tag)), view)
  }

  #resolveLarge(tag: TypeTag, view: StateView, noteDependency?: (key: Uint8Array) => void): Codec {
    const known = this.#large
    if (known?.tag === tag && isValidAt(known.lifetime, view)) {
      note(known.lifetime, noteDependency)
      return known.codec
    }
    const { layout, ...lifetime } = this.#resolveAnew(tag, view)
    this.#large = { tag, lifetime, codec: codecOf(layout.layout, layout) }
    return this.#large.codec
  }

  /** Key under which a type is kept; undefined for a large type, which is not kept by a key. */
  #keyToKeep(tag: TypeTag): string | undefined {
    if (typeTagSize(tag) > MOST_KEPT_TYPES) return undefined
    const key = isStructTag(tag) ? bytesToLatin1(structTagToBytes(tag)) : OTHER_TYPE + typeTagToText(tag)
    this.#keys.set(tag, key)
    return key
  }

  #resolveAnew(tag: TypeTag, view: StateView): Lifetime & { readonly layout: ResolvedLayout } {
    const dependencies: Dependency[] = []
    const getModule = (id: ModuleId): MoveModule | undefined => {
      const found = this.#modules.find(view, id)
      if (!found) return undefined
      dependencies.push({ key: found.key, version: found.version })
      return found.read()
    }
    const layout = resolveLayout(tag, getModule)
    const from = dependencies.reduce((newest, { version }) => (version > newest ? version : newest), 0n)
    return { layout, branch: branchOf(view.ledger), dependencies, from, seenUntil: view.version }
  }

  /**
   * The codec of a layout. A long layout gets one that no other type has.
   * @param lastKey key that its codec had, if it was dropped
   */
  #sharedCodecOf(
    resolved: ResolvedLayout,
    lastKey: string | undefined,
  ): { readonly key: string; readonly codec: Codec } {
    const { layout, treeSize } = resolved
    const text = treeSize <= MOST_SHARED_NODES ? JSON.stringify(layout) : undefined
    const known = text && this.#codecKeys.get(text)
    const key = known ?? lastKey ?? String(++this.#keyCount)
    if (text && !known) this.#codecKeys.set(text, key, text.length)
    const kept = this.#codecs.get(key)
    if (kept) return { key, codec: kept }
    const codec = codecOf(layout, resolved)
    this.#codecs.set(key, codec, codecHeapSize(layout))
    return { key, codec }
  }
}

function heapSize(key: string, states: readonly ResolvedType[]): number {
  let size = 2 * key.length
  for (const { dependencies } of states) {
    size += STATE_SIZE
    for (const { key } of dependencies) size += DEPENDENCY_SIZE + key.length
  }
  return size
}

function stateValidAt(states: readonly ResolvedType[], view: StateView): ResolvedType | undefined {
  for (const state of states) if (isValidAt(state, view)) return state
  return undefined
}

function isValidAt(state: Lifetime, view: StateView): boolean {
  const { version } = view
  if (state.branch !== branchOf(view.ledger) || state.from > version) return false
  return version <= state.seenUntil || standsAt(state, view)
}

function note({ dependencies }: Lifetime, noteDependency: ((key: Uint8Array) => void) | undefined): void {
  if (noteDependency) for (const { key } of dependencies) noteDependency(key)
}

function standsAt(state: Lifetime, view: StateView): boolean {
  let stands = true
  // Looks at all dependencies, even after one that differs: an async engine then loads all that it lacks in one round.
  for (const { key, version } of state.dependencies) if (view.getEntry(key)?.version !== version) stands = false
  if (stands) state.seenUntil = view.version
  return stands
}
