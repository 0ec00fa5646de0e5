import { type Codec, codecOf } from '@ledger-state/bcs'
import type { StateView } from '@ledger-state/core'
import { addressToShortHex, SizedCache } from '@ledger-state/core'
import { layoutOf, type ModuleId, type MoveModule, readModule } from '@ledger-state/move-module'
import { moduleKey, type TypeTag, typeTagToText } from '@ledger-state/type-tag'

interface Dependency {
  readonly key: Uint8Array
  /** Version that wrote the module which was used. */
  readonly version: bigint
}

interface CachedType {
  readonly codec: Codec
  readonly dependencies: readonly Dependency[]
  /** First version at which all modules stood as they were used. */
  readonly from: bigint
  /** Newest version at which they were seen to stand so still. */
  seenUntil: bigint
}

const CACHED_TYPES = 4_096
/** Upgrades between versions that are asked for; each gives another layout of a type. */
const CACHED_STATES_OF_TYPE = 8
const CACHED_MODULES = 1_024

/**
 * Resolves types to their codecs through the modules of the ledger as they were at the version read. A resolved type is kept together
 * with the versions that wrote its modules, and is good for every version at which those are still the newest: inside
 * the span that was seen it costs no look-up, beyond it one per module.
 */
export class TypeResolver {
  readonly #byTag = new WeakMap<TypeTag, CachedType[]>()
  readonly #types = new SizedCache<string, CachedType[]>(CACHED_TYPES)
  readonly #modules = new SizedCache<string, MoveModule>(CACHED_MODULES)

  /** @throws `module_not_found`, `struct_not_found`, `type_argument_count`, `unsupported_type`, `type_too_large`, `invalid_module` */
  resolve(tag: TypeTag, view: StateView): Codec {
    const { version } = view
    const states = this.#statesOf(tag)
    for (const state of states) {
      if (state.from <= version && (version <= state.seenUntil || standsAt(state, view))) return state.codec
    }
    const resolved = this.#resolveAnew(tag, view)
    states.unshift(resolved)
    states.length = Math.min(states.length, CACHED_STATES_OF_TYPE)
    return resolved.codec
  }

  /** The list that holds what is known of a type: found by the tag itself where that was seen, else by its text. */
  #statesOf(tag: TypeTag): CachedType[] {
    const known = this.#byTag.get(tag)
    if (known) return known
    const text = typeTagToText(tag)
    const states = this.#types.get(text) ?? []
    this.#types.set(text, states, 1)
    this.#byTag.set(tag, states)
    return states
  }

  #resolveAnew(tag: TypeTag, view: StateView): CachedType {
    const dependencies = new Map<string, Dependency>()
    const getModule = (id: ModuleId): MoveModule | undefined => {
      const key = moduleKey(id.address, id.name)
      const entry = view.getEntry(key)
      if (!entry) return undefined
      const name = `${addressToShortHex(id.address)}::${id.name}`
      dependencies.set(name, { key, version: entry.version })
      return this.#parsedModule(`${name}@${entry.version}`, entry.value)
    }
    const codec = codecOf(layoutOf(tag, getModule))
    const used = [...dependencies.values()]
    const from = used.reduce((newest, { version }) => (version > newest ? version : newest), 0n)
    return { codec, dependencies: used, from, seenUntil: view.version }
  }

  #parsedModule(nameAtVersion: string, bytes: Uint8Array): MoveModule {
    const known = this.#modules.get(nameAtVersion)
    if (known) return known
    const module = readModule(bytes)
    this.#modules.set(nameAtVersion, module, 1)
    return module
  }
}

function standsAt(state: CachedType, view: StateView): boolean {
  for (const { key, version } of state.dependencies) {
    if (view.getEntry(key)?.version !== version) return false
  }
  state.seenUntil = view.version
  return true
}
