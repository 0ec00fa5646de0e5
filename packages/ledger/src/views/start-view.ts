import { bytesToHex } from '@ledger-state/core'
import type { TraceRead, ViewCall, ViewOptions, ViewRun } from '@ledger-state/move-vm'
import { moduleKey, typeTagToText } from '@ledger-state/type-tag'
import { ReadTrace } from '../traces/read-trace.js'
import { TracedView } from '../traces/traced-view.js'
import type { StoredValue } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'
import type { CodeRevision } from './code-revision.js'
import { encodeArguments, type InterfaceFinder } from './encode-arguments.js'
import { RunningView, type StartedView } from './started-view.js'
import type { ViewRequest } from './view-request.js'
import type { ViewedState } from './viewed-state.js'
import { vmStateOf } from './vm-state.js'

/** Budget of a view (by default the VM's), and whether the caller does long tasks of natives. */
export interface StartViewOptions extends Pick<ViewOptions, 'budget' | 'computesElsewhere'> {
  /**
   * Collects every key read by the arguments, the run and the JSON of the results; complete once the view has ended.
   */
  readonly trace?: ReadTrace | undefined
  /** The code of the state, if earlier runs may have had the same code. Needs a trace. */
  readonly code?: CodeRevision | undefined
}

/**
 * Starts a view function, which runs step by step when the caller lets it.
 * @throws `view_argument_invalid` for JSON arguments that do not fit
 */
export function startView(state: ViewedState, request: ViewRequest, options: StartViewOptions = {}): StartedView {
  const { vm } = state.source.views
  const { loading } = state.source
  const { arguments: given } = request
  const { trace, code, budget, computesElsewhere } = options
  const view = trace ? new TracedView(state.view, trace) : state.view
  const types = trace ? tracedTypes(state.source.types, trace) : state.source.types
  const interfaces = trace ? tracedInterfaces(state.source.views.interfaces, trace) : state.source.views.interfaces
  const values = 'bcs' in given ? given.bcs : encodeArguments(view, types, interfaces, request, given.json)
  const call = { ...request, arguments: values }
  const begin = (): BegunRun => {
    const runTrace = trace && new ReadTrace()
    const traceRead = runTrace && traceInto(runTrace, code)
    const run = vm.startView(vmStateOf(state, code?.revision), call, { budget, computesElsewhere, traceRead })
    return { hasEnded: false, run, runTrace }
  }
  const begun = loading ? loading.keep(state.version, nameOf(call, options), begin) : begin()
  return new RunningView(begun.run, view, types, () => {
    if (begun.runTrace) trace?.addAll(begun.runTrace)
    const isRepeated = begun.hasEnded
    begun.hasEnded = true
    return isRepeated
  })
}

/**
 * Runs a view function to its end, and returns its results.
 * @throws as `startView` and its `advance`
 */
export function callView(
  state: ViewedState,
  request: ViewRequest,
  { budget }: Pick<StartViewOptions, 'budget'> = {},
): readonly StoredValue[] {
  const started = startView(state, request, { budget })
  for (;;) {
    const results = started.advance()
    if (results) return results
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

function traceInto(trace: ReadTrace, code: CodeRevision | undefined): TraceRead {
  return (key, text, kind) => {
    trace.addNamed(text, key)
    if (kind === 'code') code?.use(text)
  }
}

/** Finds the signatures of modules, and adds the modules to a trace even if a cache has them. */
function tracedInterfaces(interfaces: InterfaceFinder, trace: ReadTrace): InterfaceFinder {
  return {
    find(view, id) {
      trace.add(moduleKey(id.address, id.name))
      return interfaces.find(view, id)
    },
  }
}

/** Resolves types, and adds their modules to a trace even if a cache has them. */
function tracedTypes(types: TypeResolver, trace: ReadTrace): TypeResolver {
  return { resolve: (tag, view) => types.resolve(tag, view, (key) => trace.add(key)) }
}
