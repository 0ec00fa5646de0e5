import { Meter } from '../src/budget/meter.js'
import { ModuleCharge } from '../src/budget/module-charge.js'
import { DEFAULT_BUDGET } from '../src/budget/view-budget.js'
import { VmFault } from '../src/faults/vm-fault.js'
import type { LoadedModule } from '../src/load/loaded-module.js'
import { ModuleReading } from '../src/load/module-reading.js'

/** Loads a module as a run with the default budget does, or says why it is refused. */
export function loadModule(bytes: Uint8Array): LoadedModule | string {
  try {
    return new ModuleReading('', bytes, new ModuleCharge(new Meter(DEFAULT_BUDGET), bytes.length)).finish()
  } catch (error) {
    if (error instanceof VmFault) return error.message ?? String(error.status)
    throw error
  }
}
