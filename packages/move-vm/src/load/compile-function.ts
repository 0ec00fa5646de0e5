import {
  ABILITY,
  byOpcode,
  type CodedFunction,
  type Constant,
  type FieldDefinition,
  type FunctionCode,
  type FunctionHandle,
  type Instantiation,
  type SignatureToken,
  type StructDefinition,
  type StructHandle,
} from '@ledger-state/move-module'
import type { PrimitiveType } from '@ledger-state/type-tag'
import type { StepMeter } from '../budget/compile-meter.js'
import { malformedCode } from '../faults/vm-fault.js'
import { FIRST_SIGNED, integerTypeOf } from '../types/integer-type.js'
import { TYPE_BYTES, TYPE_WORK } from '../types/type.js'
import type { Value } from '../values/value.js'
import { type ControlFlow, findBlocks } from '../verify/control-flow.js'
import { expectReducible } from '../verify/loops.js'
import type { VerifiedModule } from '../verify/reference-safety.js'
import { UnitLimit, VerifierMeter } from '../verify/verifier-meter.js'
import { verifySafety } from '../verify/verify-safety.js'
import { OP } from './opcode.js'
import {
  type ModuleName,
  OPEN_TYPE_BYTES,
  type OpenType,
  type OpenTypes,
  PART_BYTES,
  type StructName,
} from './open-type.js'
import { type ConstantReading, heapBytesOf, readConstant } from './read-constant.js'
import { expectConstraints, TypeAbilities } from './type-abilities.js'

/** Operand of an instruction that depends on other modules or on the type arguments of the function. */
export type CodeLink =
  | { readonly kind: 'function'; readonly handle: FunctionHandle; readonly typeArguments: readonly OpenType[] }
  | { readonly kind: 'type'; readonly type: OpenType }
  | {
      readonly kind: 'closure'
      readonly handle: FunctionHandle
      readonly typeArguments: readonly OpenType[]
      readonly mask: bigint
      readonly captured: readonly OpenType[]
    }

/** Variants of an enum that an instruction takes. */
export interface VariantSet {
  readonly definition: StructDefinition
  readonly variants: readonly number[]
}

/** A function as it runs: instructions of `OP` in flat arrays, at the code offsets of the binary. All runs share it. */
export interface CompiledFunction {
  readonly opcodes: Uint8Array
  readonly a: Int32Array
  readonly b: Int32Array
  readonly literals: readonly Value[]
  readonly links: readonly CodeLink[]
  readonly variantSets: readonly VariantSet[]
  readonly parameterCount: number
  readonly resultCount: number
  /** Number of locals, parameters included. */
  readonly localCount: number
  /** Work that linking an instance of the function takes, in instructions. */
  readonly linkWork: number
  /** Types that linking an instance makes, as its type arguments are put in: their number. */
  readonly linkTypes: number
  /** Heap bytes, without the types. */
  readonly heapBytes: number
  /** Whether an instruction makes a reference to a local. */
  readonly borrowsLocals: boolean
  /** Whether a result may be a reference to a local. No verified function returns one. */
  readonly mayReturnLocals: boolean
}

/** No verified function has more locals. */
export const MAX_LOCALS = 255

/** A function that is being verified. */
export interface FunctionVerification {
  /**
   * Continues to verify. If the meter throws because the turn is over, the next call continues at the same instruction.
   * @throws VmFault
   */
  finish(): void
}

/** A function that is being compiled. */
export interface Compilation {
  /** Continues to compile. If the meter throws, the next call continues at the same instruction. */
  finish(): CompiledFunction
}

/**
 * Verifies the code of a function: control flow, types of operands, the balance of the stack in each basic block, that
 * every operand names something, and the use of locals, references and acquired structs.
 *
 * The count of the meter depends only on the function, even if the module has some of its types already.
 */
export function beginToVerify(
  module: ModuleParts,
  definition: CodedFunction,
  meter: StepMeter,
  units: UnitLimit,
): FunctionVerification {
  return new FunctionCompiler(module, definition, meter, units)
}

/**
 * Compiles a function that was verified. The binary does not have the types of operands, but arithmetic needs them: they are
 * found as they are when the function is verified.
 */
export function beginToCompile(module: ModuleParts, definition: CodedFunction, meter: StepMeter): Compilation {
  return new FunctionCompiler(module, definition, meter)
}

/** The parts of a module that compiling reads. */
interface ModuleParts extends VerifiedModule {
  readonly name: ModuleName
  readonly types: OpenTypes
  structHandle(struct: StructName): StructHandle | undefined
}

/** Heap bytes that the compiled function takes for each instruction and link. */
const FUNCTION_BYTES = 600
const INSTRUCTION_BYTES = 9
const LINK_BYTES = 120
const INSTRUCTION_WORK = 2
/** Most operands on the stack of a function, and most that a block pushes. */
const MAX_STACK = 1_024
const MAX_PUSHES = 10_000
/** Units of the reference for each type in the type of an operand, and in type arguments. */
const UNITS_OF_TYPE = 30

/** Compiles a function. Unless it was verified, its control flow is checked before, its safety afterwards. */
class FunctionCompiler implements Compilation {
  /** Compiles one instruction. Returns whether the next one is reached from it. */
  static readonly #INSTRUCTIONS = byOpcode<(c: FunctionCompiler) => boolean>({
    pop: (c) => c.#discard(),
    ret: (c) => c.#return(),
    br_true: (c) => c.#branchIf(OP.branchTrue),
    br_false: (c) => c.#branchIf(OP.branchFalse),
    branch: (c) => c.#branch(),
    ld_u64: (c) => c.#loadNumber('u64'),
    ld_u8: (c) => c.#loadNumber('u8'),
    ld_u128: (c) => c.#loadNumber('u128'),
    ld_u16: (c) => c.#loadNumber('u16'),
    ld_u32: (c) => c.#loadNumber('u32'),
    ld_u256: (c) => c.#loadNumber('u256'),
    ld_i8: (c) => c.#loadNumber('i8'),
    ld_i16: (c) => c.#loadNumber('i16'),
    ld_i32: (c) => c.#loadNumber('i32'),
    ld_i64: (c) => c.#loadNumber('i64'),
    ld_i128: (c) => c.#loadNumber('i128'),
    ld_i256: (c) => c.#loadNumber('i256'),
    ld_const: (c) => c.#loadConstant(),
    ld_true: (c) => c.#loadBoolean(true),
    ld_false: (c) => c.#loadBoolean(false),
    copy_loc: (c) => c.#copyLocal(),
    move_loc: (c) => c.#moveLocal(),
    st_loc: (c) => c.#storeLocal(),
    mut_borrow_loc: (c) => c.#borrowLocal(true),
    imm_borrow_loc: (c) => c.#borrowLocal(false),
    mut_borrow_field: (c) => c.#borrowField(false, true),
    imm_borrow_field: (c) => c.#borrowField(false, false),
    mut_borrow_field_generic: (c) => c.#borrowField(true, true),
    imm_borrow_field_generic: (c) => c.#borrowField(true, false),
    imm_borrow_variant_field: (c) => c.#borrowVariantField(false, false),
    mut_borrow_variant_field: (c) => c.#borrowVariantField(false, true),
    imm_borrow_variant_field_generic: (c) => c.#borrowVariantField(true, false),
    mut_borrow_variant_field_generic: (c) => c.#borrowVariantField(true, true),
    call: (c) => c.#call(false),
    call_generic: (c) => c.#call(true),
    pack: (c) => c.#packStruct(false),
    pack_generic: (c) => c.#packStruct(true),
    unpack: (c) => c.#unpack(false),
    unpack_generic: (c) => c.#unpack(true),
    pack_variant: (c) => c.#packVariant(false),
    pack_variant_generic: (c) => c.#packVariant(true),
    unpack_variant: (c) => c.#unpackVariant(false),
    unpack_variant_generic: (c) => c.#unpackVariant(true),
    test_variant: (c) => c.#testVariant(false),
    test_variant_generic: (c) => c.#testVariant(true),
    read_ref: (c) => c.#readReference(),
    write_ref: (c) => c.#writeReference(),
    freeze_ref: (c) => c.#freezeReference(),
    add: (c) => c.#arithmetic(OP.add),
    sub: (c) => c.#arithmetic(OP.sub),
    mul: (c) => c.#arithmetic(OP.mul),
    mod: (c) => c.#arithmetic(OP.mod),
    div: (c) => c.#arithmetic(OP.div),
    bit_or: (c) => c.#bits(OP.bitOr),
    bit_and: (c) => c.#bits(OP.bitAnd),
    xor: (c) => c.#bits(OP.xor),
    shl: (c) => c.#shift(OP.shiftLeft),
    shr: (c) => c.#shift(OP.shiftRight),
    negate: (c) => c.#negate(),
    cast_u8: (c) => c.#cast('u8'),
    cast_u64: (c) => c.#cast('u64'),
    cast_u128: (c) => c.#cast('u128'),
    cast_u16: (c) => c.#cast('u16'),
    cast_u32: (c) => c.#cast('u32'),
    cast_u256: (c) => c.#cast('u256'),
    cast_i8: (c) => c.#cast('i8'),
    cast_i16: (c) => c.#cast('i16'),
    cast_i32: (c) => c.#cast('i32'),
    cast_i64: (c) => c.#cast('i64'),
    cast_i128: (c) => c.#cast('i128'),
    cast_i256: (c) => c.#cast('i256'),
    or: (c) => c.#logic(OP.or),
    and: (c) => c.#logic(OP.and),
    not: (c) => c.#not(),
    eq: (c) => c.#equality(true),
    neq: (c) => c.#equality(false),
    lt: (c) => c.#compare(OP.less),
    gt: (c) => c.#compare(OP.greater),
    le: (c) => c.#compare(OP.lessOrEqual),
    ge: (c) => c.#compare(OP.greaterOrEqual),
    abort: (c) => c.#abort(),
    abort_msg: (c) => c.#abortWithText(),
    nop: (c) => c.#nop(),
    exists: (c) => c.#exists(false),
    exists_generic: (c) => c.#exists(true),
    mut_borrow_global: (c) => c.#borrowGlobal(false, true),
    imm_borrow_global: (c) => c.#borrowGlobal(false, false),
    mut_borrow_global_generic: (c) => c.#borrowGlobal(true, true),
    imm_borrow_global_generic: (c) => c.#borrowGlobal(true, false),
    move_from: (c) => c.#moveFrom(false),
    move_from_generic: (c) => c.#moveFrom(true),
    move_to: (c) => c.#moveTo(false),
    move_to_generic: (c) => c.#moveTo(true),
    vec_pack: (c) => c.#packVector(),
    vec_len: (c) => c.#vectorLength(),
    vec_imm_borrow: (c) => c.#borrowElement(false),
    vec_mut_borrow: (c) => c.#borrowElement(true),
    vec_push_back: (c) => c.#pushBack(),
    vec_pop_back: (c) => c.#popBack(),
    vec_unpack: (c) => c.#unpackVector(),
    vec_swap: (c) => c.#swap(),
    pack_closure: (c) => c.#packClosure(false),
    pack_closure_generic: (c) => c.#packClosure(true),
    call_closure: (c) => c.#callClosure(),
  })

  readonly #module: ModuleParts
  readonly #definition: CodedFunction
  readonly #code: FunctionCode
  readonly #meter: StepMeter
  readonly #isVerified: boolean
  #locals: readonly OpenType[] = []
  #results: readonly OpenType[] = []
  readonly #opcodes: Uint8Array
  readonly #a: Int32Array
  readonly #b: Int32Array
  readonly #literals: Value[] = []
  readonly #links: CodeLink[] = []
  readonly #variantSets: VariantSet[] = []
  readonly #stack: OpenType[] = []
  /** Types and lists of types that were charged. */
  readonly #seen = new Set<SignatureToken>()
  readonly #typeArguments = new Map<Instantiation, readonly OpenType[]>()
  readonly #substituted = new Map<readonly OpenType[], Map<OpenType, OpenType>>()
  /** Values of constants, by index. */
  readonly #constants = new Map<number, number>()
  /** The constant that is being read, and how many of its bytes are left. */
  #reading: { left: number; readonly steps: ConstantReading } | undefined
  readonly #closedLinks = new Set<OpenType>()
  readonly #own = new Set<OpenType>()
  #linkWork = 0
  #linkTypes = 0
  #partBytes = 0
  readonly #abilities: TypeAbilities
  readonly #verifierMeter: VerifierMeter
  readonly #flowSteps: Generator<void, ControlFlow, void>
  #flow: ControlFlow | undefined
  #loopSteps: Generator<void, void, void> | undefined
  #safetySteps: Generator<void, void, void> | undefined
  #hasBegun = false
  #pushedInBlock = 0
  #argumentsCountedAt = -1
  #reachesNext = true
  #at = 0
  #borrowsLocals = false

  constructor(module: ModuleParts, definition: CodedFunction, meter: StepMeter, units?: UnitLimit) {
    const { code } = definition
    if (!code) throw malformedCode('a native function has no code')
    this.#module = module
    this.#definition = definition
    this.#code = code
    this.#isVerified = units === undefined
    this.#meter = meter
    this.#abilities = new TypeAbilities(definition.typeParameters, (struct) => module.structHandle(struct), meter)
    this.#verifierMeter = new VerifierMeter(meter, units ?? new UnitLimit())
    this.#flowSteps = findBlocks(code, this.#verifierMeter)
    const { length } = code.opcodes
    this.#opcodes = new Uint8Array(length)
    this.#a = new Int32Array(length)
    this.#b = new Int32Array(length)
  }

  finish(): CompiledFunction {
    const { opcodes } = this.#code
    this.#flow ??= this.#finishSteps(this.#flowSteps)
    if (!this.#isVerified) {
      this.#loopSteps ??= this.#beginLoops(this.#flow)
      this.#finishSteps(this.#loopSteps)
    }
    this.#begin()
    const { starts } = this.#flow
    for (; this.#at < opcodes.length; this.#at++) {
      this.#meter.expectTurn()
      if (starts[this.#at] === 1) {
        if (this.#reachesNext) this.#expectEmptyStack()
        this.#stack.length = 0
        this.#pushedInBlock = 0
      }
      this.#reachesNext = this.#instruction(opcodes[this.#at]!)
      this.#meter.charge(INSTRUCTION_WORK, INSTRUCTION_BYTES)
    }
    if (!this.#isVerified) {
      this.#safetySteps ??= this.#beginSafety(this.#flow)
      this.#finishSteps(this.#safetySteps)
    }
    return {
      opcodes: this.#opcodes,
      a: this.#a,
      b: this.#b,
      literals: this.#literals,
      links: this.#links,
      variantSets: this.#variantSets,
      parameterCount: this.#definition.parameters.length,
      resultCount: this.#results.length,
      localCount: this.#locals.length,
      linkWork: this.#linkWork,
      linkTypes: this.#linkTypes,
      heapBytes: FUNCTION_BYTES + INSTRUCTION_BYTES * opcodes.length + this.#partBytes,
      borrowsLocals: this.#borrowsLocals,
      mayReturnLocals: this.#borrowsLocals && this.#results.some(({ kind }) => kind === 'reference'),
    }
  }

  /** Does the rest of the steps of a pass. If the turn ends on the way, the pass continues with the next one. */
  #finishSteps<T>(steps: Generator<void, T, void>): T {
    for (;;) {
      this.#meter.expectTurn()
      const step = steps.next()
      if (step.done) return step.value
    }
  }

  #beginLoops({ blocks }: ControlFlow): Generator<void, void, void> {
    this.#verifierMeter.charge(blocks.length)
    return expectReducible(blocks)
  }

  #beginSafety(flow: ControlFlow): Generator<void, void, void> {
    const canDrop = this.#locals.map((type) => (this.#abilities.of(type) & ABILITY.drop) !== 0)
    return verifySafety(this.#module, this.#definition, this.#code, flow, canDrop, this.#verifierMeter)
  }

  #begin(): void {
    if (this.#hasBegun) return
    const { parameters, results } = this.#definition
    const locals = [...parameters, ...this.#code.locals]
    if (locals.length > MAX_LOCALS) throw malformedCode(`${locals.length} locals`)
    this.#locals = this.#typesOf(locals)
    this.#results = this.#typesOf(results)
    for (const type of [...this.#locals, ...this.#results]) this.#abilities.of(type)
    this.#hasBegun = true
  }

  /** The type that a token names, charged when the function first names it. */
  #typeOf(token: SignatureToken): OpenType {
    const { types } = this.#module
    if (this.#seen.has(token)) return types.of(token)
    const size = types.sizeOf(token)
    this.#meter.charge(TYPE_WORK * size, OPEN_TYPE_BYTES * size)
    this.#seen.add(token)
    return types.of(token)
  }

  #typesOf(tokens: readonly SignatureToken[]): readonly OpenType[] {
    return tokens.map((token) => {
      this.#meter.expectTurn()
      return this.#typeOf(token)
    })
  }

  /** Charges a type that was made, when the function first makes it. */
  #made(type: OpenType, parts = 1): OpenType {
    if (this.#own.has(type)) return type
    this.#meter.charge(TYPE_WORK + parts, OPEN_TYPE_BYTES + PART_BYTES * parts)
    this.#own.add(type)
    return type
  }

  /** The type arguments of an instantiation: one list for each. */
  #argumentsOf(instantiation: Instantiation): readonly OpenType[] {
    let types = this.#typeArguments.get(instantiation)
    if (!types) {
      types = this.#ofValues(this.#typesOf(instantiation.typeArguments))
      if (types.length === 0) throw this.#fault('type arguments for an entry without type parameters')
      for (const type of types) this.#abilities.of(type)
      this.#typeArguments.set(instantiation, types)
    }
    // The instruction may run again if the turn ends later.
    if (this.#argumentsCountedAt !== this.#at) {
      for (const { size } of types) this.#verifierMeter.addUnits(UNITS_OF_TYPE * size)
      this.#argumentsCountedAt = this.#at
    }
    return types
  }

  /** Types of fields, or type arguments. None is a reference. */
  #ofValues(types: readonly OpenType[]): readonly OpenType[] {
    if (types.some(({ kind }) => kind === 'reference')) throw this.#fault('a reference in the place of a value')
    return types
  }

  /** A type with its type parameters replaced by a list of `#argumentsOf`. */
  #substitute(type: OpenType, typeArguments: readonly OpenType[]): OpenType {
    if (!type.isOpen) return type
    let known = this.#substituted.get(typeArguments)
    if (!known) {
      known = new Map()
      this.#substituted.set(typeArguments, known)
    }
    let substituted = known.get(type)
    if (!substituted) {
      substituted = this.#module.types.substitute(type, typeArguments, this.#meter)
      known.set(type, substituted)
    }
    return substituted
  }

  /**
   * All types of a list with their type parameters replaced. The turn may end on the way: an instruction asks for lists
   * before it changes anything.
   */
  #substituteAll(tokens: readonly SignatureToken[], typeArguments: readonly OpenType[]): readonly OpenType[] {
    return this.#typesOf(tokens).map((type) => {
      if (type.isOpen) this.#meter.expectTurn()
      return this.#substitute(type, typeArguments)
    })
  }

  #expectEmptyStack(): void {
    if (this.#stack.length > 0) throw malformedCode(`values left on the stack at ${this.#at}`)
  }

  #fault(why: string): Error {
    throw malformedCode(`${why} at ${this.#at}`)
  }

  #emit(opcode: number, a = 0, b = 0): void {
    this.#opcodes[this.#at] = opcode
    this.#a[this.#at] = a
    this.#b[this.#at] = b
  }

  #push(type: OpenType): void {
    this.#verifierMeter.addUnits(UNITS_OF_TYPE * type.size)
    if (++this.#pushedInBlock > MAX_PUSHES) throw this.#fault('too many operands in a block')
    if (this.#stack.push(type) > MAX_STACK) throw this.#fault('too many operands')
  }

  #pop(): OpenType {
    const type = this.#stack.pop()
    if (!type) throw this.#fault('an empty stack')
    return type
  }

  #popOf(expected: OpenType): void {
    if (!isAssignable(expected, this.#pop())) throw this.#fault('an operand of another type')
  }

  #popExactly(expected: OpenType): void {
    if (this.#pop() !== expected) throw this.#fault('an operand of another type')
  }

  #popAll(expected: readonly OpenType[]): void {
    for (let at = expected.length - 1; at >= 0; at--) this.#popOf(expected[at]!)
  }

  #popKind(kind: PrimitiveType): void {
    if (this.#pop().kind !== kind) throw this.#fault(`an operand that is not of kind ${kind}`)
  }

  #pushKind(kind: PrimitiveType): void {
    this.#push(this.#module.types.plain(kind))
  }

  #popInteger(): number {
    const type = integerTypeOf(this.#pop().kind)
    if (type < 0) throw this.#fault('an operand that is not an integer')
    return type
  }

  /** Pops one of two integers of one type and returns the number of the type; the other stays for the result. */
  #binaryInteger(): number {
    const right = this.#pop()
    const left = this.#pop()
    const type = integerTypeOf(left.kind)
    if (type < 0 || left !== right) throw this.#fault('operands that are not integers of one type')
    this.#push(left)
    return type
  }

  /** Pops a reference, which must be mutable if it is needed so. Returns the type that it refers to. */
  #popReference(isMutable = false): OpenType {
    const type = this.#pop()
    if (type.kind !== 'reference') throw this.#fault('an operand that is not a reference')
    if (isMutable && !type.mutable) throw this.#fault('an immutable reference')
    return type.to
  }

  #popReferenceTo(to: OpenType, isMutable = false): void {
    if (this.#popReference(isMutable) !== to) throw this.#fault('an operand of another type')
  }

  #pushReference(to: OpenType, isMutable: boolean): void {
    if (to.kind === 'reference') throw this.#fault('a reference to a reference')
    this.#push(this.#made(this.#module.types.reference(to, isMutable)))
  }

  #expectAbility(type: OpenType, ability: keyof typeof ABILITY): void {
    if ((this.#abilities.of(type) & ABILITY[ability]) === 0) throw this.#fault(`a value without the ability ${ability}`)
  }

  #entry<T>(table: readonly T[]): T {
    const index = this.#code.operands[this.#at]!
    const entry = table[index]
    if (entry === undefined) throw this.#fault(`entry ${index} of a table of ${table.length}`)
    return entry
  }

  #local(): number {
    const local = this.#code.operands[this.#at]!
    if (local >= this.#locals.length) throw this.#fault(`local ${local} of ${this.#locals.length}`)
    return local
  }

  /** Charges something that the code keeps, in addition to its instructions. */
  #keepPart(work: number, bytes: number): void {
    this.#meter.charge(work, bytes)
    this.#partBytes += bytes
  }

  #link(link: CodeLink): number {
    this.#keepPart(1, LINK_BYTES)
    this.#linkWork += 2
    if (link.kind === 'type') this.#countLinked(link.type)
    else for (const type of link.typeArguments) this.#countLinked(type)
    if (link.kind === 'closure') for (const type of link.captured) this.#countLinked(type)
    return this.#links.push(link) - 1
  }

  /**
   * Counts the cost of linking a type: open types are made for each instance of the function, others for the module.
   */
  #countLinked(type: OpenType): void {
    this.#linkWork++
    if (type.isOpen) {
      this.#linkWork += TYPE_WORK * type.size
      this.#linkTypes += type.size
    } else if (!this.#closedLinks.has(type)) {
      this.#closedLinks.add(type)
      this.#meter.charge(TYPE_WORK * type.size, TYPE_BYTES * type.size)
    }
  }

  #struct(index: number): StructDefinition {
    const definition = this.#module.code.structs[index]
    if (!definition) throw this.#fault(`struct ${index}`)
    return definition
  }

  /** The type of a struct of this module with these type arguments. */
  #structType(definition: StructDefinition, typeArguments: readonly OpenType[]): OpenType {
    if (definition.typeParameters.length !== typeArguments.length) throw this.#fault('a wrong number of type arguments')
    const { types, name } = this.#module
    const type = this.#made(types.struct(name, definition.name, typeArguments), typeArguments.length)
    this.#abilities.of(type)
    return type
  }

  #fieldTypes(fields: readonly FieldDefinition[], typeArguments: readonly OpenType[]): readonly OpenType[] {
    const types = this.#substituteAll(
      fields.map(({ type }) => type),
      typeArguments,
    )
    this.#meter.charge(types.length, 0)
    return this.#ofValues(types)
  }

  #fieldsOf(definition: StructDefinition, variant: number): readonly FieldDefinition[] {
    if (definition.kind === 'struct' && variant === 0) return definition.fields
    const fields = definition.kind === 'enum' ? definition.variants[variant]?.fields : undefined
    if (!fields) throw this.#fault(`variant ${variant} of ${definition.name}`)
    return fields
  }

  #structOf(generic: boolean): { definition: StructDefinition; typeArguments: readonly OpenType[] } {
    const { code } = this.#module
    if (!generic) return { definition: this.#entry(code.structs), typeArguments: NO_TYPES }
    const instantiation = this.#entry(code.structInstantiations)
    return { definition: this.#struct(instantiation.of), typeArguments: this.#argumentsOf(instantiation) }
  }

  /** An entry of a table, named directly or by an instantiation. */
  #instantiated<T>(
    generic: boolean,
    table: readonly T[],
    instantiations: readonly Instantiation[],
  ): { entry: T; typeArguments: readonly OpenType[] } {
    if (!generic) return { entry: this.#entry(table), typeArguments: NO_TYPES }
    const instantiation = this.#entry(instantiations)
    return { entry: table[instantiation.of]!, typeArguments: this.#argumentsOf(instantiation) }
  }

  #instruction(opcode: number): boolean {
    const compile = FunctionCompiler.#INSTRUCTIONS[opcode]
    if (!compile) throw this.#fault(`instruction 0x${opcode.toString(16)}`)
    return compile(this)
  }

  #discard(): boolean {
    this.#expectAbility(this.#pop(), 'drop')
    this.#emit(OP.pop)
    return true
  }

  #return(): boolean {
    this.#popAll(this.#results)
    this.#expectEmptyStack()
    this.#emit(OP.ret)
    return false
  }

  #branchIf(opcode: number): boolean {
    this.#popKind('bool')
    this.#expectEmptyStack()
    this.#emit(opcode, this.#code.operands[this.#at])
    return true
  }

  #branch(): boolean {
    this.#expectEmptyStack()
    this.#emit(OP.branch, this.#code.operands[this.#at])
    return false
  }

  #loadConstant(): boolean {
    const constant = this.#entry(this.#module.code.constants)
    const literal = this.#constant(this.#code.operands[this.#at]!, constant)
    this.#emit(typeof this.#literals[literal] === 'object' ? OP.loadCopy : OP.load, literal)
    this.#push(this.#typeOf(constant.type))
    return true
  }

  #loadBoolean(value: boolean): boolean {
    this.#emit(OP.load, this.#literals.push(value) - 1)
    this.#pushKind('bool')
    return true
  }

  #copyLocal(): boolean {
    const local = this.#local()
    const type = this.#locals[local]!
    this.#expectAbility(type, 'copy')
    this.#emit(isPlain(type) || type.kind === 'reference' ? OP.copyPlain : OP.copyLocal, local)
    this.#push(type)
    return true
  }

  #moveLocal(): boolean {
    const local = this.#local()
    this.#emit(OP.moveLocal, local)
    this.#push(this.#locals[local]!)
    return true
  }

  #storeLocal(): boolean {
    const local = this.#local()
    this.#popOf(this.#locals[local]!)
    this.#emit(OP.storeLocal, local)
    return true
  }

  #borrowLocal(isMutable: boolean): boolean {
    const local = this.#local()
    this.#pushReference(this.#locals[local]!, isMutable)
    this.#borrowsLocals = true
    this.#emit(OP.borrowLocal, local)
    return true
  }

  #call(generic: boolean): boolean {
    const { functionHandles, functionInstantiations } = this.#module.code
    const { entry, typeArguments } = this.#instantiated(generic, functionHandles, functionInstantiations)
    const { parameters, results } = this.#signature(entry, typeArguments)
    this.#popAll(parameters)
    for (const result of results) this.#push(result)
    this.#emit(OP.call, this.#link({ kind: 'function', handle: entry, typeArguments }))
    return true
  }

  #packStruct(generic: boolean): boolean {
    const { definition, typeArguments } = this.#structOf(generic)
    if (definition.kind !== 'struct') throw this.#fault(`pack of ${definition.name}`)
    return this.#pack(definition, 0, typeArguments)
  }

  #unpack(generic: boolean): boolean {
    const { definition, typeArguments } = this.#structOf(generic)
    if (definition.kind !== 'struct') throw this.#fault(`unpack of ${definition.name}`)
    const fields = this.#fieldTypes(definition.fields, typeArguments)
    this.#popExactly(this.#structType(definition, typeArguments))
    for (const field of fields) this.#push(field)
    this.#emit(OP.unpack, fields.length)
    return true
  }

  #packVariant(generic: boolean): boolean {
    const { definition, variant, typeArguments } = this.#variantOf(generic)
    return this.#pack(definition, variant, typeArguments)
  }

  #unpackVariant(generic: boolean): boolean {
    const { definition, variant, typeArguments } = this.#variantOf(generic)
    const fields = this.#fieldTypes(this.#fieldsOf(definition, variant), typeArguments)
    this.#popExactly(this.#structType(definition, typeArguments))
    for (const field of fields) this.#push(field)
    this.#emit(OP.unpackVariant, fields.length, this.#variantSet(definition, [variant]))
    return true
  }

  #testVariant(generic: boolean): boolean {
    const { definition, variant, typeArguments } = this.#variantOf(generic)
    this.#popReferenceTo(this.#structType(definition, typeArguments))
    this.#pushKind('bool')
    this.#emit(OP.testVariant, variant)
    return true
  }

  #readReference(): boolean {
    const to = this.#popReference()
    this.#expectAbility(to, 'copy')
    this.#push(to)
    this.#emit(isPlain(to) ? OP.readPlain : OP.readReference)
    return true
  }

  #writeReference(): boolean {
    const to = this.#popReference(true)
    this.#expectAbility(to, 'drop')
    this.#popOf(to)
    this.#emit(OP.writeReference)
    return true
  }

  #freezeReference(): boolean {
    this.#pushReference(this.#popReference(true), false)
    this.#emit(OP.nop)
    return true
  }

  #arithmetic(opcode: number): boolean {
    this.#emit(opcode, this.#binaryInteger())
    return true
  }

  #bits(opcode: number): boolean {
    const type = this.#binaryInteger()
    if (type >= FIRST_SIGNED) throw this.#fault('bits of a signed integer')
    this.#emit(opcode, type)
    return true
  }

  #shift(opcode: number): boolean {
    this.#popKind('u8')
    const operand = this.#pop()
    const type = integerTypeOf(operand.kind)
    if (type < 0 || type >= FIRST_SIGNED) throw this.#fault('a shift of a value that is not an unsigned integer')
    this.#push(operand)
    this.#emit(opcode, type)
    return true
  }

  #negate(): boolean {
    const operand = this.#pop()
    const type = integerTypeOf(operand.kind)
    if (type < FIRST_SIGNED) throw this.#fault('the negation of a value that is not a signed integer')
    this.#push(operand)
    this.#emit(OP.negate, type)
    return true
  }

  #logic(opcode: number): boolean {
    this.#popKind('bool')
    this.#popKind('bool')
    this.#pushKind('bool')
    this.#emit(opcode)
    return true
  }

  #not(): boolean {
    this.#popKind('bool')
    this.#pushKind('bool')
    this.#emit(OP.not)
    return true
  }

  #equality(isEqual: boolean): boolean {
    const right = this.#pop()
    this.#popExactly(right)
    this.#expectAbility(right, 'drop')
    this.#pushKind('bool')
    if (isPlain(right)) this.#emit(isEqual ? OP.equalPlain : OP.notEqualPlain)
    else this.#emit(isEqual ? OP.equal : OP.notEqual)
    return true
  }

  #abort(): boolean {
    this.#popKind('u64')
    this.#emit(OP.abort)
    return false
  }

  #abortWithText(): boolean {
    const { types } = this.#module
    this.#popOf(types.vector(types.plain('u8')))
    this.#popKind('u64')
    this.#emit(OP.abortWithText)
    return false
  }

  #nop(): boolean {
    this.#emit(OP.nop)
    return true
  }

  #exists(generic: boolean): boolean {
    const { link } = this.#globalType(generic)
    this.#popKind('address')
    this.#pushKind('bool')
    this.#emit(OP.exists, link)
    return true
  }

  #borrowGlobal(generic: boolean, isMutable: boolean): boolean {
    const { link, type } = this.#globalType(generic)
    this.#popKind('address')
    this.#pushReference(type, isMutable)
    this.#emit(OP.borrowGlobal, link)
    return true
  }

  #moveFrom(generic: boolean): boolean {
    const { link, type } = this.#globalType(generic)
    this.#popKind('address')
    this.#push(type)
    this.#emit(OP.moveFrom, link)
    return true
  }

  #moveTo(generic: boolean): boolean {
    const { types } = this.#module
    const { link, type } = this.#globalType(generic)
    this.#popExactly(type)
    this.#popExactly(types.reference(types.plain('signer'), false))
    this.#emit(OP.moveTo, link)
    return true
  }

  #packVector(): boolean {
    const { types } = this.#module
    const element = this.#element()
    const count = this.#code.seconds[this.#at]!
    this.#meter.charge(Math.min(count, this.#stack.length), 0)
    for (let popped = 0; popped < count; popped++) this.#popOf(element)
    const type = this.#made(types.vector(element))
    this.#push(type)
    this.#emit(OP.packVector, this.#link({ kind: 'type', type }), count)
    return true
  }

  #vectorLength(): boolean {
    this.#popVectorReference(false)
    this.#pushKind('u64')
    this.#emit(OP.vectorLength)
    return true
  }

  #borrowElement(isMutable: boolean): boolean {
    this.#popKind('u64')
    this.#pushReference(this.#popVectorReference(isMutable), isMutable)
    this.#emit(OP.borrowElement)
    return true
  }

  #pushBack(): boolean {
    this.#popOf(this.#element())
    this.#popVectorReference(true)
    this.#emit(OP.pushBack)
    return true
  }

  #popBack(): boolean {
    this.#push(this.#popVectorReference(true))
    this.#emit(OP.popBack)
    return true
  }

  #unpackVector(): boolean {
    const { types } = this.#module
    const element = this.#element()
    const count = this.#code.seconds[this.#at]!
    if (count > MAX_UNPACKED) throw this.#fault(`${count} elements unpacked`)
    this.#meter.charge(count, 0)
    this.#popExactly(this.#made(types.vector(element)))
    for (let pushed = 0; pushed < count; pushed++) this.#push(element)
    this.#emit(OP.unpackVector, count)
    return true
  }

  #swap(): boolean {
    this.#popKind('u64')
    this.#popKind('u64')
    this.#popVectorReference(true)
    this.#emit(OP.swap)
    return true
  }

  #callClosure(): boolean {
    const { types } = this.#module
    const type = this.#entry(this.#module.code.signatures)[0]
    if (type?.kind !== 'function') throw this.#fault('a call of a value that is not a function')
    const called = this.#typeOf(type)
    this.#abilities.of(called)
    this.#meter.charge(type.parameters.length + type.results.length, 0)
    this.#popOf(called)
    this.#popAll(types.ofAll(type.parameters))
    for (const result of types.ofAll(type.results)) this.#push(result)
    const link = this.#link({ kind: 'type', type: called })
    this.#emit(OP.callClosure, link, type.parameters.length)
    return true
  }

  /** The literal with the value of a constant: one, however often the code names the constant. */
  #constant(index: number, constant: Constant): number {
    const known = this.#constants.get(index)
    if (known !== undefined) return known
    if (!this.#reading) {
      this.#keepPart(0, heapBytesOf(constant))
      this.#reading = { left: constant.bytes.length, steps: readConstant(constant) }
    }
    const literal = this.#literals.push(this.#finishConstant(this.#reading)) - 1
    this.#reading = undefined
    this.#constants.set(index, literal)
    return literal
  }

  /** Reads the rest of a constant. If the turn ends on the way, the instruction continues with it. */
  #finishConstant(reading: { left: number; readonly steps: ConstantReading }): Value {
    for (;;) {
      this.#meter.expectTurn()
      const step = reading.steps.next()
      const read = step.done ? reading.left : step.value
      reading.left -= read
      this.#meter.charge(read >> 2, 0)
      if (step.done) return step.value
    }
  }

  #loadNumber(kind: PrimitiveType): boolean {
    this.#emit(OP.load, this.#literals.push(this.#code.numbers[this.#code.operands[this.#at]!]!) - 1)
    this.#pushKind(kind)
    return true
  }

  #cast(kind: PrimitiveType): boolean {
    const source = this.#popInteger()
    this.#pushKind(kind)
    this.#emit(OP.cast, integerTypeOf(kind), source)
    return true
  }

  #compare(opcode: number): boolean {
    this.#binaryInteger()
    this.#pop()
    this.#pushKind('bool')
    this.#emit(opcode)
    return true
  }

  #signature(
    handle: FunctionHandle,
    typeArguments: readonly OpenType[],
  ): { parameters: readonly OpenType[]; results: readonly OpenType[] } {
    if (handle.typeParameters.length !== typeArguments.length) throw this.#fault('a wrong number of type arguments')
    for (const [at, constraints] of handle.typeParameters.entries()) {
      expectConstraints(this.#abilities.of(typeArguments[at]!), constraints)
    }
    const parameters = this.#substituteAll(handle.parameters, typeArguments)
    const results = this.#substituteAll(handle.results, typeArguments)
    this.#meter.charge(parameters.length + results.length, 0)
    return { parameters, results }
  }

  #borrowField(generic: boolean, isMutable: boolean): boolean {
    const { fieldHandles, fieldInstantiations } = this.#module.code
    const { entry, typeArguments } = this.#instantiated(generic, fieldHandles, fieldInstantiations)
    const definition = this.#struct(entry.struct)
    if (definition.kind !== 'struct') throw this.#fault(`a field of ${definition.name}`)
    this.#popReferenceTo(this.#structType(definition, typeArguments), isMutable)
    this.#pushReference(this.#fieldType(definition.fields, entry.field, typeArguments), isMutable)
    this.#emit(OP.borrowField, entry.field)
    return true
  }

  #fieldType(fields: readonly FieldDefinition[], index: number, typeArguments: readonly OpenType[]): OpenType {
    const field = fields[index]
    if (!field) throw this.#fault(`field ${index} of ${fields.length}`)
    return this.#substitute(this.#typeOf(field.type), typeArguments)
  }

  #borrowVariantField(generic: boolean, isMutable: boolean): boolean {
    const { variantFieldHandles, variantFieldInstantiations } = this.#module.code
    const { entry, typeArguments } = this.#instantiated(generic, variantFieldHandles, variantFieldInstantiations)
    const definition = this.#struct(entry.struct)
    this.#popReferenceTo(this.#structType(definition, typeArguments), isMutable)
    this.#meter.charge(entry.variants.length, 0)
    const fieldTypes = entry.variants.map((variant) =>
      this.#fieldType(this.#fieldsOf(definition, variant), entry.field, typeArguments),
    )
    const [type] = fieldTypes
    if (!type || fieldTypes.some((one) => one !== type)) throw this.#fault('a field of different types')
    this.#pushReference(type, isMutable)
    this.#emit(OP.borrowVariantField, entry.field, this.#variantSet(definition, entry.variants))
    return true
  }

  #variantSet(definition: StructDefinition, variants: readonly number[]): number {
    this.#keepPart(1, LINK_BYTES)
    return this.#variantSets.push({ definition, variants }) - 1
  }

  #variantOf(generic: boolean): {
    definition: StructDefinition
    variant: number
    typeArguments: readonly OpenType[]
  } {
    const { variantHandles, variantInstantiations } = this.#module.code
    const { entry, typeArguments } = this.#instantiated(generic, variantHandles, variantInstantiations)
    const definition = this.#struct(entry.struct)
    if (definition.kind !== 'enum') throw this.#fault(`a variant of ${definition.name}`)
    this.#fieldsOf(definition, entry.variant)
    return { definition, variant: entry.variant, typeArguments }
  }

  #pack(definition: StructDefinition, variant: number, typeArguments: readonly OpenType[]): boolean {
    const fields = this.#fieldTypes(this.#fieldsOf(definition, variant), typeArguments)
    this.#popAll(fields)
    const type = this.#structType(definition, typeArguments)
    this.#push(type)
    // Checks the depth of the type, unless it is evidently small. All variants count.
    const isShallow = definition.kind === 'struct' && fields.every(isPlain)
    if (isShallow) this.#emit(OP.pack, fields.length, variant)
    else if (variant === 0) this.#emit(OP.packChecked, fields.length, this.#link({ kind: 'type', type }))
    else this.#emit(OP.packChecked, fields.length | (variant << VARIANT_SHIFT), this.#link({ kind: 'type', type }))
    return true
  }

  #globalType(generic: boolean): { link: number; type: OpenType } {
    const { definition, typeArguments } = this.#structOf(generic)
    const type = this.#structType(definition, typeArguments)
    this.#expectAbility(type, 'key')
    return { link: this.#link({ kind: 'type', type }), type }
  }

  /** The element type of an instruction on vectors. */
  #element(): OpenType {
    const signature = this.#entry(this.#module.code.signatures)
    if (signature.length !== 1) throw this.#fault('an element of several types')
    const type = this.#typeOf(signature[0]!)
    if (type.kind === 'reference') throw this.#fault('a vector of references')
    this.#abilities.of(type)
    return type
  }

  #popVectorReference(isMutable: boolean): OpenType {
    const element = this.#element()
    const to = this.#popReference(isMutable)
    if (to.kind !== 'vector' || to.element !== element) throw this.#fault('an operand of another type')
    return element
  }

  #packClosure(generic: boolean): boolean {
    const { types } = this.#module
    const { functionHandles, functionInstantiations } = this.#module.code
    const { entry, typeArguments } = this.#instantiated(generic, functionHandles, functionInstantiations)
    const mask = this.#code.numbers[this.#code.seconds[this.#at]!] as bigint
    const { parameters, results } = this.#signature(entry, typeArguments)
    if (mask >> BigInt(Math.min(parameters.length, 64))) throw this.#fault('a mask beyond the parameters')
    const isCaptured = (index: number) => index < 64 && ((mask >> BigInt(index)) & 1n) === 1n
    const captured = parameters.filter((_, index) => isCaptured(index))
    if (captured.some(({ kind }) => kind === 'reference')) throw this.#fault('a captured reference')
    let abilities = ABILITY.copy | ABILITY.drop | (entry.attributes.includes(PERSISTENT) ? ABILITY.store : 0)
    for (const type of captured.toReversed()) {
      abilities &= this.#abilities.of(this.#stack.at(-1) ?? type)
      this.#popOf(type)
    }
    const given = parameters.filter((_, index) => !isCaptured(index))
    this.#push(this.#made(types.function(given, results, abilities), parameters.length + results.length))
    this.#emit(OP.packClosure, this.#link({ kind: 'closure', handle: entry, typeArguments, mask, captured }))
    return true
  }
}

const NO_TYPES: readonly OpenType[] = []

/** Attribute of functions whose closures may be stored. */
const PERSISTENT = 1

/** Most elements that fit on the stack. */
const MAX_UNPACKED = 1_024

/** Bits by which the variant is shifted in the operand of `packChecked`; the number of fields is below. */
export const VARIANT_SHIFT = 16

/** Whether values of the type have no parts, so that a copy is the value itself. */
function isPlain({ kind }: OpenType): boolean {
  return kind === 'bool' || kind === 'address' || integerTypeOf(kind) >= 0
}

/**
 * Whether a value of a type may be used as another: the types are equal, or functions with more abilities than needed,
 * or immutable references to such.
 */
function isAssignable(to: OpenType, from: OpenType): boolean {
  if (to === from) return true
  if (to.kind === 'function' && from.kind === 'function') {
    const lacksNone = (to.abilities & ~from.abilities) === 0
    return lacksNone && areEqual(to.parameters, from.parameters) && areEqual(to.results, from.results)
  }
  const areImmutable = to.kind === 'reference' && from.kind === 'reference' && !to.mutable && !from.mutable
  return areImmutable && isAssignable(to.to, from.to)
}

function areEqual(a: readonly OpenType[], b: readonly OpenType[]): boolean {
  return a.length === b.length && a.every((type, at) => type === b[at])
}
