import type { CodedFunction, FunctionCode } from '@ledger-state/move-module'
import { verifyAcquiredStructs } from './acquired-structs.js'
import type { ControlFlow } from './control-flow.js'
import { verifyLocals } from './local-safety.js'
import { type VerifiedModule, verifyReferences } from './reference-safety.js'
import type { VerifierMeter } from './verifier-meter.js'

/**
 * Verifies the use of locals, references and global storage: the passes after the one for types. `canDrop` says of each
 * local whether its type has the ability drop. It yields between steps.
 * @throws VmFault
 */
export function* verifySafety(
  module: VerifiedModule,
  definition: CodedFunction,
  code: FunctionCode,
  { blocks }: ControlFlow,
  canDrop: readonly boolean[],
  meter: VerifierMeter,
): Generator<void, void, void> {
  yield* verifyLocals(code, blocks, definition.parameters.length, canDrop, meter)
  yield* verifyReferences(module, definition, code, blocks, meter)
  yield* verifyAcquiredStructs(module, definition, code, meter)
}
