import { ByteReader } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import type { TypeTag } from '@ledger-state/type-tag'
import { ADDRESS_BYTES, type Meter } from '../budget/meter.js'
import type { Compute, ComputeTask } from '../compute-task.js'
import { STATUS } from '../faults/status.js'
import { type FaultPlace, isRetried, MoveAbort, PendingTask, VmFault } from '../faults/vm-fault.js'
import type { OpenType } from '../load/open-type.js'
import {
  type FunctionName,
  type FunctionSignature,
  isJump,
  type Native,
  type NativeContext,
  type NativeExtension,
  type NativeJump,
  type TypeLayout,
} from '../natives/native.js'
import type { SlicedWork } from '../sliced-work.js'
import { TYPE_BYTES, TYPE_PART_BYTES, TYPE_WORK, type Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { OrderTest } from '../values/compare-values.js'
import { type ClosureValue, StructValue, type Value } from '../values/value.js'
import { abilitiesOf } from './abilities.js'
import type { ClosureCalls } from './closure-calls.js'
import type { ChainSettings } from './environment.js'
import type { GlobalState } from './global-state.js'
import type { FunctionInstance } from './instances.js'
import type { Layouts } from './layouts.js'
import { areSameLists } from './same-types.js'
import type { Serializer } from './serializer.js'
import { SlicedWorks } from './sliced-works.js'
import { moduleNameOf, type World } from './world.js'

interface NativeCallParts {
  readonly world: World
  readonly layouts: Layouts
  readonly serializer: Serializer
  readonly globals: GlobalState
  readonly closures: ClosureCalls
  readonly meter: Meter
  readonly environment: ChainSettings
  /** Does tasks at once; undefined if tasks are done elsewhere. */
  readonly compute: Compute | undefined
  /** The function that called the native (0), or one above it, the nearest first; undefined beyond the first function. */
  readonly callerAt: (index: number) => FunctionInstance | undefined
}

/** Faults of values that have no BCS. */
const UNSERIALIZABLE: readonly number[] = [STATUS.VM_MAX_VALUE_DEPTH_REACHED, STATUS.VALUE_SERIALIZATION_ERROR]
/** Instructions that each part of a type takes in its tag. */
const TAG_NODE_PRICE = 4

/** The function that a native ends by calling, and its arguments. */
export interface JumpTarget extends NativeJump {
  readonly callee: FunctionInstance
  readonly args: readonly Value[]
}

/** The context of natives. A run has one, which `begin` points at each native in turn. */
export class NativeCall implements NativeContext {
  readonly globals: GlobalState
  readonly #parts: NativeCallParts
  /** State of the extensions that live as long as the run, by name; undefined if there is none. */
  #extensions: Map<string, unknown> | undefined
  #native: FunctionInstance | undefined
  /** Results of the tasks that the running native has asked for. */
  #results: (readonly Uint8Array[])[] = []
  #nextResult = 0
  readonly #works: SlicedWorks

  constructor(parts: NativeCallParts) {
    this.#works = new SlicedWorks(parts.meter)
    this.#parts = parts
    this.globals = parts.globals
  }

  /** Calls a native, for the first time or again. */
  run(native: FunctionInstance, args: readonly Value[]): readonly Value[] | NativeJump {
    this.#native = native
    this.#nextResult = 0
    this.#works.restart()
    if (!native.native) {
      throw new VmFault(STATUS.MISSING_DEPENDENCY, `Missing Native Function \`${native.definition.name}\``)
    }
    const results = this.#call(native.native, args)
    if (this.#results.length > 0) this.#results = []
    this.#works.clear()
    if (!isJump(results)) for (const result of results) this.#chargeResult(result)
    return results
  }

  #call(native: Native, args: readonly Value[]): readonly Value[] | NativeJump {
    try {
      return native(this, args)
    } catch (error) {
      if (!isRetried(error)) this.#works.clear()
      throw error
    }
  }

  /** Charges the values that natives make themselves; deserialised values are charged as they are made. */
  #chargeResult(value: Value): void {
    if (typeof value === 'string') this.#parts.meter.chargeBytes(ADDRESS_BYTES)
    if (value instanceof ByteVector) this.#parts.meter.chargeByteVector(0)
    if (!(value instanceof StructValue)) return
    this.#parts.meter.chargeContainer(value.fields.length)
    for (const field of value.fields) if (field instanceof ByteVector) this.#parts.meter.chargeByteVector(0)
  }

  /** Gives the result of the task that the native waits for. */
  provide(result: readonly Uint8Array[]): void {
    this.#results.push(ownResult(result))
  }

  get #running(): FunctionInstance {
    return this.#native!
  }

  /** Place at which faults of the native arise. */
  get place(): FaultPlace {
    const { module, loaded } = this.#running
    return { address: module.name.address, module: module.name.name, functionIndex: loaded.index, codeOffset: 0 }
  }

  get typeArguments(): readonly Type[] {
    return this.#running.typeArguments
  }

  get chainId(): number {
    return this.#parts.environment.chainId
  }

  isFeatureOn(flag: number): boolean {
    return this.#parts.environment.isFeatureOn(flag)
  }

  charge(instructions: number): void {
    this.#parts.meter.chargeInstructions(instructions)
  }

  chargeOnce(instructions: number): void {
    this.#parts.meter.chargeOnce(instructions)
  }

  chargeBytes(bytes: number): void {
    this.#parts.meter.chargeBytes(bytes)
  }

  abort(code: number | bigint, message?: string): never {
    throw new MoveAbort(BigInt(code), message, this.place)
  }

  fault(status: number, message?: string, subStatus?: number): never {
    const details = subStatus === undefined ? {} : { subStatus: BigInt(subStatus) }
    throw new VmFault(status, message, { ...details, place: this.place })
  }

  typeTag(type: Type): TypeTag {
    this.charge(TAG_NODE_PRICE * type.size)
    this.chargeBytes(type.nameLength)
    return this.#parts.world.types.tagOf(type)
  }

  serialize(type: Type, value: Value): Uint8Array | undefined {
    const { serializer } = this.#parts
    try {
      return serializer.plainToBytes(type, value) ?? this.inSlices(() => serializer.beginToBytes(type, value))
    } catch (error) {
      if (error instanceof VmFault && UNSERIALIZABLE.includes(error.status)) return undefined
      throw error
    }
  }

  deserialize(type: Type, bytes: Uint8Array): Value | undefined {
    // A copy: the value shares the bytes.
    return this.inSlices(() => this.#parts.serializer.beginToValue(type, new ByteReader(copyBytes(bytes))))
  }

  compare(a: Value, b: Value): number {
    return this.inSlices(() => new OrderTest(a, b, this.#parts.meter))
  }

  capturedTypes(closure: ClosureValue): readonly Type[] {
    return this.#parts.closures.capturedTypes(closure)
  }

  layout(type: Type): TypeLayout {
    return this.#parts.layouts.typeLayout(type)
  }

  abilities(type: Type): number {
    this.charge(type.size)
    return abilitiesOf(type, this.#parts.world)
  }

  structType(address: string, module: string, name: string, typeArguments: readonly Type[]): Type {
    this.charge(TYPE_WORK)
    this.chargeBytes(TYPE_BYTES + TYPE_PART_BYTES * typeArguments.length)
    return this.#parts.world.types.struct(address, module, name, typeArguments)
  }

  extension<T>({ name, create, outlivesRun }: NativeExtension<T>): T {
    const extensions = outlivesRun ? this.#parts.world.extensions : this.#ownExtensions()
    if (!extensions.has(name)) extensions.set(name, create())
    return extensions.get(name) as T
  }

  #ownExtensions(): Map<string, unknown> {
    this.#extensions ??= new Map()
    return this.#extensions
  }

  get computesElsewhere(): boolean {
    return this.#parts.compute === undefined
  }

  compute(task: ComputeTask): readonly Uint8Array[] {
    const known = this.#results[this.#nextResult]
    if (known === undefined && !this.#parts.compute) throw new PendingTask(task)
    const result = known ?? ownResult(this.#parts.compute!(task))
    if (known === undefined) this.#results.push(result)
    this.#nextResult++
    return result
  }

  inSlices<T>(begin: () => SlicedWork<T>): T {
    return this.#works.do(begin)
  }

  get caller(): FunctionName {
    return nameOf(this.#parts.callerAt(0)!)
  }

  callerAbove(index: number): FunctionName | undefined {
    const caller = this.#parts.callerAt(1 + index)
    return caller && nameOf(caller)
  }

  jump(target: FunctionName, args: readonly Value[]): JumpTarget {
    const native = this.#running
    const { world } = this.#parts
    const module = world.module(moduleNameOf(target.address, target.module))
    const callee = world.function(module, target.name, native.typeArguments)
    const { definition } = callee
    if (definition.visibility !== 'public' || module === native.module) {
      throw this.#dispatchFault('Invoking private or friend function during dispatch')
    }
    if (definition.isNative) throw this.#dispatchFault('Invoking native function during dispatch')
    const own = this.#signatureOf(native)
    const other = this.#signatureOf(callee)
    const fits =
      own.typeParameterAbilities.join() === other.typeParameterAbilities.join() &&
      this.areSame(own.results, other.results) &&
      this.areSame(own.parameters.slice(0, -1), other.parameters)
    if (!fits) throw this.#dispatchFault('Invoking function with incompatible type')
    return { kind: 'jump', callee, args }
  }

  #dispatchFault(message: string): VmFault {
    return new VmFault(STATUS.RUNTIME_DISPATCH_ERROR, message, { place: this.place })
  }

  visitModule(address: string, module: string): void {
    this.#parts.world.module(moduleNameOf(address, module))
  }

  isModuleVisited(address: string, module: string): boolean {
    return this.#parts.world.isVisited(moduleNameOf(address, module).key)
  }

  areSame(left: readonly OpenType[], right: readonly OpenType[]): boolean {
    if (left.length !== right.length) return false
    let size = 0
    for (const type of left) size += type.size
    this.charge(size)
    return areSameLists(left, right, this.#parts.world.types)
  }

  #signatureOf({ module, definition }: Pick<FunctionInstance, 'module' | 'definition'>): FunctionSignature {
    const { world } = this.#parts
    return {
      isPublic: definition.visibility === 'public',
      isNative: definition.isNative,
      typeParameterAbilities: definition.typeParameters,
      parameters: world.openTypes(module, definition.parameters),
      results: world.openTypes(module, definition.results),
    }
  }

  findFunction({ address, module, name }: FunctionName): FunctionSignature | undefined {
    try {
      const instance = this.#parts.world.module(moduleNameOf(address, module))
      const loaded = instance.loaded.functions.get(name)
      return loaded && this.#signatureOf({ module: instance, definition: loaded.definition })
    } catch (error) {
      if (error instanceof VmFault && error.status === STATUS.LINKER_ERROR) return undefined
      throw error
    }
  }
}

/** A copy of the result of a task: natives make values of it, which the run may change. */
function ownResult(result: readonly Uint8Array[]): readonly Uint8Array[] {
  return result.map((bytes) => copyBytes(bytes))
}

function nameOf({ module, definition }: FunctionInstance): FunctionName {
  return { address: module.name.address, module: module.name.name, name: definition.name }
}
