import { copyBytes } from '@ledger-state/core/bytes'
import { type Instructions, opcodeNameOf } from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import { type Analysis, analyze } from './abstract-interpreter.js'
import type { Block } from './control-flow.js'
import type { VerifierMeter } from './verifier-meter.js'

/** Whether a local has a value. */
const EMPTY = 0
/** It has one on some of the ways to the instruction. */
const UNSURE = 1
const FULL = 2

/** One of these for each local. */
type LocalStates = Uint8Array

/** Units of the reference. */
const UNITS = { instruction: 15, returnedLocal: 30, join: 10, joinedLocal: 5 } as const

/**
 * Expects that a local is read, moved or borrowed only if it has a value, and that a value without the ability drop is
 * neither overwritten nor left in a local when the function returns.
 * @throws VmFault
 */
export function verifyLocals(
  code: Instructions,
  blocks: readonly Block[],
  parameterCount: number,
  canDrop: readonly boolean[],
  meter: VerifierMeter,
): Generator<void, void, void> {
  const initial = new Uint8Array(canDrop.length)
  initial.fill(FULL, 0, parameterCount)
  return analyze(blocks, initial, new LocalAnalysis(code, canDrop, meter), meter)
}

class LocalAnalysis implements Analysis<LocalStates> {
  readonly #code: Instructions
  readonly #canDrop: readonly boolean[]
  readonly #meter: VerifierMeter

  constructor(code: Instructions, canDrop: readonly boolean[], meter: VerifierMeter) {
    this.#code = code
    this.#canDrop = canDrop
    this.#meter = meter
  }

  *execute(before: LocalStates, { start, end }: Block): Generator<void, LocalStates, void> {
    const states = copyBytes(before)
    this.#meter.addUnits(UNITS.instruction * (end - start + 1))
    this.#meter.charge((end - start + 1 + states.length) >> 3)
    for (let at = start; at <= end; at++) this.#execute(states, at)
    if (this.#meter.isStepOver()) yield
    return states
  }

  #execute(states: LocalStates, at: number): void {
    const local = this.#code.operands[at]!
    switch (opcodeNameOf(this.#code.opcodes[at]!)) {
      case 'st_loc':
        if (states[local] !== EMPTY && !this.#canDrop[local])
          throw malformedCode(`a value that is overwritten at ${at}`)
        states[local] = FULL
        break
      case 'move_loc':
        if (states[local] !== FULL) throw malformedCode(`a move of an empty local at ${at}`)
        states[local] = EMPTY
        break
      case 'copy_loc':
        if (states[local] !== FULL) throw malformedCode(`a copy of an empty local at ${at}`)
        break
      case 'mut_borrow_loc':
      case 'imm_borrow_loc':
        if (states[local] !== FULL) throw malformedCode(`a reference to an empty local at ${at}`)
        break
      case 'ret':
        this.#meter.addUnits(UNITS.returnedLocal * states.length)
        if (states.some((state, one) => state !== EMPTY && !this.#canDrop[one])) {
          throw malformedCode(`a value that is neither used nor dropped at ${at}`)
        }
    }
  }

  sizeOf(states: LocalStates): number {
    return states.length >> 6
  }

  join(known: LocalStates, other: LocalStates): LocalStates | undefined {
    this.#meter.addUnits(UNITS.join + UNITS.joinedLocal * known.length)
    this.#meter.charge(known.length >> 4)
    const joined = known.map((state, local) => (state === other[local] ? state : UNSURE))
    return joined.some((state, local) => state !== known[local]) ? joined : undefined
  }
}
