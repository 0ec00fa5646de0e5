import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import type { CodeLink } from '../load/compile-function.js'
import type { RuntimeLayout } from '../types/runtime-layout.js'
import type { FunctionType, Type } from '../types/type.js'
import { type ClosureTarget, ClosureValue, type Value } from '../values/value.js'
import type { ChainSettings } from './environment.js'
import type { FunctionInstance } from './instances.js'
import type { Layouts } from './layouts.js'
import { moduleNameOf, type World } from './world.js'

/** Operand of an instruction that packs a closure. */
export interface PackedClosureLink {
  /** Number of the run that this was made for. */
  readonly run: number
  readonly target: ClosureTarget
  readonly mask: bigint
  readonly capturedCount: number
  /** Layouts of the captured values; undefined if the closure cannot be stored. */
  readonly layouts: readonly RuntimeLayout[] | undefined
}

const PERSISTENT_ATTRIBUTE = 1
const CAPTURE_OPTION_FLAG = 99

/** Closures of a run: packs them, and finds their functions when they are called. */
export class ClosureCalls {
  readonly #world: World
  readonly #layouts: Layouts
  readonly #environment: ChainSettings
  /** The functions of closures that were packed, or checked, in this run; undefined if there are none. */
  #targets: Map<ClosureTarget, FunctionInstance> | undefined

  constructor(world: World, layouts: Layouts, environment: ChainSettings) {
    this.#world = world
    this.#layouts = layouts
    this.#environment = environment
  }

  /**
   * Prepares packing a closure.
   * @throws VmFault, LackingKeys
   */
  link(
    scope: FunctionInstance,
    { handle, typeArguments, mask, captured }: CodeLink & { kind: 'closure' },
  ): PackedClosureLink {
    const instance = this.#world.callee(scope, handle, typeArguments)
    const { module, definition } = instance
    const types = this.#world.instantiateAll(scope, captured)
    const isPersistent = definition.visibility === 'public' || definition.attributes.includes(PERSISTENT_ATTRIBUTE)
    const layouts = isPersistent ? types.map((type) => this.#capturedLayout(type)) : undefined
    const target = {
      address: module.name.address,
      module: module.name.name,
      name: definition.name,
      typeArguments: instance.typeArguments,
    }
    this.#keep(target, instance)
    return { run: this.#world.run, target, mask, capturedCount: captured.length, layouts }
  }

  #capturedLayout(type: Type): RuntimeLayout {
    if (!this.#environment.isFeatureOn(CAPTURE_OPTION_FLAG) && this.#layouts.holdsOption(type)) {
      throw new VmFault(STATUS.UNABLE_TO_CAPTURE_OPTION_TYPE, 'Option type cannot be captured')
    }
    return this.#layouts.layoutOf(type)
  }

  pack({ target, mask, layouts }: PackedClosureLink, captured: Value[]): ClosureValue {
    return new ClosureValue(target, mask, captured, layouts)
  }

  /**
   * The function of a closure. For a closure from storage, looks the function up and checks that it has the type.
   * @throws VmFault, LackingKeys
   */
  target(closure: ClosureValue, type: FunctionType): FunctionInstance {
    const known = this.#targets?.get(closure.target)
    if (known) return known
    const instance = this.#find(closure.target)
    this.#expectType(instance, closure, type)
    this.#keep(closure.target, instance)
    return instance
  }

  #keep(target: ClosureTarget, instance: FunctionInstance): void {
    this.#targets ??= new Map()
    this.#targets.set(target, instance)
  }

  #find({ address, module, name, typeArguments }: ClosureTarget): FunctionInstance {
    return this.#world.function(this.#world.module(moduleNameOf(address, module)), name, typeArguments)
  }

  /**
   * The types of the parameters that a closure captures.
   * @throws VmFault, LackingKeys
   */
  capturedTypes({ target, mask }: ClosureValue): readonly Type[] {
    const instance = this.#targets?.get(target) ?? this.#find(target)
    const { parameters } = instance.definition
    return this.#world.signatureTypes(
      instance,
      parameters.filter((_, index) => isCaptured(mask, index)),
    )
  }

  #expectType(instance: FunctionInstance, { mask, captured, layouts }: ClosureValue, type: FunctionType): void {
    const parameterTypes = this.#world.parameterTypes(instance)
    const resultTypes = this.#world.resultTypes(instance)
    const given = parameterTypes.filter((_, index) => !isCaptured(mask, index))
    const capturedTypes = parameterTypes.filter((_, index) => isCaptured(mask, index))
    const fits =
      capturedTypes.length === captured.length &&
      sameTypes(given, type.parameters) &&
      sameTypes(resultTypes, type.results) &&
      capturedTypes.every((one, at) => this.#isOfType(one, layouts?.[at]))
    if (!fits) {
      throw new VmFault(STATUS.RUNTIME_DISPATCH_ERROR, 'the function of a stored closure has another type')
    }
  }

  #isOfType(type: Type, layout: RuntimeLayout | undefined): boolean {
    const expected = this.#layouts.layoutOf(type)
    this.#world.meter.chargeInstructions(expected.nodes)
    return includesLayout(expected, layout)
  }

  /** All arguments of the function of a closure, captured and given, in the order of its parameters. */
  argumentsOf({ mask, captured }: ClosureValue, given: readonly Value[]): Value[] {
    const count = captured.length + given.length
    const args: Value[] = []
    let nextCaptured = 0
    let nextGiven = 0
    for (let index = 0; index < count; index++) {
      const arg = isCaptured(mask, index) ? captured[nextCaptured++] : given[nextGiven++]
      if (arg === undefined) throw malformedCode('a closure with a wrong mask')
      args.push(arg)
    }
    return args
  }

  /** The given argument that has this index among all arguments. */
  givenArgument({ mask }: ClosureValue, args: readonly Value[], index: number): Value {
    return args.filter((_, at) => !isCaptured(mask, at))[index]!
  }
}

const MASK_BITS = 64

function isCaptured(mask: bigint, index: number): boolean {
  return index < MASK_BITS && ((mask >> BigInt(index)) & 1n) === 1n
}

function sameTypes(a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, at) => type === b[at])
}

/** Whether values of a stored layout are values of another one. An upgrade may have appended variants to enums. */
function includesLayout(layout: RuntimeLayout, stored: RuntimeLayout | undefined): boolean {
  if (stored === undefined || layout.kind !== stored.kind) return false
  const { parts, variants } = layout
  return (
    includesAll(parts, stored.parts) &&
    stored.variants.length <= variants.length &&
    stored.variants.every((fields, at) => includesAll(variants[at]!, fields))
  )
}

function includesAll(layouts: readonly RuntimeLayout[], stored: readonly RuntimeLayout[]): boolean {
  return layouts.length === stored.length && layouts.every((layout, at) => includesLayout(layout, stored[at]))
}
