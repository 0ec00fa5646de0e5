import type { StateView } from '@ledger-state/engine'
import type { ComputeTask, ViewProgress, ViewRun, ViewUsage } from '@ledger-state/move-vm'
import { typeTagToText } from '@ledger-state/type-tag'
import { viewFailed, viewResultUnreadable } from '../errors.js'
import { type StoredValue, TypedBytes } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'

/** Instructions that run at once: a fraction of a millisecond. */
const INSTRUCTIONS_AT_ONCE = 1_024

/** What a view has used. */
export interface ViewReport {
  readonly usage: ViewUsage
  /** Status code of the vm for a view that failed, where one is known. */
  readonly vmErrorCode: number | undefined
  readonly isFailed: boolean
  /** Whether, over an async ledger, a run of the read before this one has ended it already. */
  readonly isRepeated: boolean
}

/** A view function that was called, and runs in steps of its caller. */
export interface StartedView {
  /**
   * Runs for a fraction of a millisecond. Gives the results once it has ended, each with its type; their JSON throws
   * `view_result_unreadable` where they have none.
   * @throws `view_failed`, whose fields have `vmErrorCode`; as the reads of the state
   */
  advance(): readonly StoredValue[] | undefined
  /** The task that it waits for, where tasks are done elsewhere; `provide` gives its result. */
  readonly task: ComputeTask | undefined
  /** Gives the result of the task that the view waits for. */
  provide(result: readonly Uint8Array[]): void
  /** Known once it has ended. */
  readonly report: ViewReport | undefined
}

export class RunningView implements StartedView {
  readonly #run: ViewRun
  readonly #view: StateView
  readonly #types: TypeResolver
  readonly #onEnd: () => boolean
  report: ViewReport | undefined
  task: ComputeTask | undefined

  constructor(run: ViewRun, view: StateView, types: TypeResolver, onEnd: () => boolean) {
    this.#run = run
    this.#view = view
    this.#types = types
    this.#onEnd = onEnd
  }

  provide(result: readonly Uint8Array[]): void {
    this.task = undefined
    this.#run.provide(result)
  }

  advance(): readonly StoredValue[] | undefined {
    const progress = this.#run.advance(INSTRUCTIONS_AT_ONCE)
    switch (progress.kind) {
      case 'paused':
        return undefined
      case 'lacking':
        // Noted as lacking. The run of the read ends here, its answer is not used, and the view continues in the next one.
        for (const key of progress.keys) this.#view.get(key)
        return []
      case 'computing':
        this.task = progress.task
        return undefined
      default:
        return this.#end(progress)
    }
  }

  #end(outcome: Exclude<ViewProgress, { kind: 'paused' | 'lacking' | 'computing' }>): readonly StoredValue[] {
    const { usage } = outcome
    const isRepeated = this.#onEnd()
    if (outcome.kind === 'fault') {
      this.report = { usage, vmErrorCode: outcome.fault.code, isFailed: true, isRepeated }
      throw viewFailed(outcome.fault)
    }
    this.report = { usage, vmErrorCode: undefined, isFailed: false, isRepeated }
    return outcome.results.map(({ type, bytes }, at) => {
      return new TypedBytes(this.#view, this.#types, type, bytes, (_, tag, why) =>
        viewResultUnreadable(at, typeTagToText(tag), why),
      )
    })
  }
}
