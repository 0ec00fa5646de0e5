import { addressToShortHex, SizedCache } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { type ModuleId, type ModuleInterface, readModuleInterface } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { ModuleRevisions } from './module-revisions.js'

/** Capacity in bytes of heap. */
const CAPACITY = 8 << 20
/** Approximate heap of signatures for each byte of a module. */
const HEAP_PER_BYTE = 4

/** The signatures of modules' functions, by which arguments in JSON are read. */
export class ModuleInterfaces {
  readonly #interfaces = new SizedCache<ModuleInterface>(CAPACITY)
  readonly #revisions: ModuleRevisions

  constructor(revisions = new ModuleRevisions()) {
    this.#revisions = revisions
  }

  /**
   * The module at the version of the view; undefined if there is none. The view is not asked for a module that is kept.
   * @throws `invalid_module`
   */
  find(view: StateView, { address, name }: ModuleId): ModuleInterface | undefined {
    const key = moduleKey(address, name)
    const revision = this.#revisions.find(view, key)
    if (revision === undefined) return undefined
    const text = `${addressToShortHex(address)}::${name}@${revision}`
    const known = this.#interfaces.get(text)
    if (known) return known
    const bytes = view.get(key)
    if (!bytes) return undefined
    const found = readModuleInterface(bytes)
    this.#interfaces.set(text, found, 2 * text.length + HEAP_PER_BYTE * bytes.length)
    return found
  }
}
