import { ByteReader } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { parseTypeTag, type StructTag } from '@ledger-state/type-tag'
import { Meter } from '../src/budget/meter.js'
import { DEFAULT_BUDGET } from '../src/budget/view-budget.js'
import { LackingKeys, MoveAbort, PendingTask, TurnOver, VmFault } from '../src/faults/vm-fault.js'
import { LoadedModuleCache } from '../src/load/loaded-module-cache.js'
import { runComputeTask } from '../src/natives/compute-tasks.js'
import { NATIVES } from '../src/natives/native-table.js'
import { type ChainSettings, readEnvironment } from '../src/run/environment.js'
import { FunctionInstance } from '../src/run/instances.js'
import type { NativeCall } from '../src/run/native-call.js'
import { RunParts } from '../src/run/run-parts.js'
import type { Serializer } from '../src/run/serializer.js'
import { StateAccess } from '../src/run/state-access.js'
import { moduleNameOf, World } from '../src/run/world.js'
import { NOT_LOADED, type ViewState } from '../src/state/view-state.js'
import type { Type } from '../src/types/type.js'
import type { Value } from '../src/values/value.js'

/** Result of a call of a native. */
export type NativeAnswer =
  | { readonly kind: 'results'; readonly results: readonly Value[] }
  | { readonly kind: 'abort'; readonly code: number }
  | { readonly kind: 'fault'; readonly status: number; readonly message: string | undefined }
  | { readonly kind: 'error'; readonly error: TypeError | RangeError | SyntaxError }

export interface NativeBedOptions {
  /** Flags that differ from the flags of the version. */
  readonly flags?: Readonly<Record<number, boolean>>
  /**
   * Whether each key is lacking at its first read, tasks are done elsewhere, and a turn ends after each slice, so that
   * natives run again and again.
   */
  readonly isInPieces?: boolean
}

/** Calls natives one by one, in one run over a state. It calls them as the interpreter does, without Move code. */
export class NativeBed {
  readonly #world: World
  readonly #natives: NativeCall
  readonly #serializer: Serializer
  readonly meter = new Meter(DEFAULT_BUDGET)
  /** Number of turns that ended within a step. */
  turns = 0
  readonly #isInPieces: boolean

  constructor(state: ViewState, { flags = {}, isInPieces = false }: NativeBedOptions = {}) {
    this.#isInPieces = isInPieces
    const { meter } = this
    const access = new StateAccess(isInPieces ? lackingAtFirst(state) : state, meter, undefined)
    this.#world = new World(new LoadedModuleCache(1 << 26), NATIVES)
    this.#world.begin({ state: access, meter })
    const real = this.#repeat(() => readEnvironment(access, () => []))
    const environment: ChainSettings = { ...real, isFeatureOn: (flag) => flags[flag] ?? real.isFeatureOn(flag) }
    const compute = isInPieces ? undefined : runComputeTask
    const { serializer, natives } = new RunParts({ world: this.#world, state: access, meter, environment, compute })
    this.#serializer = serializer
    this.#natives = natives
  }

  /** A type by its text. */
  type(text: string): Type {
    return this.#world.types.ofTag(parseTypeTag(text))
  }

  /** The type of a function, by the texts of its parameters and results. */
  functionType(parameters: readonly string[], results: readonly string[]): Type {
    const all = (texts: readonly string[]) => texts.map((text) => this.type(text))
    return this.#world.types.function(all(parameters), all(results), 0)
  }

  /** A value by its BCS. */
  decode(type: string, bytes: Uint8Array): Value | undefined {
    const work = this.#repeat(() => this.#serializer.beginToValue(this.type(type), new ByteReader(bytes)))
    for (;;) {
      const end = work.continue()
      if (end) return end.result
    }
  }

  /** Calls a native, named as `0x1::module::name`. */
  call(name: string, typeArguments: readonly (string | Type)[], ...args: readonly Value[]): NativeAnswer {
    const types = typeArguments.map((one) => (typeof one === 'string' ? this.type(one) : one))
    const tag = parseTypeTag(name) as StructTag
    // The module that hosts the native is the real framework's. Old frameworks may lack the declaration.
    const module = this.#repeat(() => this.#world.module(moduleNameOf(bytesToHexDigits(tag.address), tag.module)))
    const loaded = module.loaded.functions.get(tag.name) ?? module.loaded.functions.values().next().value!
    const instance = new FunctionInstance(module, loaded, types, NATIVES.get(name))
    try {
      const results = this.#repeat(
        () => this.#natives.run(instance, args),
        (result) => this.#natives.provide(result),
      )
      return { kind: 'results', results: results as readonly Value[] }
    } catch (error) {
      if (error instanceof MoveAbort) return { kind: 'abort', code: Number(error.code) }
      if (error instanceof VmFault) return { kind: 'fault', status: error.status, message: error.message }
      if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
        return { kind: 'error', error }
      }
      throw error
    }
  }

  /** Repeats a step until it lacks nothing, each time in a new turn. */
  #repeat<T>(step: () => T, provide?: (result: readonly Uint8Array[]) => void): T {
    for (;;) {
      if (this.#isInPieces) this.meter.beginTurn(1)
      this.meter.mark()
      try {
        return step()
      } catch (error) {
        if (error instanceof TurnOver) this.turns++
        if (error instanceof PendingTask && provide) provide(runComputeTask(error.task))
        else if (!(error instanceof LackingKeys || error instanceof TurnOver)) throw error
        this.meter.undo()
      }
    }
  }

  /** The results of a native. Throws if it has none. */
  results(name: string, typeArguments: readonly (string | Type)[], ...args: readonly Value[]): readonly Value[] {
    const answer = this.call(name, typeArguments, ...args)
    if (answer.kind !== 'results') throw new Error(`${name}: ${JSON.stringify(answer)}`)
    return answer.results
  }
}

/** A state that has each key only when asked for the second time. */
function lackingAtFirst(state: ViewState): ViewState {
  const asked = new Set<string>()
  return {
    read(key) {
      const name = bytesToHexDigits(key)
      if (asked.has(name)) return state.read(key)
      asked.add(name)
      return NOT_LOADED
    },
  }
}
