import { bytesToHex } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { createVm, type ViewCall, type ViewOptions, type ViewRun, type Vm } from '@ledger-state/move-vm'
import { typeTagToText } from '@ledger-state/type-tag'
import { loadedVersionOf } from '../async/loaded-version-of.js'
import { type CacheUse, cacheUse } from '../caches/cache-use.js'
import { ReadTrace } from '../traces/read-trace.js'
import { TracedView } from '../traces/traced-view.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { encodeArguments } from './encode-arguments.js'
import { ModuleInterfaces } from './module-interfaces.js'
import { ModuleRevisions } from './module-revisions.js'
import { RunningView, type StartedView } from './started-view.js'
import { stateOfView } from './state-of-view.js'
import type { ViewRequest } from './view-request.js'

/** Budget of a view (by default the vm's), and whether the caller does long tasks of natives. */
export interface StartViewOptions extends Pick<ViewOptions, 'budget' | 'computesElsewhere'> {
  /**
   * Trace that has, once the view has ended, every key that the arguments, the run and the JSON of the results read.
   */
  readonly trace?: ReadTrace | undefined
}

/** Runs view functions over the state of a version. All runs share one vm. */
export class ViewRunner {
  readonly #vm: Vm = createVm()
  readonly #interfaces = new ModuleInterfaces()
  readonly #revisions = new ModuleRevisions()

  /** Use of the vm's cache of loaded modules. */
  get use(): CacheUse {
    return cacheUse(this.#vm.cache)
  }

  /**
   * Starts a view.
   * @throws `view_argument_invalid`
   */
  start(view: StateView, types: TypeResolver, request: ViewRequest, options: StartViewOptions): StartedView {
    const { arguments: given } = request
    const { trace, budget, computesElsewhere } = options
    const read = trace ? new TracedView(view, trace) : view
    const values = 'bcs' in given ? given.bcs : encodeArguments(read, types, this.#interfaces, request, given.json)
    const call = { ...request, arguments: values }
    const begin = (): BegunRun => {
      const runTrace = trace && new ReadTrace()
      const traceRead = runTrace && ((key: Uint8Array) => runTrace.add(key))
      const state = stateOfView(view, this.#revisions)
      return {
        hasEnded: false,
        run: this.#vm.startView(state, call, { budget, computesElsewhere, traceRead }),
        runTrace,
      }
    }
    const begun = loadedVersionOf(view)?.keep(nameOf(call, options), begin) ?? begin()
    return new RunningView(begun.run, read, types, () => {
      for (const key of begun.runTrace?.keys.values() ?? []) trace?.add(key)
      const isRepeated = begun.hasEnded
      begun.hasEnded = true
      return isRepeated
    })
  }
}

interface BegunRun {
  hasEnded: boolean
  readonly run: ViewRun
  readonly runTrace: ReadTrace | undefined
}

/** Name that is the same for equal calls, so that a read that runs again continues the view that it began. */
function nameOf(call: ViewCall, { budget, computesElsewhere, trace }: StartViewOptions): string {
  const { address, module, function: name, typeArguments, arguments: values } = call
  return JSON.stringify([
    ...[bytesToHex(address), module, name, typeArguments.map(typeTagToText), values.map(bytesToHex)],
    ...[budget, computesElsewhere, trace !== undefined],
  ])
}
