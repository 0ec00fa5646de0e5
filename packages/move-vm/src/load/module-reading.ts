import { isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { type ModuleCode, readModuleCodeInSteps } from '@ledger-state/move-module'
import type { CompileCost, ModuleCharge } from '../budget/module-charge.js'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import { UnitLimit } from '../verify/verifier-meter.js'
import { verifyTables } from '../verify/verify-tables.js'
import { beginToVerify, type FunctionVerification } from './compile-function.js'
import { LoadedModule } from './loaded-module.js'
import { heapBytesOf, readConstant } from './read-constant.js'

/** A module that is being decoded and verified as a whole: its tables with all constants, and the code of all functions. */
export class ModuleReading {
  readonly key: string
  /** A copy: a module refers to its bytes for as long as it is kept, which is longer than the state has them. */
  readonly bytes: Uint8Array
  readonly #charge: ModuleCharge
  readonly #decoding: Generator<number, ModuleCode, void>
  #verification: ModuleVerification | undefined

  constructor(key: string, bytes: Uint8Array, charge: ModuleCharge) {
    this.key = key
    this.bytes = copyBytes(bytes)
    this.#charge = charge
    this.#decoding = readModuleCodeInSteps(this.bytes)
  }

  /**
   * Loads the module. If the turn ends on the way, the next call continues.
   * @throws VmFault, TurnOver
   */
  finish(): LoadedModule {
    this.#verification ??= new ModuleVerification(this.#decode(), this.bytes.length, this.#charge)
    const costs = this.#verification.finish()
    return new LoadedModule(this.#verification.code, this.bytes.length, { cost: this.#charge.cost, functions: costs })
  }

  #decode(): ModuleCode {
    try {
      return finishSteps(this.#decoding, this.#charge)
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_module')) throw error
      throw new VmFault(STATUS.CODE_DESERIALIZATION_ERROR, `Deserialization error: ${error.message}`)
    }
  }
}

/** Verifies a decoded module. */
class ModuleVerification {
  readonly code: ModuleCode
  readonly #charge: ModuleCharge
  /** Has the types of all functions. It is dropped in the end, since a view calls few of them. */
  readonly #module: LoadedModule
  readonly #tables: Generator<number, void, void>
  readonly #constants = this.#readConstants()
  readonly #units = new UnitLimit()
  readonly #costs: CompileCost[] = []
  #function: FunctionVerification | undefined

  constructor(code: ModuleCode, size: number, charge: ModuleCharge) {
    this.code = code
    this.#charge = charge
    this.#module = new LoadedModule(code, size)
    this.#tables = verifyTables(code, this.#module)
    charge.chargeDecoded(this.#module.decodedBytes)
  }

  /** Verifies the rest. Returns the costs of compiling the functions. */
  finish(): readonly CompileCost[] {
    const { functions } = this.code
    finishSteps(this.#tables, this.#charge)
    finishSteps(this.#constants, this.#charge)
    for (let at = this.#costs.length; at < functions.length; at++) {
      this.#charge.expectTurn()
      this.#costs.push(this.#verify(at))
    }
    return this.#costs
  }

  /** Verifies all constants, even those that no code loads. It yields the work of the last or next step. */
  *#readConstants(): Generator<number, void, void> {
    for (const constant of this.code.constants) {
      yield 1
      this.#charge.beginPart()
      this.#charge.charge(0, heapBytesOf(constant))
      for (const read of readConstant(constant)) yield read >> 2
    }
  }

  #verify(index: number): CompileCost {
    const definition = this.code.functions[index]!
    if (!this.#function) {
      this.#charge.beginPart(this.#module.types.heapBytes)
      if (definition.isNative) return this.#charge.functionCost
      this.#function = beginToVerify(this.#module, definition, this.#charge, this.#units)
    }
    this.#function.finish()
    this.#function = undefined
    return this.#charge.functionCost
  }
}

/** Does the rest of the steps, which yield their work. If the turn ends on the way, the next call continues. */
function finishSteps<T>(steps: Generator<number, T, void>, charge: ModuleCharge): T {
  for (;;) {
    charge.expectTurn()
    const step = steps.next()
    if (step.done) return step.value
    charge.countWork(step.value)
  }
}
