import { decodeUtf8 } from '@ledger-state/core/bytes'
import { expectElements, expectVectorBytes, type Meter, SLOT_BYTES, WIDEST_BIGINT_BYTES } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import {
  type FaultPlace,
  faultOfError,
  isRetried,
  MoveAbort,
  TurnOver,
  unverifiedCode,
  VmFault,
} from '../faults/vm-fault.js'
import {
  type CodeLink,
  type CompiledFunction,
  MAX_LOCALS,
  VARIANT_SHIFT,
  type VariantSet,
} from '../load/compile-function.js'
import { OP } from '../load/opcode.js'
import { isJump } from '../natives/native.js'
import { FAST_MAX, FAST_MIN } from '../types/integer-type.js'
import type { FunctionType, StructType, Type } from '../types/type.js'
import { ByteVector } from '../values/byte-vector.js'
import { EqualityTest } from '../values/compare-values.js'
import { ValueCopier } from '../values/copy-value.js'
import { readReference, writeReference } from '../values/reference-access.js'
import { SLICE_BYTES } from '../values/unfinished-parts.js'
import {
  ByteReference,
  type ClosureValue,
  Reference,
  type Slot,
  StructValue,
  type Value,
  VectorValue,
} from '../values/value.js'
import {
  add,
  bitAnd,
  bitOr,
  bitXor,
  cast,
  divide,
  multiply,
  negate,
  remainder,
  shiftLeft,
  shiftRight,
  subtract,
} from './arithmetic.js'
import type { ClosureCalls, PackedClosureLink } from './closure-calls.js'
import type { GlobalState } from './global-state.js'
import type { FunctionInstance, ModuleInstance } from './instances.js'
import type { Layouts } from './layouts.js'
import type { JumpTarget, NativeCall } from './native-call.js'
import { type CallKind, type Entry, Reentrancy } from './reentrancy.js'
import type { World } from './world.js'

const MAX_OPERANDS = 1_024
/** Most callers that can wait, in addition to the function that runs. */
const MAX_CALLERS = 1_024
const MAX_ABORT_TEXT = 1_024
const FEW_LOCALS = 8
/**
 * As many empty slots as a function may have locals. A part of it is an array that need not grow or change its form. It
 * is not made by `new Array`, whose arrays V8 searches for holes.
 */
const NO_LOCALS: readonly Slot[] = Array.from(Array(MAX_LOCALS), () => undefined)

/** Sub-statuses of `VECTOR_OPERATION_ERROR`. */
const VECTOR_FAULT = { outOfBounds: 1n, popOfEmpty: 2n, wrongLength: 3n } as const

/**
 * Bytes that are copied or compared in the time of one instruction. They count towards a turn; `meter.bytes` is their
 * budget.
 */
const BYTES_PER_STEP = 64

type Integer = number | bigint

/** The parts of a run that its machine uses. */
export interface MachineParts {
  readonly layouts: Layouts
  readonly globals: GlobalState
  readonly natives: NativeCall
  readonly closures: ClosureCalls
}

/** A call of a function that runs, or that waits for a call it made. */
class Frame {
  readonly callee: FunctionInstance
  readonly code: CompiledFunction
  /** Code offset of the next instruction. */
  at = 0
  readonly locals: Slot[]
  readonly entry: Entry

  constructor(callee: FunctionInstance, code: CompiledFunction, locals: Slot[], entry: Entry) {
    this.callee = callee
    this.code = code
    this.locals = locals
    this.entry = entry
  }
}

/**
 * Runs functions. All of its state is data, and a call in Move is not a call in JavaScript, so that it can stop between
 * any two instructions and continue later. An instruction that stops because keys are lacking has changed nothing.
 */
export class Machine {
  readonly #world: World
  readonly #meter: Meter
  readonly #parts: MachineParts
  readonly #copier: ValueCopier
  readonly #equality: EqualityTest
  readonly #reentrancy = new Reentrancy()
  readonly #stack: Value[] = []
  #height = 0
  /**
   * Locals of frames by depth, reused for frames that borrow no local. Other frames have arrays of their own: a
   * reference that outlives its frame finds no local of another frame, which may have another type.
   */
  readonly #locals: Slot[][] = []
  readonly #frames: Frame[] = []

  constructor(world: World, meter: Meter, parts: MachineParts) {
    this.#world = world
    this.#meter = meter
    this.#parts = parts
    this.#copier = new ValueCopier(meter)
    this.#equality = new EqualityTest(meter)
  }

  /** The function that runs (0), or one that waits for it, the nearest first; undefined beyond the first function. */
  callerAt(index: number): FunctionInstance | undefined {
    return this.#frames.at(-1 - index)?.callee
  }

  /** Whether a function is running. */
  get isRunning(): boolean {
    return this.#frames.length > 0
  }

  /**
   * Begins a function. Nothing may be running.
   * @throws VmFault, LackingKeys
   */
  start(callee: FunctionInstance, args: readonly Value[]): void {
    this.#height = 0
    for (const arg of args) this.#stack[this.#height++] = arg
    if (callee.definition.isNative) this.#callNative(callee, args.length)
    else this.#enter(undefined, callee, 'static')
  }

  /** The results of the function, once it has ended. */
  results(): readonly Value[] {
    return this.#stack.slice(0, this.#height)
  }

  /**
   * Runs until the function has ended, or for about the time that `instructions` take. Returns whether it has ended.
   * @throws VmFault, MoveAbort; LackingKeys or PendingTask, after which the same instruction runs again
   */
  run(instructions: number): boolean {
    const turn = this.#finishValues(instructions)
    try {
      if (turn > 0 && this.#frames.length > 0) this.#execute(Math.min(turn, this.#meter.instructionsLeft))
    } catch (error) {
      if (error instanceof TurnOver) return false
      throw error
    }
    return this.#frames.length === 0
  }

  /**
   * Continues the copy or the comparison that the last instruction began. Returns how many instructions of the turn are
   * left; 0 if it is not finished.
   */
  #finishValues(instructions: number): number {
    let turn = instructions
    try {
      while (this.#copier.isUnfinished || this.#equality.isUnfinished) {
        if (turn <= 0) return 0
        turn -= SLICE_BYTES / BYTES_PER_STEP
        if (this.#copier.isUnfinished) this.#copier.continue()
        else if (!this.#equality.continue()) this.#stack[this.#height - 1] = this.#stack[this.#height - 1] !== true
      }
    } catch (error) {
      const { callee, at } = this.#frames.at(-1)!
      throw this.#located(error, placeOf(callee, at - 1))
    }
    return turn
  }

  /**
   * Gives a fault its place, and turns errors of JavaScript into faults: code that no verifier has seen can cause them.
   */
  #located(error: unknown, place: FaultPlace): unknown {
    if (error instanceof MoveAbort) return error.place ? error : new MoveAbort(error.code, error.text, place)
    if (error instanceof VmFault) {
      if (error.place) return error
      const { status, message, subStatus } = error
      return new VmFault(status, message, subStatus === undefined ? { place } : { place, subStatus })
    }
    return faultOfError(error, place) ?? error
  }

  /**
   * Pushes a frame with its arguments from the stack.
   * @throws VmFault; then nothing is changed
   */
  #enter(caller: ModuleInstance | undefined, callee: FunctionInstance, kind: CallKind): Frame {
    const code = callee.codeRun === this.#world.run ? callee.code! : this.#world.codeOf(callee)
    if (this.#frames.length > MAX_CALLERS) throw new VmFault(STATUS.CALL_STACK_OVERFLOW)
    const entry = this.#reentrancy.enter(caller, callee, kind)
    const locals = this.#localsFor(code)
    const { parameterCount } = code
    const first = this.#height - parameterCount
    const stack = this.#stack
    for (let at = 0; at < parameterCount; at++) locals[at] = stack[first + at]
    this.#height = first
    const frame = new Frame(callee, code, locals, entry)
    this.#frames.push(frame)
    return frame
  }

  /** Empty locals for the next frame. */
  #localsFor({ localCount, borrowsLocals }: CompiledFunction): Slot[] {
    const depth = this.#frames.length
    const known = borrowsLocals ? undefined : this.#locals[depth]
    if (known === undefined) {
      const locals = localCount <= FEW_LOCALS ? fewLocals() : NO_LOCALS.slice(0, localCount)
      if (!borrowsLocals) this.#locals[depth] = locals
      return locals
    }
    while (known.length < localCount) known.push(undefined)
    return known
  }

  /**
   * Calls a native with the arguments on top of the stack. Returns a frame if the native ends by calling a function.
   * @throws as natives do; if keys are lacking, nothing is changed
   */
  #callNative(callee: FunctionInstance, argumentCount: number): Frame | undefined {
    const first = this.#height - argumentCount
    let results: readonly Value[]
    try {
      const answer = this.#parts.natives.run(callee, this.#stack.slice(first, this.#height))
      if (isJump(answer)) {
        const { callee: target, args } = answer as JumpTarget
        this.#height = first
        for (const arg of args) this.#stack[this.#height++] = arg
        return this.#enter(callee.module, target, 'dispatch')
      }
      results = answer
    } catch (error) {
      throw this.#located(error, this.#parts.natives.place)
    }
    if (first + results.length > MAX_OPERANDS) throw new VmFault(STATUS.EXECUTION_STACK_OVERFLOW)
    if (results.length !== callee.definition.results.length) throw unverifiedCode('a native with other results')
    for (let at = 0; at < results.length; at++) this.#stack[first + at] = results[at]!
    this.#height = first + results.length
    return undefined
  }

  /**
   * The target of a link, resolved at its first use.
   * @throws VmFault, LackingKeys
   */
  #resolve(scope: FunctionInstance, index: number): unknown {
    const link = scope.code!.links[index]!
    const resolved = this.#resolveLink(scope, link)
    scope.links[index] = resolved
    return resolved
  }

  #resolveLink(scope: FunctionInstance, link: CodeLink): FunctionInstance | Type | PackedClosureLink {
    switch (link.kind) {
      case 'function':
        return this.#world.callee(scope, link.handle, link.typeArguments)
      case 'type':
        return this.#world.instantiate(scope, link.type)
      case 'closure':
        return this.#parts.closures.link(scope, link)
    }
  }

  /** The type that a link names. Checks that values of it are not too deep. */
  #resolveShallow(scope: FunctionInstance, index: number): Type {
    const type = (scope.links[index] ?? this.#resolve(scope, index)) as Type
    this.#parts.layouts.expectShallow(type)
    scope.checked[index] = this.#world.run
    return type
  }

  /** The place of a resource. Checks that its module is not active twice. */
  #resource(scope: FunctionInstance, type: Type, address: Value): Slot[] {
    if (typeof address !== 'string') throw unverifiedCode('an address that is none')
    this.#reentrancy.expectAccess(scope.module, (type as StructType).name)
    return this.#parts.globals.resource(address, type)
  }

  #execute(turn: number): void {
    const stack = this.#stack
    const meter = this.#meter
    const copier = this.#copier
    const equality = this.#equality
    const frames = this.#frames
    const { run } = this.#world
    let frame = frames.at(-1)!
    let { callee, locals } = frame
    let { opcodes, a, b, literals } = frame.code
    let links = callee.links
    let at = frame.at
    let height = this.#height
    let fuel = turn
    /** Value of `fuel` when the meter last counted. */
    let counted = turn

    try {
      for (;;) {
        if (fuel <= 0) {
          meter.instructions += counted - fuel
          counted = fuel
          if (meter.instructionsLeft <= 0) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
          frame.at = at
          this.#height = height
          return
        }
        fuel--
        // The cases are literals: V8 jumps through a table then, and otherwise compares with one case after the other.
        switch (opcodes[at]) {
          case 0 satisfies typeof OP.nop:
            break
          case 1 satisfies typeof OP.pop:
            height--
            break
          case 2 satisfies typeof OP.ret: {
            const { localCount, mayReturnLocals } = frame.code
            if (mayReturnLocals) expectForeign(stack, height - frame.code.resultCount, height, locals)
            for (let local = 0; local < localCount; local++) locals[local] = undefined
            frames.pop()
            this.#reentrancy.leave(callee, frame.entry)
            // An index of -1 would be looked up as a name, which takes as long as ten instructions.
            const caller = frames.length > 0 ? frames[frames.length - 1] : undefined
            if (caller === undefined) {
              meter.instructions += counted - fuel
              this.#height = height
              return
            }
            frame = caller
            callee = frame.callee
            locals = frame.locals
            ;({ opcodes, a, b, literals } = frame.code)
            links = callee.links
            at = frame.at
            continue
          }
          case 3 satisfies typeof OP.branchTrue:
            if (stack[--height] === true) {
              at = a[at]!
              continue
            }
            break
          case 4 satisfies typeof OP.branchFalse:
            if (stack[--height] === false) {
              at = a[at]!
              continue
            }
            break
          case 5 satisfies typeof OP.branch:
            at = a[at]!
            continue
          case 6 satisfies typeof OP.load:
            if (height >= MAX_OPERANDS) throw stackOverflow()
            stack[height++] = literals[a[at]!]!
            break
          case 7 satisfies typeof OP.loadCopy: {
            if (height >= MAX_OPERANDS) throw stackOverflow()
            const { bytes: before } = meter
            stack[height] = copier.copy(literals[a[at]!]!)
            height++
            const steps = copier.isUnfinished ? fuel : stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            break
          }
          case 8 satisfies typeof OP.copyPlain: {
            const value = locals[a[at]!]
            if (value === undefined) throw emptyLocal()
            if (height >= MAX_OPERANDS) throw stackOverflow()
            stack[height++] = value
            break
          }
          case 9 satisfies typeof OP.copyLocal: {
            const value = locals[a[at]!]
            if (value === undefined) throw emptyLocal()
            if (height >= MAX_OPERANDS) throw stackOverflow()
            if (typeof value !== 'object') {
              stack[height++] = value
              break
            }
            const { bytes: before } = meter
            stack[height] = copier.copy(value)
            height++
            const steps = copier.isUnfinished ? fuel : stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            break
          }
          case 10 satisfies typeof OP.moveLocal: {
            const local = a[at]!
            const value = locals[local]
            if (value === undefined) throw emptyLocal()
            if (height >= MAX_OPERANDS) throw stackOverflow()
            locals[local] = undefined
            stack[height++] = value
            break
          }
          case 11 satisfies typeof OP.storeLocal:
            locals[a[at]!] = stack[--height]
            break
          case 12 satisfies typeof OP.borrowLocal: {
            const local = a[at]!
            if (locals[local] === undefined) throw emptyLocal()
            if (height >= MAX_OPERANDS) throw stackOverflow()
            stack[height++] = new Reference(locals, local, locals)
            break
          }
          case 13 satisfies typeof OP.borrowField: {
            const reference = stack[height - 1] as Reference
            const struct = readReference(reference) as StructValue
            const field = a[at]!
            stack[height - 1] = new Reference(struct.fieldsFor(field), field, reference.origin)
            break
          }
          case 14 satisfies typeof OP.borrowVariantField: {
            const reference = stack[height - 1] as Reference
            const value = readReference(reference) as StructValue
            const set = frame.code.variantSets[b[at]!]!
            if (!set.variants.includes(value.variant)) throw otherVariant(set, value.variant)
            stack[height - 1] = new Reference(value.fields, a[at]!, reference.origin)
            break
          }
          case 15 satisfies typeof OP.call: {
            meter.instructions += counted - fuel
            counted = fuel
            meter.mark()
            const target = (links[a[at]!] ?? this.#resolve(callee, a[at]!)) as FunctionInstance
            if (target.run !== run) this.#world.useFunction(target, callee.module.loaded)
            this.#height = height
            let next: Frame | undefined
            if (target.definition.isNative) {
              const { bytes: before } = meter
              next = this.#callNative(target, target.parameterCount)
              const steps = stepsOf(meter.bytes - before)
              fuel -= steps
              counted -= steps
            } else next = this.#enter(callee.module, target, 'static')
            height = this.#height
            if (meter.charged > 0) {
              fuel -= meter.charged
              counted = fuel
              meter.takeCharged()
            }
            if (next === undefined) break
            // `callClosure` and `ret` repeat these lines: a function could not set the local variables of the loop.
            frame.at = at + 1
            frame = next
            callee = frame.callee
            locals = frame.locals
            ;({ opcodes, a, b, literals } = frame.code)
            links = callee.links
            at = 0
            continue
          }
          case 61 satisfies typeof OP.callClosure: {
            meter.instructions += counted - fuel
            counted = fuel
            meter.mark()
            const closure = stack[height - 1]!
            const type = (links[a[at]!] ?? this.#resolve(callee, a[at]!)) as FunctionType
            const target = this.#parts.closures.target(closure as ClosureValue, type)
            this.#height = height
            const { bytes: before } = meter
            const next = this.#callClosure(callee.module, target, closure as ClosureValue, b[at]!)
            const steps = stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            height = this.#height
            if (meter.charged > 0) {
              fuel -= meter.charged
              counted = fuel
              meter.takeCharged()
            }
            if (next === undefined) break
            frame.at = at + 1
            frame = next
            callee = frame.callee
            locals = frame.locals
            ;({ opcodes, a, b, literals } = frame.code)
            links = callee.links
            at = 0
            continue
          }
          case 16 satisfies typeof OP.pack: {
            const count = a[at]!
            meter.chargeContainer(count)
            const first = height - count
            const fields = stack.slice(first, height)
            meter.chargeWideValues(fields)
            if (first >= MAX_OPERANDS) throw stackOverflow()
            stack[first] = new StructValue(b[at]!, fields)
            height = first + 1
            break
          }
          case 17 satisfies typeof OP.packChecked: {
            if (callee.checked[b[at]!] !== run) {
              meter.instructions += counted - fuel
              counted = fuel
              meter.mark()
              this.#resolveShallow(callee, b[at]!)
              if (meter.charged > 0) {
                fuel -= meter.charged
                counted = fuel
                meter.takeCharged()
              }
            }
            const count = a[at]! & 0xffff
            meter.chargeContainer(count)
            const first = height - count
            const fields = stack.slice(first, height)
            meter.chargeWideValues(fields)
            if (first >= MAX_OPERANDS) throw stackOverflow()
            stack[first] = new StructValue(a[at]! >>> VARIANT_SHIFT, fields)
            height = first + 1
            break
          }
          case 19 satisfies typeof OP.unpackVariant: {
            const value = stack[height - 1] as StructValue
            const set = frame.code.variantSets[b[at]!]!
            if (value.variant !== set.variants[0]) throw otherVariant(set, value.variant)
            height = unpack(stack, height, value.fields, a[at]!)
            break
          }
          case 18 satisfies typeof OP.unpack:
            height = unpack(stack, height, (stack[height - 1] as StructValue).fields, a[at]!)
            break
          case 20 satisfies typeof OP.testVariant:
            stack[height - 1] = (readReference(stack[height - 1]!) as StructValue).variant === a[at]!
            break
          case 21 satisfies typeof OP.readPlain: {
            const reference = stack[height - 1]!
            if (reference instanceof Reference) {
              const value = reference.slots[reference.index]
              if (value === undefined) throw emptyLocal()
              stack[height - 1] = value
            } else stack[height - 1] = readReference(reference)
            break
          }
          case 22 satisfies typeof OP.readReference: {
            const { bytes: before } = meter
            stack[height - 1] = copier.copy(readReference(stack[height - 1]!))
            const steps = copier.isUnfinished ? fuel : stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            break
          }
          case 23 satisfies typeof OP.writeReference:
            height -= 2
            if (typeof stack[height] === 'bigint') meter.chargeBytes(WIDEST_BIGINT_BYTES)
            writeReference(stack[height + 1]!, stack[height]!)
            break
          case 24 satisfies typeof OP.add: {
            const right = stack[--height] as Integer
            const left = stack[height - 1] as Integer
            if (typeof left === 'number' && typeof right === 'number') {
              const sum = left + right
              const type = a[at]!
              if (sum <= FAST_MAX[type]! && sum >= FAST_MIN[type]!) {
                stack[height - 1] = sum
                break
              }
            }
            stack[height - 1] = add(left, right, a[at]!)
            break
          }
          case 25 satisfies typeof OP.sub: {
            const right = stack[--height] as Integer
            const left = stack[height - 1] as Integer
            if (typeof left === 'number' && typeof right === 'number') {
              const difference = left - right
              const type = a[at]!
              if (difference <= FAST_MAX[type]! && difference >= FAST_MIN[type]!) {
                stack[height - 1] = difference
                break
              }
            }
            stack[height - 1] = subtract(left, right, a[at]!)
            break
          }
          case 26 satisfies typeof OP.mul: {
            const right = stack[--height] as Integer
            const left = stack[height - 1] as Integer
            if (typeof left === 'number' && typeof right === 'number') {
              const product = left * right
              const type = a[at]!
              if (product <= FAST_MAX[type]! && product >= FAST_MIN[type]!) {
                stack[height - 1] = product
                break
              }
            }
            stack[height - 1] = multiply(left, right, a[at]!)
            break
          }
          case 27 satisfies typeof OP.mod: {
            const right = stack[--height] as Integer
            const left = stack[height - 1] as Integer
            // In 32 bits, V8 divides with one instruction instead of a call.
            stack[height - 1] =
              isShort(left) && isShort(right) && right > 0 ? (left | 0) % (right | 0) : remainder(left, right, a[at]!)
            break
          }
          case 28 satisfies typeof OP.div: {
            const right = stack[--height] as Integer
            const left = stack[height - 1] as Integer
            stack[height - 1] =
              isShort(left) && isShort(right) && right > 0
                ? ((left | 0) / (right | 0)) | 0
                : divide(left, right, a[at]!)
            break
          }
          case 29 satisfies typeof OP.bitOr: {
            const right = stack[--height] as Integer
            stack[height - 1] = bitOr(stack[height - 1] as Integer, right)
            break
          }
          case 30 satisfies typeof OP.bitAnd: {
            const right = stack[--height] as Integer
            stack[height - 1] = bitAnd(stack[height - 1] as Integer, right)
            break
          }
          case 31 satisfies typeof OP.xor: {
            const right = stack[--height] as Integer
            stack[height - 1] = bitXor(stack[height - 1] as Integer, right)
            break
          }
          case 32 satisfies typeof OP.shiftLeft: {
            const amount = stack[--height] as number
            stack[height - 1] = shiftLeft(stack[height - 1] as Integer, amount, a[at]!)
            break
          }
          case 33 satisfies typeof OP.shiftRight: {
            const amount = stack[--height] as number
            stack[height - 1] = shiftRight(stack[height - 1] as Integer, amount, a[at]!)
            break
          }
          case 34 satisfies typeof OP.negate:
            stack[height - 1] = negate(stack[height - 1] as Integer, a[at]!)
            break
          case 35 satisfies typeof OP.cast:
            stack[height - 1] = cast(stack[height - 1] as Integer, b[at]!, a[at]!)
            break
          case 36 satisfies typeof OP.or: {
            const right = stack[--height]
            stack[height - 1] = stack[height - 1] === true || right === true
            break
          }
          case 37 satisfies typeof OP.and: {
            const right = stack[--height]
            stack[height - 1] = stack[height - 1] === true && right === true
            break
          }
          case 38 satisfies typeof OP.not:
            stack[height - 1] = stack[height - 1] !== true
            break
          case 39 satisfies typeof OP.equalPlain: {
            const right = stack[--height]
            stack[height - 1] = stack[height - 1] === right
            break
          }
          case 40 satisfies typeof OP.notEqualPlain: {
            const right = stack[--height]
            stack[height - 1] = stack[height - 1] !== right
            break
          }
          case 41 satisfies typeof OP.equal: {
            const right = stack[--height]!
            const { bytes: before } = meter
            stack[height - 1] = equality.begin(stack[height - 1]!, right)
            const steps = equality.isUnfinished ? fuel : stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            break
          }
          case 42 satisfies typeof OP.notEqual: {
            const right = stack[--height]!
            const { bytes: before } = meter
            stack[height - 1] = !equality.begin(stack[height - 1]!, right)
            const steps = equality.isUnfinished ? fuel : stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            break
          }
          case 43 satisfies typeof OP.less: {
            const right = stack[--height] as Integer
            stack[height - 1] = (stack[height - 1] as Integer) < right
            break
          }
          case 44 satisfies typeof OP.greater: {
            const right = stack[--height] as Integer
            stack[height - 1] = (stack[height - 1] as Integer) > right
            break
          }
          case 45 satisfies typeof OP.lessOrEqual: {
            const right = stack[--height] as Integer
            stack[height - 1] = (stack[height - 1] as Integer) <= right
            break
          }
          case 46 satisfies typeof OP.greaterOrEqual: {
            const right = stack[--height] as Integer
            stack[height - 1] = (stack[height - 1] as Integer) >= right
            break
          }
          case 47 satisfies typeof OP.abort:
            throw new MoveAbort(BigInt(stack[height - 1] as Integer))
          case 48 satisfies typeof OP.abortWithText:
            throw abortWithText(stack[height - 2] as Integer, stack[height - 1] as ByteVector)
          case 49 satisfies typeof OP.exists:
          case 50 satisfies typeof OP.borrowGlobal:
          case 51 satisfies typeof OP.moveFrom:
          case 52 satisfies typeof OP.moveTo: {
            meter.instructions += counted - fuel
            counted = fuel
            meter.mark()
            const type = (links[a[at]!] ?? this.#resolve(callee, a[at]!)) as Type
            this.#height = height
            const { bytes: before } = meter
            this.#global(opcodes[at]!, callee, type)
            const steps = stepsOf(meter.bytes - before)
            fuel -= steps
            counted -= steps
            height = this.#height
            if (meter.charged > 0) {
              fuel -= meter.charged
              counted = fuel
              meter.takeCharged()
            }
            break
          }
          case 53 satisfies typeof OP.packVector: {
            if (callee.checked[a[at]!] !== run) {
              meter.instructions += counted - fuel
              counted = fuel
              meter.mark()
              this.#resolveShallow(callee, a[at]!)
              if (meter.charged > 0) {
                fuel -= meter.charged
                counted = fuel
                meter.takeCharged()
              }
            }
            const type = links[a[at]!] as Type & { kind: 'vector' }
            const first = height - b[at]!
            if (type.element.kind === 'u8') meter.chargeByteVector(b[at]!)
            else meter.chargeContainer(b[at]!)
            if (first >= MAX_OPERANDS) throw stackOverflow()
            const items = stack.slice(first, height)
            meter.chargeWideValues(items)
            stack[first] =
              type.element.kind === 'u8' ? new ByteVector(Uint8Array.from(items as number[])) : new VectorValue(items)
            height = first + 1
            break
          }
          case 54 satisfies typeof OP.vectorLength: {
            const vector = readReference(stack[height - 1]!)
            stack[height - 1] = vector instanceof ByteVector ? vector.length : (vector as VectorValue).items.length
            break
          }
          case 55 satisfies typeof OP.borrowElement: {
            const index = stack[--height]!
            const reference = stack[height - 1] as Reference
            const vector = readReference(reference)
            if (vector instanceof ByteVector) {
              if (typeof index !== 'number' || index >= vector.length) throw vectorFault(VECTOR_FAULT.outOfBounds)
              stack[height - 1] = new ByteReference(vector, index, reference.origin)
            } else {
              const { items } = vector as VectorValue
              if (typeof index !== 'number' || index >= items.length) throw vectorFault(VECTOR_FAULT.outOfBounds)
              stack[height - 1] = new Reference(items, index, reference.origin)
            }
            break
          }
          case 56 satisfies typeof OP.pushBack: {
            height -= 2
            const vector = readReference(stack[height]!)
            if (vector instanceof ByteVector) {
              expectVectorBytes(vector.length + 1)
              meter.chargeBytes(1)
              vector.push(stack[height + 1] as number)
            } else {
              const { items } = vector as VectorValue
              const item = stack[height + 1]!
              expectElements(items.length + 1)
              const grown = (vector as VectorValue).reserve(1)
              if (grown > 0) meter.chargeBytes(SLOT_BYTES * grown)
              if (typeof item === 'bigint') meter.chargeBytes(WIDEST_BIGINT_BYTES)
              items.push(item)
            }
            break
          }
          case 57 satisfies typeof OP.popBack: {
            const vector = readReference(stack[height - 1]!)
            const popped = vector instanceof ByteVector ? vector.pop() : (vector as VectorValue).items.pop()
            if (popped === undefined) throw vectorFault(VECTOR_FAULT.popOfEmpty)
            stack[height - 1] = popped
            break
          }
          case 58 satisfies typeof OP.unpackVector: {
            const vector = stack[height - 1]!
            const { length } = vector instanceof ByteVector ? vector : (vector as VectorValue).items
            if (length !== a[at]!) throw vectorFault(VECTOR_FAULT.wrongLength)
            const items = vector instanceof ByteVector ? [...vector.view()] : (vector as VectorValue).items
            height = unpack(stack, height, items, length)
            break
          }
          case 59 satisfies typeof OP.swap:
            height -= 3
            swap(readReference(stack[height]!), stack[height + 1]!, stack[height + 2]!)
            break
          case 60 satisfies typeof OP.packClosure: {
            meter.instructions += counted - fuel
            counted = fuel
            meter.mark()
            let link = links[a[at]!] as PackedClosureLink | undefined
            if (link?.run !== run) {
              link = this.#resolve(callee, a[at]!) as PackedClosureLink
              if (meter.charged > 0) {
                fuel -= meter.charged
                counted = fuel
                meter.takeCharged()
              }
            }
            const first = height - link.capturedCount
            meter.chargeContainer(link.capturedCount)
            const captured = stack.slice(first, height)
            meter.chargeWideValues(captured)
            if (first >= MAX_OPERANDS) throw stackOverflow()
            stack[first] = this.#parts.closures.pack(link, captured)
            height = first + 1
            break
          }
          default:
            throw unverifiedCode('an unknown instruction')
        }
        at++
      }
    } catch (error) {
      frame.at = at
      this.#height = height
      if (isRetried(error)) {
        // The instruction will run again, and counts then.
        meter.instructions += counted - (fuel + 1)
        meter.undo()
        throw error
      }
      meter.instructions += counted - fuel
      throw this.#located(error, placeOf(callee, at))
    }
  }

  /**
   * Runs an instruction on global storage, with operands from the stack.
   * @throws VmFault; LackingKeys, before anything is changed
   */
  #global(opcode: number, scope: FunctionInstance, type: Type): void {
    const stack = this.#stack
    const top = this.#height - 1
    if (opcode === OP.moveTo) {
      const signer = readReference(stack[top - 1]!) as StructValue
      const address = signer.fields[0]!
      const cell = this.#resource(scope, type, address)
      if (cell[0] !== undefined) {
        throw new VmFault(STATUS.RESOURCE_ALREADY_EXISTS, `Failed to move resource into ${address}`)
      }
      cell[0] = stack[top]
      this.#height -= 2
      return
    }
    const address = stack[top]!
    const cell = this.#resource(scope, type, address)
    if (opcode === OP.exists) {
      stack[top] = cell[0] !== undefined
      return
    }
    const value = cell[0]
    if (value === undefined) {
      const verb = opcode === OP.borrowGlobal ? 'borrow global' : 'move'
      throw new VmFault(STATUS.MISSING_DATA, `Failed to ${verb} resource from ${address}`)
    }
    if (opcode === OP.borrowGlobal) stack[top] = new Reference(cell, 0)
    else {
      cell[0] = undefined
      stack[top] = value
    }
  }

  /**
   * Calls a closure, which is on the stack above its arguments.
   * @throws as calls do
   */
  #callClosure(
    caller: ModuleInstance,
    target: FunctionInstance,
    closure: ClosureValue,
    givenCount: number,
  ): Frame | undefined {
    const first = this.#height - 1 - givenCount
    const { closures } = this.#parts
    const args = closures.argumentsOf(closure, this.#stack.slice(first, this.#height - 1))
    const height = this.#height
    this.#height = first
    for (const arg of args) this.#stack[this.#height++] = arg
    try {
      if (target.definition.isNative) return this.#callNative(target, args.length)
      return this.#enter(caller, target, 'closure')
    } catch (error) {
      // Puts the closure and its arguments back, as the instruction may run again.
      for (let at = 0; at < givenCount; at++) this.#stack[first + at] = closures.givenArgument(closure, args, at)
      this.#stack[height - 1] = closure
      throw error
    }
  }
}

/** Slots for up to `FEW_LOCALS` locals, in a third of the time of a part of `NO_LOCALS`. */
function fewLocals(): Slot[] {
  return [undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
}

/** Expects no reference into the locals among the results of a function, which are on the stack starting at `first`. */
function expectForeign(stack: readonly Value[], first: number, height: number, locals: readonly Slot[]): void {
  for (let at = first; at < height; at++) {
    const value = stack[at]
    if ((value instanceof Reference || value instanceof ByteReference) && value.origin === locals) {
      throw unverifiedCode('a reference to a local that ends')
    }
  }
}

/** Replaces the value on top of the stack by its parts. Returns the new height. */
function unpack(stack: Value[], height: number, parts: readonly Value[], count: number): number {
  const first = height - 1
  if (parts.length !== count) throw unverifiedCode('a value with another number of parts')
  if (first + count > MAX_OPERANDS) throw stackOverflow()
  for (let at = 0; at < count; at++) stack[first + at] = parts[at]!
  return first + count
}

function swap(vector: Value, i: Value, j: Value): void {
  const { length } = vector instanceof ByteVector ? vector : (vector as VectorValue).items
  if (typeof i !== 'number' || typeof j !== 'number' || i >= length || j >= length) {
    throw vectorFault(VECTOR_FAULT.outOfBounds)
  }
  if (vector instanceof ByteVector) {
    vector.swap(i, j)
    return
  }
  const { items } = vector as VectorValue
  const item = items[i]!
  items[i] = items[j]!
  items[j] = item
}

function abortWithText(code: Integer, text: ByteVector): VmFault | MoveAbort {
  if (text.length > MAX_ABORT_TEXT) return new VmFault(STATUS.ABORT_MESSAGE_LIMIT_EXCEEDED)
  const decoded = decodeUtf8(text.view())
  return decoded === undefined ? new VmFault(STATUS.INVALID_ABORT_MESSAGE) : new MoveAbort(BigInt(code), decoded)
}

/** Whether an integer is from 0 to 2^31 - 1. */
function isShort(value: Integer): value is number {
  return typeof value === 'number' && (value | 0) === value && value >= 0
}

function placeOf({ module, loaded }: FunctionInstance, codeOffset: number): FaultPlace {
  const { address, name } = module.name
  return { address, module: name, functionIndex: loaded.index, codeOffset }
}

function stepsOf(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_STEP)
}

function stackOverflow(): VmFault {
  return new VmFault(STATUS.EXECUTION_STACK_OVERFLOW)
}

function emptyLocal(): VmFault {
  return unverifiedCode('a value that was moved away')
}

function vectorFault(subStatus: bigint): VmFault {
  return new VmFault(STATUS.VECTOR_OPERATION_ERROR, undefined, { subStatus })
}

function otherVariant({ definition, variants }: VariantSet, found: number): VmFault {
  const names = definition.kind === 'enum' ? definition.variants.map(({ name }) => name) : []
  const expected = variants.map((variant) => names[variant]).join(' or ')
  const text =
    variants.length === 1
      ? `expected enum variant ${expected}, found ${names[found]}`
      : `expected enum variant ${expected}, found \`${names[found]}\``
  return new VmFault(STATUS.STRUCT_VARIANT_MISMATCH, text)
}
