import { type Instructions, type OpcodeName, opcodeNameOf } from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import type { VerifierMeter } from './verifier-meter.js'

/** Instructions; only the last may leave the block. */
export interface Block {
  readonly start: number
  /** Offset of the last instruction. */
  readonly end: number
  /** Indexes of the blocks that may follow, in ascending order. */
  readonly successors: readonly number[]
}

/** The blocks of a function, in the order of its code. Block 0 is the first. */
export interface ControlFlow {
  readonly blocks: readonly Block[]
  /** Has 1 at each offset at which a block begins. */
  readonly starts: Uint8Array
}

const BRANCHES: ReadonlySet<OpcodeName | undefined> = new Set(['br_true', 'br_false', 'branch'])
/** Instructions after which the next one never runs. */
const UNCONDITIONAL: ReadonlySet<OpcodeName | undefined> = new Set(['branch', 'ret', 'abort', 'abort_msg'])

const MOST_BLOCKS = 1_024
const INSTRUCTIONS_OF_STEP = 1_024

/**
 * Divides the code of a function into blocks.
 * @throws VmFault if control may leave the code, or there are too many blocks
 */
export function* findBlocks(code: Instructions, meter: VerifierMeter): Generator<void, ControlFlow, void> {
  const { opcodes, operands } = code
  const { length } = opcodes
  if (length === 0) throw malformedCode('a function without instructions')
  if (!UNCONDITIONAL.has(opcodeNameOf(opcodes[length - 1]!))) throw malformedCode('code that runs past its end')
  const starts = new Uint8Array(length)
  starts[0] = 1
  for (let at = 0; at < length; at++) {
    if (at % INSTRUCTIONS_OF_STEP === 0) {
      yield
      meter.charge(Math.min(length - at, INSTRUCTIONS_OF_STEP) >> 2)
    }
    const name = opcodeNameOf(opcodes[at]!)
    const branches = BRANCHES.has(name)
    if (branches) {
      const target = operands[at]!
      if (target >= length) throw malformedCode(`a branch to ${target}`)
      starts[target] = 1
    }
    if ((branches || UNCONDITIONAL.has(name)) && at + 1 < length) starts[at + 1] = 1
  }
  yield
  const offsets: number[] = []
  for (let at = 0; at < length; at++) {
    if (starts[at] === 0) continue
    if (offsets.length === MOST_BLOCKS) throw malformedCode(`more than ${MOST_BLOCKS} basic blocks`)
    offsets.push(at)
  }
  const indexes = new Map(offsets.map((offset, index) => [offset, index]))
  const blocks = offsets.map((start, index): Block => {
    const end = (offsets[index + 1] ?? length) - 1
    const name = opcodeNameOf(opcodes[end]!)
    const successors = new Set<number>()
    if (BRANCHES.has(name)) successors.add(indexes.get(operands[end]!)!)
    if (!UNCONDITIONAL.has(name)) successors.add(index + 1)
    return { start, end, successors: [...successors].sort((a, b) => a - b) }
  })
  return { blocks, starts }
}
