import { addressToShortHex, SizedCache } from '@ledger-state/core'
import { branchOf, type StateView } from '@ledger-state/engine'
import { type ModuleId, type ModuleInterface, readModuleInterface } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'

/** Capacity in bytes of heap. */
const CAPACITY = 8 << 20
/** Approximate heap of signatures for each byte of a module. */
const HEAP_PER_BYTE = 4

/** The signatures of modules' functions, by which arguments in JSON are read. */
export class ModuleInterfaces {
  readonly #interfaces = new SizedCache<ModuleInterface>(CAPACITY)

  /**
   * The module at the version of the view; undefined if there is none.
   * @throws `invalid_module`
   */
  find(view: StateView, { address, name }: ModuleId): ModuleInterface | undefined {
    const entry = view.getEntry(moduleKey(address, name))
    if (!entry) return undefined
    const text = `${addressToShortHex(address)}::${name}@${entry.version}/${branchOf(view.ledger)}`
    const known = this.#interfaces.get(text)
    if (known) return known
    const found = readModuleInterface(entry.value)
    this.#interfaces.set(text, found, 2 * text.length + HEAP_PER_BYTE * entry.value.length)
    return found
  }
}
