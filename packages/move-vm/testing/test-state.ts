import { ByteWriter, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { type Assembly, assembleModule } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceKey, type TypeTag } from '@ledger-state/type-tag'
import {
  NOT_LOADED,
  runComputeTask,
  type ViewFault,
  type ViewOptions,
  type ViewState,
  type ViewUsage,
  type Vm,
} from '../src/index.js'

/** A state in memory for tests: a gas schedule, and the additions of a test. */
export class TestState implements ViewState {
  readonly #values = new Map<string, Uint8Array>()

  constructor(modules: readonly Assembly[] = []) {
    const schedule = new ByteWriter().u64(45n).uleb128(0).toBytes()
    this.set(resourceKey(parseAddress('0x1'), parseStructTag('0x1::gas_schedule::GasScheduleV2')), schedule)
    this.setFeatures((flag) => flag !== CLOSURE_BCS_FLAG)
    for (const module of modules) this.setModule(module)
  }

  setModule(module: Assembly): void {
    this.set(moduleKey(parseAddress(module.address ?? '0x42'), module.name), assembleModule(module))
  }

  setFeatures(isOn: (flag: number) => boolean): void {
    const bytes = new Uint8Array(FEATURE_BYTES)
    for (let flag = 0; flag < 8 * FEATURE_BYTES; flag++) if (isOn(flag)) bytes[flag >> 3]! |= 1 << (flag & 7)
    const value = new ByteWriter().byteString(bytes).toBytes()
    this.set(resourceKey(parseAddress('0x1'), parseStructTag('0x1::features::Features')), value)
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.#values.set(bytesToHexDigits(key), value)
  }

  read(key: Uint8Array): Uint8Array | undefined {
    return this.#values.get(bytesToHexDigits(key))
  }
}

const FEATURE_BYTES = 16
/** Flag that refuses closures over BCS. */
const CLOSURE_BCS_FLAG = 126

/** A state that loads keys only on request, and counts the rounds. */
export class SlowState implements ViewState {
  readonly #state: ViewState
  readonly #loaded = new Set<string>()
  rounds = 0

  constructor(state: ViewState) {
    this.#state = state
  }

  read(key: Uint8Array): Uint8Array | undefined | typeof NOT_LOADED {
    return this.#loaded.has(bytesToHexDigits(key)) ? this.#state.read(key) : NOT_LOADED
  }

  load(keys: readonly Uint8Array[]): void {
    this.rounds++
    for (const key of keys) this.#loaded.add(bytesToHexDigits(key))
  }
}

/** Answer to a view: the BCS of its results, or its fault. */
export interface ViewAnswer {
  readonly results?: readonly Uint8Array[]
  readonly fault?: ViewFault
  readonly usage: ViewUsage
}

/** Runs a function of a module at 0x42 to its end. */
export function callView(
  vm: Vm,
  state: ViewState,
  name: string,
  args: readonly Uint8Array[] = [],
  {
    typeArguments = [],
    turn = 1_000,
    ...options
  }: ViewOptions & { typeArguments?: readonly TypeTag[]; turn?: number } = {},
): ViewAnswer {
  const [module, functionName] = name.split('::') as [string, string]
  const call = { address: parseAddress('0x42'), module, function: functionName, typeArguments, arguments: args }
  const run = vm.startView(state, call, options)
  for (;;) {
    const progress = run.advance(turn)
    switch (progress.kind) {
      case 'results':
        return { results: progress.results.map(({ bytes }) => bytes), usage: progress.usage }
      case 'fault':
        return { fault: progress.fault, usage: progress.usage }
      case 'lacking':
        ;(state as SlowState).load(progress.keys)
        break
      case 'computing':
        run.provide(runComputeTask(progress.task))
    }
  }
}
