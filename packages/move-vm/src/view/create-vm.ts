import type { Compute } from '../compute-task.js'
import { LoadedModuleCache } from '../load/loaded-module-cache.js'
import { runComputeTask } from '../natives/compute-tasks.js'
import type { Native } from '../natives/native.js'
import { NATIVES } from '../natives/native-table.js'
import { WorldPool } from '../run/world-pool.js'
import type { ViewState } from '../state/view-state.js'
import type { ViewCall, ViewOptions, ViewRun } from './view-call.js'
import { ViewExecution } from './view-run.js'

/** Settings of a virtual machine. */
export interface VmOptions {
  /** Natives by `0xADDRESS::module::function` with a short address; `NATIVES` by default. */
  readonly natives?: ReadonlyMap<string, Native> | undefined
  /** Does the tasks of natives, unless the caller of a view does them; by default `runComputeTask`. */
  readonly compute?: Compute | undefined
  /** Bytes of heap for loaded modules, shared by all runs. By default 64 MiB. */
  readonly cacheBytes?: number | undefined
}

/** State of the cache of loaded modules. */
export interface VmCache {
  /** Heap that it takes, in bytes; an estimate. */
  readonly size: number
  /** Most heap that it takes, in bytes. */
  readonly capacity: number
  /** Modules that were decoded because the cache did not have them. */
  readonly misses: number
}

/** A virtual machine that runs view functions. It keeps loaded modules between runs, by their bytes. */
export interface Vm {
  /** Content of the cache of loaded modules. */
  readonly cache: VmCache
  /** Begins a view over a state. No code runs before `advance`. */
  startView(state: ViewState, call: ViewCall, options?: ViewOptions): ViewRun
}

const CACHE_BYTES = 64 << 20

/** Creates a virtual machine with its own cache. */
export function createVm(options: VmOptions = {}): Vm {
  const { natives = NATIVES, compute = runComputeTask, cacheBytes = CACHE_BYTES } = options
  const cache = new LoadedModuleCache(cacheBytes)
  const pool = new WorldPool(cache, natives)
  return {
    cache,
    startView(state, call, viewOptions = {}): ViewRun {
      return new ViewExecution({ state, call, options: viewOptions, compute }, pool)
    },
  }
}
