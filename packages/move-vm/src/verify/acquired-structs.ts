import { ABILITY, type CodedFunction, type FunctionCode, opcodeNameOf } from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import type { VerifiedModule } from './reference-safety.js'
import type { VerifierMeter } from './verifier-meter.js'

/**
 * Expects that a function declares the structs that it acquires: those that it borrows or moves from global storage, and
 * those that functions of the module acquire that it calls. It must declare no others.
 * @throws VmFault
 */
export function* verifyAcquiredStructs(
  module: VerifiedModule,
  { acquires }: CodedFunction,
  { opcodes, operands }: FunctionCode,
  meter: VerifierMeter,
): Generator<void, void, void> {
  const { structs, structInstantiations, functionHandles, functionInstantiations } = module.code
  meter.charge(acquires.length)
  const declared = new Set(acquires)
  if (declared.size < acquires.length) throw malformedCode('a struct that is acquired twice')
  const found = new Set<number>()
  const acquire = (struct: number, at: number) => {
    if (!declared.has(struct)) throw malformedCode(`a struct that is acquired undeclared at ${at}`)
    found.add(struct)
  }
  for (let at = 0; at < opcodes.length; at++) {
    const operand = operands[at]!
    switch (opcodeNameOf(opcodes[at]!)) {
      case 'move_from':
      case 'mut_borrow_global':
      case 'imm_borrow_global':
        acquire(operand, at)
        break
      case 'move_from_generic':
      case 'mut_borrow_global_generic':
      case 'imm_borrow_global_generic':
        acquire(structInstantiations[operand]!.of, at)
        break
      case 'call':
      case 'call_generic': {
        const handle =
          functionHandles[opcodeNameOf(opcodes[at]!) === 'call' ? operand : functionInstantiations[operand]!.of]!
        const called = module.acquiredBy(handle)
        meter.charge(1 + called.length)
        for (const struct of called) acquire(struct, at)
        if (meter.isStepOver()) yield
      }
    }
  }
  for (const struct of declared) {
    if (!found.has(struct)) throw malformedCode('a struct that is declared as acquired and is not')
    if ((structs[struct]!.abilities & ABILITY.key) === 0)
      throw malformedCode('an acquired struct without the ability key')
  }
}
