import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { FunctionInstance, ModuleInstance } from './instances.js'

/** Way in which a function is called. */
export type CallKind = 'static' | 'closure' | 'dispatch'

const MODULE_LOCK_ATTRIBUTE = 2

/** The changes that a call must undo when it returns. */
export interface Entry {
  readonly counted: boolean
  readonly locking: boolean
}

const PLAIN_ENTRY: Entry = { counted: false, locking: false }
const COUNTED_ENTRY: Entry = { counted: true, locking: false }

/**
 * Counts the entries of modules, and their locks. With closures and dispatch, code can enter a module that is already
 * active.
 */
export class Reentrancy {
  #locks = 0

  /**
   * Enters a function; `caller` is undefined at the beginning of a run.
   * @throws VmFault
   */
  enter(caller: ModuleInstance | undefined, callee: FunctionInstance, kind: CallKind): Entry {
    const locking = kind === 'dispatch' || isLocking(callee)
    const { module } = callee
    const isOther = module !== caller
    if (!locking && !isOther && kind !== 'closure') return PLAIN_ENTRY
    // The lock is counted before the entry is checked.
    if (locking) this.#locks++
    if (isOther && module.entries > 0 && this.#locks > 0) {
      const { address, name } = module.name
      const text = `Reentrancy disallowed: reentering \`${address}::${name}\` via function \`${callee.definition.name}\` (module lock is active)`
      throw new VmFault(STATUS.RUNTIME_DISPATCH_ERROR, text)
    }
    const counted = isOther || kind === 'closure'
    if (counted) module.entries++
    return locking ? { counted, locking } : counted ? COUNTED_ENTRY : PLAIN_ENTRY
  }

  leave(callee: FunctionInstance, { counted, locking }: Entry): void {
    if (counted) callee.module.entries--
    if (locking) this.#locks--
  }

  /**
   * Checks that a global instruction may use a struct of this module.
   * @throws VmFault
   */
  expectAccess(module: ModuleInstance, struct: string): void {
    if (module.entries <= 1) return
    const { address, name } = module.name
    const text = `Resource \`${address}::${name}::${struct}\` cannot be accessed because of active reentrancy of defining module.`
    throw new VmFault(STATUS.RUNTIME_DISPATCH_ERROR, text)
  }
}

function isLocking({ definition }: FunctionInstance): boolean {
  return definition.attributes.length > 0 && definition.attributes.includes(MODULE_LOCK_ATTRIBUTE)
}
