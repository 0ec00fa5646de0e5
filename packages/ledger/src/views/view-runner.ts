import { bytesToHex } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { createVm, type ViewCall, type ViewOptions, type ViewRun, type Vm } from '@ledger-state/move-vm'
import { typeTagToText } from '@ledger-state/type-tag'
import { LoadedVersion } from '../async/loaded-version.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { encodeArguments } from './encode-arguments.js'
import { ModuleInterfaces } from './module-interfaces.js'
import { ModuleRevisions } from './module-revisions.js'
import { RunningView, type StartedView } from './started-view.js'
import { stateOfView } from './state-of-view.js'
import type { ViewRequest } from './view-request.js'

/** What a view may use (by default the budget of the vm), and whether long tasks of natives are done by the caller. */
export type StartViewOptions = Pick<ViewOptions, 'budget' | 'computesElsewhere'>

/** Runs view functions over the state of a version, with one vm for all. */
export class ViewRunner {
  readonly #vm: Vm = createVm()
  readonly #interfaces = new ModuleInterfaces()
  readonly #revisions = new ModuleRevisions()

  /** @throws `view_argument_invalid` */
  start(view: StateView, types: TypeResolver, request: ViewRequest, options: StartViewOptions): StartedView {
    const { arguments: given } = request
    const values = 'bcs' in given ? given.bcs : encodeArguments(view, types, this.#interfaces, request, given.json)
    const call = { ...request, arguments: values }
    const start = (): ViewRun => this.#vm.startView(stateOfView(view, this.#revisions), call, options)
    const run = view instanceof LoadedVersion ? view.keepRun(nameOf(call, options), start) : start()
    return new RunningView(run, view, types)
  }
}

/** The same for the same call: a read that runs again goes on with the view that it began. */
function nameOf(call: ViewCall, options: StartViewOptions): string {
  const { address, module, function: name, typeArguments, arguments: values } = call
  return JSON.stringify([
    ...[bytesToHex(address), module, name, typeArguments.map(typeTagToText), values.map(bytesToHex)],
    options,
  ])
}
