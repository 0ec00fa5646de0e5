import type { StateView } from '@ledger-state/engine'
import type { ComputeTask, ViewProgress, ViewRun, ViewUsage } from '@ledger-state/move-vm'
import { typeTagToText } from '@ledger-state/type-tag'
import { viewFailed, viewResultUnreadable } from '../errors.js'
import { type StoredValue, TypedBytes } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'

/** Instructions that run at once, in a fraction of a millisecond. */
const INSTRUCTIONS_AT_ONCE = 1_024

/** Report on the work of a view. */
export interface ViewReport {
  readonly usage: ViewUsage
  /** Status code of the vm for a view that failed, if one is known. */
  readonly vmErrorCode: number | undefined
  readonly isFailed: boolean
  /** Whether an earlier run of the same read over an async ledger had already ended the view. */
  readonly isRepeated: boolean
}

/** A started view function, which runs in steps of its caller. */
export interface StartedView {
  /**
   * Runs for a fraction of a millisecond. Returns the results, each with its type, once the view has ended. Reading a
   * result's JSON throws `view_result_unreadable` if it has none.
   * @throws `view_failed`, whose fields have `vmErrorCode`; as the reads of the state
   */
  advance(): readonly StoredValue[] | undefined
  /** The task that the view waits for, if tasks are done elsewhere; `provide` gives its result. */
  readonly task: ComputeTask | undefined
  /** Gives the result of the task that the view waits for. */
  provide(result: readonly Uint8Array[]): void
  /** Bytes that the view has been charged so far: at least the size of its values. */
  readonly bytes: number
  /** Report, known once the view has ended. */
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

  get bytes(): number {
    return this.#run.bytes
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
        // Notes the keys as lacking. This run of the read ends, its answer is not used, and the next run continues the
        // view.
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
