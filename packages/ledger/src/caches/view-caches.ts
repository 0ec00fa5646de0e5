import { createVm, type Vm } from '@ledger-state/move-vm'
import { type CacheUse, cacheUse } from './cache-use.js'
import { ModuleInterfaces } from './module-interfaces.js'
import { ModuleRevisions } from './module-revisions.js'

/** The VM that runs all views of a ledger, and its cached modules. */
export class ViewCaches {
  readonly vm: Vm = createVm()
  readonly revisions = new ModuleRevisions()
  readonly interfaces = new ModuleInterfaces(this.revisions)

  /** Use of the VM's cache of loaded modules. */
  get use(): CacheUse {
    return cacheUse(this.vm.cache)
  }
}
