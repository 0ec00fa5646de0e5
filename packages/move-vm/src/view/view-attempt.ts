import { moduleKey, type TypeTag } from '@ledger-state/type-tag'
import { Meter } from '../budget/meter.js'
import { completeBudget } from '../budget/view-budget.js'
import type { Compute } from '../compute-task.js'
import { describeAbort, describeFault, displayFault } from '../faults/describe-fault.js'
import { STATUS, statusName } from '../faults/status.js'
import type { ViewFault } from '../faults/view-fault.js'
import {
  type FaultPlace,
  faultOfError,
  isRetried,
  LackingKeys,
  MoveAbort,
  PendingTask,
  TurnOver,
  VmFault,
} from '../faults/vm-fault.js'
import type { ModuleName } from '../load/open-type.js'
import { abilitiesOf, expectAbilities } from '../run/abilities.js'
import type { FunctionInstance } from '../run/instances.js'
import { RunParts } from '../run/run-parts.js'
import { SlicedWorks } from '../run/sliced-works.js'
import { StateAccess } from '../run/state-access.js'
import { moduleNameOf, StaleWorld, type World } from '../run/world.js'
import { SLICE_WORK } from '../sliced-work.js'
import type { ViewState } from '../state/view-state.js'
import type { Type } from '../types/type.js'
import { readReference } from '../values/reference-access.js'
import type { Value } from '../values/value.js'
import {
  ArgumentReader,
  type ConstructorCall,
  invalidSignature,
  isPlainArgument,
  type ReadArgument,
  readPlainArgument,
} from './argument-reader.js'
import type { ViewCall, ViewOptions, ViewProgress, ViewResult } from './view-call.js'

/** The parts that a view runs with. */
export interface ViewParts {
  readonly state: ViewState
  readonly call: ViewCall
  readonly options: ViewOptions
  readonly compute: Compute
}

/** Feature flag that comes with binary version 10: with it, errors are looked up by their whole code. */
const WHOLE_ERROR_CODES_FLAG = 106

/** The function that was asked for. */
interface Target {
  readonly instance: FunctionInstance
  readonly parameters: readonly Type[]
  readonly results: readonly Type[]
}

/** One view in one world, from its checks to the bytes of its results. A step that lacked keys is tried again. */
export class ViewAttempt {
  readonly #call: ViewCall
  readonly #options: ViewOptions
  readonly #compute: Compute
  readonly #meter: Meter
  readonly #state: StateAccess
  readonly #world: World
  readonly #moduleName: ModuleName
  /** Made once the settings of the chain are known. */
  #parts: RunParts | undefined
  #target: Target | undefined
  /** Arguments that were read, by index. Plain ones are decoded after all others are made. */
  readonly #arguments: (ReadArgument | undefined)[] = []
  /** Index of the next argument to read. */
  #next = 0
  /** The argument that is being read. */
  #reading: ArgumentReader | undefined
  /** The constructor that is running. */
  #constructing: ConstructorCall | undefined
  /** The arguments of the view, once they are made. Later faults are reported as faults of running code. */
  #values: readonly Value[] | undefined
  #hasStarted = false
  #serialized: SlicedWorks | undefined

  constructor({ state, call, options, compute }: ViewParts, world: World) {
    this.#call = call
    this.#options = options
    this.#compute = compute
    this.#meter = new Meter(completeBudget(options.budget))
    this.#state = new StateAccess(state, this.#meter, options.traceRead)
    this.#world = world
    this.#moduleName = world.nameOf(call.address, call.module)
    world.begin({ state: this.#state, meter: this.#meter })
  }

  /** Bytes that were charged so far. */
  get bytes(): number {
    return this.#meter.bytes
  }

  /** Gives the result of the task that the run waits for. */
  provide(result: readonly Uint8Array[]): void {
    this.#parts?.provide(result)
  }

  /**
   * Runs the view for at most `instructions` instructions.
   * @throws StaleWorld
   */
  advance(instructions: number): ViewProgress {
    this.#meter.beginTurn(instructions)
    try {
      const results = this.#advance(instructions)
      return results ? { kind: 'results', results, usage: this.#meter.usage } : { kind: 'paused' }
    } catch (error) {
      if (error instanceof LackingKeys) return { kind: 'lacking', keys: error.keys }
      if (error instanceof PendingTask) return { kind: 'computing', task: error.task }
      if (error instanceof TurnOver) return { kind: 'paused' }
      if (error instanceof StaleWorld) throw error
      return { kind: 'fault', fault: this.#describe(error), usage: this.#meter.usage }
    }
  }

  /**
   * Runs the view; undefined if it has not ended yet.
   * @throws VmFault, MoveAbort, LackingKeys, PendingTask
   */
  #advance(instructions: number): readonly ViewResult[] | undefined {
    this.#parts ??= this.#begin()
    this.#target ??= this.#retry(() => this.#findTarget())
    const { machine } = this.#parts
    if (!this.#hasStarted && !this.#makeArguments(instructions)) return undefined
    if (!this.#hasStarted) {
      this.#values ??= this.#argumentValues()
      this.#start(this.#target.instance, this.#values)
      this.#hasStarted = true
    }
    if (!machine.run(instructions)) return undefined
    const values = machine.results()
    return this.#retry(() => this.#serialize(values))
  }

  /** Does a step that may lack keys. If it does, its charges are refunded. */
  #retry<T>(step: () => T): T {
    this.#meter.mark()
    try {
      const result = step()
      this.#meter.takeCharged()
      return result
    } catch (error) {
      if (isRetried(error)) this.#meter.undo()
      throw error
    }
  }

  #begin(): RunParts {
    const { address, module, typeArguments } = this.#call
    const environment = this.#world.environment(() =>
      [{ address, module }, ...typeArguments.flatMap(modulesOf)].map((one) => moduleKey(one.address, one.module)),
    )
    const compute = this.#options.computesElsewhere ? undefined : this.#compute
    return new RunParts({ world: this.#world, state: this.#state, meter: this.#meter, environment, compute })
  }

  #findTarget(): Target {
    const call = this.#call
    const world = this.#world
    const module = world.module(this.#moduleName)
    const typeArguments: Type[] = []
    for (const tag of call.typeArguments) typeArguments.push(world.types.ofTag(tag))
    const instance = world.function(module, call.function, typeArguments)
    const { definition } = instance
    if (typeArguments.length > 0) {
      const abilities = typeArguments.map((type) => abilitiesOf(type, world))
      expectAbilities(abilities, definition.typeParameters)
    }
    if (!module.loaded.code.views.has(call.function)) {
      throw new VmFault(STATUS.INVALID_MAIN_FUNCTION_SIGNATURE, 'function not marked as view function')
    }
    if (definition.results.length === 0) {
      throw new VmFault(STATUS.INVALID_MAIN_FUNCTION_SIGNATURE, 'view function must return values')
    }
    if (definition.parameters.length !== call.arguments.length) throw invalidSignature()
    return {
      instance,
      parameters: world.parameterTypes(instance),
      results: world.resultTypes(instance),
    }
  }

  /** Makes the arguments that have parts, one after the other. Returns whether all are made. */
  #makeArguments(instructions: number): boolean {
    const { machine } = this.#parts!
    for (;;) {
      if (this.#constructing) {
        if (!machine.run(instructions)) return false
        this.#constructing.result = machine.results()[0]!
        this.#constructing = undefined
      }
      const calls = this.#arguments.at(-1)?.calls
      const next = calls?.[0]
      if (next) {
        this.#start(next.callee, next.args.made())
        calls.shift()
        this.#constructing = next
      } else {
        const index = this.#next
        const type = this.#target!.parameters[index]
        if (!type) return true
        if (!isPlainArgument(type)) this.#arguments[index] = this.#retry(() => this.#readArgument(type, index))
        this.#next++
      }
    }
  }

  /** Reads an argument that has parts. */
  #readArgument(type: Type, index: number): ReadArgument {
    const { layouts, environment } = this.#parts!
    const context = { world: this.#world, layouts, environment }
    this.#reading ??= new ArgumentReader(context, type, this.#call.arguments[index]!)
    for (;;) {
      const end = this.#reading.continue()
      if (end) {
        this.#reading = undefined
        return end.result
      }
      this.#meter.countWork(SLICE_WORK)
      this.#meter.expectTurn()
    }
  }

  #argumentValues(): readonly Value[] {
    const { parameters } = this.#target!
    const values: Value[] = []
    for (let index = 0; index < parameters.length; index++) {
      const argument = this.#arguments[index]
      values.push(argument ? argument.value() : readPlainArgument(parameters[index]!, this.#call.arguments[index]!))
    }
    return values
  }

  #start(callee: FunctionInstance, args: readonly Value[]): void {
    this.#retry(() => this.#parts!.machine.start(callee, args))
  }

  #serialize(values: readonly Value[]): readonly ViewResult[] {
    const { serializer } = this.#parts!
    this.#serialized?.restart()
    const results: ViewResult[] = []
    const declarations = this.#target!.results
    for (let index = 0; index < declarations.length; index++) {
      const declared = declarations[index]!
      const value = values[index]!
      const type = declared.kind === 'reference' ? declared.to : declared
      const plain = declared.kind === 'reference' ? readReference(value) : value
      const bytes = serializer.plainToBytes(type, plain) ?? this.#toBytes(type, plain)
      results.push({ type: this.#world.types.tagOf(type), bytes })
    }
    return results
  }

  #toBytes(type: Type, value: Value): Uint8Array {
    this.#serialized ??= new SlicedWorks(this.#meter)
    try {
      return this.#serialized.do(() => this.#parts!.serializer.beginToBytes(type, value))
    } catch (error) {
      if (!(error instanceof VmFault && error.status === STATUS.VALUE_SERIALIZATION_ERROR)) throw error
      throw new VmFault(STATUS.UNKNOWN_INVARIANT_VIOLATION_ERROR, 'failed to serialize return values')
    }
  }

  #describe(thrown: unknown): ViewFault {
    const error = faultOfError(thrown) ?? thrown
    if (this.#constructing) return this.#describeConstructorFault(error)
    if (error instanceof MoveAbort) {
      const { address, module } = error.place!
      const { errors } = this.#world.module(moduleNameOf(address, module)).loaded.code
      return describeAbort(error, errors, this.#parts!.environment.isFeatureOn(WHOLE_ERROR_CODES_FLAG))
    }
    if (!(error instanceof VmFault)) throw error
    const { status, message, subStatus } = error
    const details = { place: error.place ?? this.#place, ...(subStatus === undefined ? {} : { subStatus }) }
    return describeFault(new VmFault(status, message, details), this.#values !== undefined)
  }

  /**
   * Describes a fault in a constructor: only its code, with the module of the view as its place. For a native that this
   * vm lacks, it names the native.
   */
  #describeConstructorFault(error: unknown): ViewFault {
    if (!(error instanceof MoveAbort || error instanceof VmFault)) throw error
    if (error instanceof VmFault && error.status === STATUS.MISSING_DEPENDENCY) return describeFault(error, true)
    const code = error instanceof MoveAbort ? STATUS.ABORTED : error.status
    return {
      code,
      name: statusName(code),
      subStatus: undefined,
      message: displayFault(code, undefined, this.#place),
    }
  }

  get #place(): FaultPlace {
    return { address: this.#moduleName.address, module: this.#moduleName.name }
  }
}

/** The modules that a type names. */
function modulesOf(tag: TypeTag): { address: Uint8Array; module: string }[] {
  switch (tag.kind) {
    case 'vector':
      return modulesOf(tag.element)
    case 'struct':
      return [{ address: tag.address, module: tag.module }, ...tag.typeArguments.flatMap(modulesOf)]
    default:
      return []
  }
}
