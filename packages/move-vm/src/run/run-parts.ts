import type { Meter } from '../budget/meter.js'
import type { Compute } from '../compute-task.js'
import { ClosureCalls } from './closure-calls.js'
import type { ChainSettings } from './environment.js'
import { GlobalState } from './global-state.js'
import { Layouts, MAX_RUNTIME_LAYOUT_NODES } from './layouts.js'
import { Machine } from './machine.js'
import { NativeCall } from './native-call.js'
import { Serializer } from './serializer.js'
import type { StateAccess } from './state-access.js'
import type { World } from './world.js'

interface RunContext {
  readonly world: World
  readonly state: StateAccess
  readonly meter: Meter
  readonly environment: ChainSettings
  /** Does tasks at once; undefined if tasks are done elsewhere. */
  readonly compute: Compute | undefined
}

/** The parts of one run. Each is made at its first use: to make all of them takes longer than most small views. */
export class RunParts {
  readonly environment: ChainSettings
  readonly machine: Machine
  readonly #context: RunContext
  #layouts: Layouts | undefined
  #serializer: Serializer | undefined
  #globals: GlobalState | undefined
  #closures: ClosureCalls | undefined
  #natives: NativeCall | undefined

  constructor(context: RunContext) {
    const { world, meter, environment } = context
    this.#context = context
    this.environment = environment
    this.machine = new Machine(world, meter, this)
  }

  get layouts(): Layouts {
    this.#layouts ??= this.#makeLayouts()
    return this.#layouts
  }

  get serializer(): Serializer {
    this.#serializer ??= this.#makeSerializer()
    return this.#serializer
  }

  get globals(): GlobalState {
    this.#globals ??= this.#makeGlobals()
    return this.#globals
  }

  get closures(): ClosureCalls {
    this.#closures ??= this.#makeClosures()
    return this.#closures
  }

  get natives(): NativeCall {
    this.#natives ??= this.#makeNatives()
    return this.#natives
  }

  /** Gives the result of the task that a native waits for. */
  provide(result: readonly Uint8Array[]): void {
    this.#natives?.provide(result)
  }

  #makeLayouts(): Layouts {
    const { world, environment } = this.#context
    const { since34, before } = MAX_RUNTIME_LAYOUT_NODES
    return new Layouts(world, environment.gasFeatureVersion < 34 ? before : since34)
  }

  #makeSerializer(): Serializer {
    const { world, meter } = this.#context
    return new Serializer(meter, world.types, this.layouts)
  }

  #makeGlobals(): GlobalState {
    const { world, state, meter } = this.#context
    return new GlobalState({ state, world, serializer: this.serializer, meter })
  }

  #makeClosures(): ClosureCalls {
    return new ClosureCalls(this.#context.world, this.layouts, this.environment)
  }

  #makeNatives(): NativeCall {
    const { world, meter, environment, compute } = this.#context
    const { layouts, serializer, globals, closures, machine } = this
    const callerAt = (index: number) => machine.callerAt(index)
    return new NativeCall({ world, layouts, serializer, globals, closures, meter, environment, compute, callerAt })
  }
}
