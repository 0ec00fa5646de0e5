import {
  type CodedFunction,
  type FunctionCode,
  type FunctionHandle,
  type Instantiation,
  type ModuleCode,
  type OpcodeName,
  opcodeNameOf,
  type SignatureToken,
  type StructDefinition,
} from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import { type Analysis, analyze } from './abstract-interpreter.js'
import { fieldLabel } from './borrow-graph.js'
import type { Block } from './control-flow.js'
import { NO_REFERENCE, type ReferenceKind, ReferenceState } from './reference-state.js'
import type { VerifierMeter } from './verifier-meter.js'

/** Units of the reference. */
const UNITS = {
  instruction: 10,
  local: 20,
  item: 50,
  join: 100,
  joinedLocal: 10,
  acquired: 100,
  edge: 100,
  /** Each further edge of a call takes this many times as much. */
  edgeGrowth: 1.5,
} as const

/** The module of a function, as its verification needs it. */
export interface VerifiedModule {
  readonly code: ModuleCode
  /** Structs that a function acquires, if the module defines it; none for functions of other modules. */
  acquiredBy(handle: FunctionHandle): readonly number[]
}

/**
 * Expects that no reference outlives its target, and that nothing is written, moved or borrowed mutably while something
 * else borrows it. The types of all operands must have been checked.
 * @throws VmFault
 */
export function verifyReferences(
  module: VerifiedModule,
  definition: CodedFunction,
  code: FunctionCode,
  blocks: readonly Block[],
  meter: VerifierMeter,
): Generator<void, void, void> {
  const parameters = definition.parameters.map(kindOf)
  const initial = ReferenceState.initial(parameters.length + code.locals.length, parameters, meter)
  return analyze(blocks, initial, new ReferenceAnalysis(module, definition, code, meter), meter)
}

function kindOf(token: SignatureToken): ReferenceKind {
  if (token.kind !== 'reference') return undefined
  return token.mutable ? 'mutable' : 'immutable'
}

/** How many operands that are no references an instruction takes and leaves, if it does nothing else. */
const PLAIN: Partial<Record<OpcodeName, readonly [taken: number, left: number]>> = {
  br_true: [1, 0],
  br_false: [1, 0],
  branch: [0, 0],
  nop: [0, 0],
  abort: [1, 0],
  abort_msg: [2, 0],
  ld_const: [0, 1],
  ld_true: [0, 1],
  ld_false: [0, 1],
  negate: [1, 1],
  not: [1, 1],
  exists: [1, 1],
  exists_generic: [1, 1],
  add: [2, 1],
  sub: [2, 1],
  mul: [2, 1],
  mod: [2, 1],
  div: [2, 1],
  bit_or: [2, 1],
  bit_and: [2, 1],
  xor: [2, 1],
  shl: [2, 1],
  shr: [2, 1],
  or: [2, 1],
  and: [2, 1],
  lt: [2, 1],
  gt: [2, 1],
  le: [2, 1],
  ge: [2, 1],
}

/** The taken and left operands by the byte of an instruction; undefined if it needs more. */
const PLAIN_BY_CODE = Array.from({ length: 256 }, (_, code): readonly [number, number] | undefined => {
  const name = opcodeNameOf(code)
  if (name?.startsWith('ld_u') || name?.startsWith('ld_i')) return [0, 1]
  if (name?.startsWith('cast_')) return [1, 1]
  return name && PLAIN[name]
})

class ReferenceAnalysis implements Analysis<ReferenceState> {
  readonly #module: VerifiedModule
  readonly #definition: CodedFunction
  readonly #code: FunctionCode
  readonly #meter: VerifierMeter
  /** References, and `NO_REFERENCE` for other operands. */
  readonly #stack: number[] = []

  constructor(module: VerifiedModule, definition: CodedFunction, code: FunctionCode, meter: VerifierMeter) {
    this.#module = module
    this.#definition = definition
    this.#code = code
    this.#meter = meter
  }

  *execute(before: ReferenceState, { start, end }: Block): Generator<void, ReferenceState, void> {
    const state = before.copy()
    this.#meter.charge((end - start + 1) >> 1)
    const unitsOfStep = UNITS.instruction + UNITS.local * state.locals.length
    for (let at = start; at <= end; at++) {
      const { size } = state.graph
      this.#meter.expectSmall(size)
      this.#meter.addUnits(unitsOfStep + UNITS.item * size)
      const plain = PLAIN_BY_CODE[this.#code.opcodes[at]!]
      if (plain) {
        this.#drop(plain[0])
        this.#pushPlain(plain[1])
        continue
      }
      this.#meter.charge(1 + (size >> 2))
      this.#execute(state, at)
      if (this.#meter.isStepOver()) yield
    }
    return state.atBorder()
  }

  sizeOf({ locals, graph }: ReferenceState): number {
    return (locals.length >> 4) + graph.size
  }

  join(known: ReferenceState, other: ReferenceState): ReferenceState | undefined {
    const { locals, graph } = known
    this.#meter.addUnits(UNITS.join + UNITS.joinedLocal * locals.length + UNITS.item * graph.size)
    return known.joined(other)
  }

  #pop(): number {
    const id = this.#stack.pop()
    if (id === undefined) throw malformedCode('an empty stack')
    return id
  }

  #popReference(at: number): number {
    const id = this.#pop()
    if (id === NO_REFERENCE) throw malformedCode(`an operand that is not a reference at ${at}`)
    return id
  }

  /** Takes operands that are no references. */
  #drop(count: number): void {
    for (let left = count; left > 0; left--) {
      if (this.#pop() !== NO_REFERENCE) throw malformedCode('a reference in the place of a value')
    }
  }

  #pushPlain(count: number): void {
    for (let left = count; left > 0; left--) this.#stack.push(NO_REFERENCE)
  }

  #execute(state: ReferenceState, at: number): void {
    const { code } = this.#module
    const stack = this.#stack
    const operand = this.#code.operands[at]!
    const name = opcodeNameOf(this.#code.opcodes[at]!)!
    switch (name) {
      case 'pop':
        state.release(this.#pop())
        return
      case 'ret':
        state.return(this.#popAll(this.#definition.results.length), at)
        return
      case 'copy_loc':
        stack.push(state.copyLocal(operand, at))
        return
      case 'move_loc':
        stack.push(state.moveLocal(operand, at))
        return
      case 'st_loc':
        state.storeLocal(operand, this.#pop(), at)
        return
      case 'mut_borrow_loc':
      case 'imm_borrow_loc':
        stack.push(state.borrowLocal(operand, name === 'mut_borrow_loc', at))
        return
      case 'freeze_ref':
        stack.push(state.freeze(this.#popReference(at), at))
        return
      case 'eq':
      case 'neq':
        this.#compare(state, at)
        return
      case 'read_ref':
        state.read(this.#popReference(at), at)
        this.#pushPlain(1)
        return
      case 'test_variant':
      case 'test_variant_generic':
        state.read(this.#popReference(at), at)
        this.#pushPlain(1)
        return
      case 'write_ref': {
        const id = this.#popReference(at)
        this.#drop(1)
        state.write(id, at)
        return
      }
      case 'mut_borrow_field':
      case 'imm_borrow_field':
        this.#borrowField(state, code.fieldHandles[operand]!.field, name === 'mut_borrow_field', at)
        return
      case 'mut_borrow_field_generic':
      case 'imm_borrow_field_generic': {
        const { field } = code.fieldHandles[code.fieldInstantiations[operand]!.of]!
        this.#borrowField(state, field, name === 'mut_borrow_field_generic', at)
        return
      }
      case 'mut_borrow_variant_field':
      case 'imm_borrow_variant_field':
        this.#borrowField(state, code.variantFieldHandles[operand]!.field, name === 'mut_borrow_variant_field', at)
        return
      case 'mut_borrow_variant_field_generic':
      case 'imm_borrow_variant_field_generic': {
        const { field } = code.variantFieldHandles[code.variantFieldInstantiations[operand]!.of]!
        this.#borrowField(state, field, name === 'mut_borrow_variant_field_generic', at)
        return
      }
      case 'mut_borrow_global':
      case 'imm_borrow_global':
        this.#drop(1)
        stack.push(state.borrowGlobal(operand, name === 'mut_borrow_global', at))
        return
      case 'mut_borrow_global_generic':
      case 'imm_borrow_global_generic': {
        this.#drop(1)
        const struct = code.structInstantiations[operand]!.of
        stack.push(state.borrowGlobal(struct, name === 'mut_borrow_global_generic', at))
        return
      }
      case 'move_from':
      case 'move_from_generic':
        this.#drop(1)
        state.moveFrom(name === 'move_from' ? operand : code.structInstantiations[operand]!.of, at)
        this.#pushPlain(1)
        return
      case 'move_to':
      case 'move_to_generic':
        this.#drop(1)
        state.release(this.#pop())
        return
      case 'call':
        this.#call(state, code.functionHandles[operand]!, at)
        return
      case 'call_generic':
        this.#call(state, this.#instantiated(code.functionHandles, code.functionInstantiations, operand), at)
        return
      case 'call_closure': {
        const type = code.signatures[operand]![0] as SignatureToken & { kind: 'function' }
        this.#drop(1)
        const args = this.#popAll(type.parameters.length)
        stack.push(...state.call(args, [], type.results.map(kindOf), this.#chargeEdges, at))
        return
      }
      case 'pack_closure':
      case 'pack_closure_generic': {
        let captured = 0
        const mask = this.#code.numbers[this.#code.seconds[at]!] as bigint
        for (let rest = mask; rest > 0n; rest >>= 1n) if (rest & 1n) captured++
        this.#drop(captured)
        this.#pushPlain(1)
        return
      }
      case 'pack':
      case 'pack_generic':
        this.#drop(fieldCount(this.#struct(name === 'pack_generic', operand)))
        this.#pushPlain(1)
        return
      case 'unpack':
      case 'unpack_generic':
        this.#drop(1)
        this.#pushPlain(fieldCount(this.#struct(name === 'unpack_generic', operand)))
        return
      case 'pack_variant':
      case 'pack_variant_generic':
        this.#drop(this.#variantFieldCount(name === 'pack_variant_generic', operand))
        this.#pushPlain(1)
        return
      case 'unpack_variant':
      case 'unpack_variant_generic':
        this.#drop(1)
        this.#pushPlain(this.#variantFieldCount(name === 'unpack_variant_generic', operand))
        return
      case 'vec_pack':
        this.#drop(this.#code.seconds[at]!)
        this.#pushPlain(1)
        return
      case 'vec_unpack':
        this.#drop(1)
        this.#pushPlain(this.#code.seconds[at]!)
        return
      case 'vec_len':
        state.release(this.#popReference(at))
        this.#pushPlain(1)
        return
      case 'vec_imm_borrow':
      case 'vec_mut_borrow':
        this.#drop(1)
        stack.push(state.borrowElement(this.#popReference(at), name === 'vec_mut_borrow', at))
        return
      case 'vec_push_back':
        this.#drop(1)
        state.write(this.#popReference(at), at)
        return
      case 'vec_pop_back':
        state.write(this.#popReference(at), at)
        this.#pushPlain(1)
        return
      case 'vec_swap':
        this.#drop(2)
        state.write(this.#popReference(at), at)
        return
      default:
        throw malformedCode(`no rule for ${name} at ${at}`)
    }
  }

  /** Takes operands of any kind. The first is the one that was pushed first. */
  #popAll(count: number): readonly number[] {
    if (count > this.#stack.length) throw malformedCode('an empty stack')
    return this.#stack.splice(this.#stack.length - count, count)
  }

  #compare(state: ReferenceState, at: number): void {
    const [first, second] = [this.#pop(), this.#pop()]
    if (first !== NO_REFERENCE || second !== NO_REFERENCE) {
      if (first === NO_REFERENCE || second === NO_REFERENCE) throw malformedCode(`operands of different types at ${at}`)
      state.expectReadable(first, at)
      state.expectReadable(second, at)
      state.release(first)
      state.release(second)
    }
    this.#pushPlain(1)
  }

  #borrowField(state: ReferenceState, field: number, isMutable: boolean, at: number): void {
    this.#stack.push(state.borrowField(this.#popReference(at), fieldLabel(field), isMutable, at))
  }

  #call(state: ReferenceState, handle: FunctionHandle, at: number): void {
    const acquired = this.#module.acquiredBy(handle)
    this.#meter.addUnits(UNITS.acquired * acquired.length)
    this.#meter.charge((acquired.length * (1 + state.graph.size)) >> 2)
    const args = this.#popAll(handle.parameters.length)
    this.#stack.push(...state.call(args, acquired, handle.results.map(kindOf), this.#chargeEdges, at))
  }

  readonly #chargeEdges = (count: number): void => {
    this.#meter.charge(count)
    for (let [left, units] = [count, UNITS.edge as number]; left > 0; left--) {
      this.#meter.addUnits(units)
      units = Math.floor(UNITS.edgeGrowth * units)
    }
  }

  #instantiated<T>(table: readonly T[], instantiations: readonly Instantiation[], index: number): T {
    return table[instantiations[index]!.of]!
  }

  #struct(isGeneric: boolean, index: number): StructDefinition {
    const { structs, structInstantiations } = this.#module.code
    return isGeneric ? this.#instantiated(structs, structInstantiations, index) : structs[index]!
  }

  #variantFieldCount(isGeneric: boolean, index: number): number {
    const { structs, variantHandles, variantInstantiations } = this.#module.code
    const { struct, variant } = isGeneric
      ? this.#instantiated(variantHandles, variantInstantiations, index)
      : variantHandles[index]!
    const definition = structs[struct]!
    return definition.kind === 'enum' ? definition.variants[variant]!.fields.length : 0
  }
}

function fieldCount(definition: StructDefinition): number {
  return definition.kind === 'struct' ? definition.fields.length : 0
}
