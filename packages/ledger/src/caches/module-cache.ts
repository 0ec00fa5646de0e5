import { addressToShortHex, SizedCache } from '@ledger-state/core'
import { branchOf, type StateView } from '@ledger-state/engine'
import { type ModuleId, type MoveModule, moduleHeapSize, readModule } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { type CacheUse, cacheUse } from './cache-use.js'

/** Capacity in bytes of heap. */
const CAPACITY = 16 << 20
/** Heap of the largest module that is kept. The largest readable one fits; reading it again would take 12 ms. */
const LARGEST_MODULE = CAPACITY / 2

export interface FoundModule {
  readonly key: Uint8Array
  /** Version that wrote the module. */
  readonly version: bigint
  /**
   * Reads the definitions.
   * @throws `invalid_module`
   */
  read(): MoveModule
}

/** The modules of a ledger, with the definitions of those that were read. */
export class ModuleCache {
  readonly #modules = new SizedCache<MoveModule>(CAPACITY, LARGEST_MODULE)

  /** Estimated bytes of heap. */
  get size(): number {
    return this.#modules.size
  }

  get use(): CacheUse {
    return cacheUse(this.#modules)
  }

  /** The module at the version of the view; undefined if there is none. */
  find(view: StateView, id: ModuleId): FoundModule | undefined {
    const key = moduleKey(id.address, id.name)
    const entry = view.getEntry(key)
    if (!entry) return undefined
    const { version, value } = entry
    const name = `${addressToShortHex(id.address)}::${id.name}@${version}/${branchOf(view.ledger)}`
    return { key, version, read: () => this.#read(name, value) }
  }

  #read(nameAtVersion: string, bytes: Uint8Array): MoveModule {
    const known = this.#modules.get(nameAtVersion)
    if (known) return known
    const module = readModule(bytes)
    this.#modules.set(nameAtVersion, module, 2 * nameAtVersion.length + moduleHeapSize(module, bytes))
    return module
  }
}
