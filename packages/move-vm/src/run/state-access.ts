import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { Meter } from '../budget/meter.js'
import { LackingKeys } from '../faults/vm-fault.js'
import { NOT_LOADED, type TraceRead, type ViewState } from '../state/view-state.js'
import { KeySet } from './key-set.js'
import { areSameBytes } from './same-bytes.js'

/** A key, and its hex digits. */
export interface NamedKey {
  readonly bytes: Uint8Array
  readonly text: string
}

const NO_KEYS: readonly NamedKey[] = []

/**
 * The reads of one run. It counts each key once, reports it to the caller, and stops the run if a key is not loaded.
 */
export class StateAccess {
  readonly #state: ViewState
  readonly #meter: Meter
  readonly #traceRead: TraceRead | undefined
  /** Keys that were counted, except for those of `#settings`. */
  readonly #counted = new KeySet()
  /** Keys of settings that were known before the run. */
  #settings: readonly NamedKey[] = NO_KEYS
  /** Names the code of the state: see `ViewState.revision`. */
  readonly revision: string | symbol | undefined

  constructor(state: ViewState, meter: Meter, traceRead: TraceRead | undefined) {
    this.#state = state
    this.#meter = meter
    this.#traceRead = traceRead
    this.revision = state.revision
  }

  /**
   * The value of a resource, a group or a table item.
   * @throws LackingKeys; VmFault if the budget is exhausted
   */
  read(key: Uint8Array): Uint8Array | undefined {
    const value = this.#state.read(key)
    if (value === NOT_LOADED) throw new LackingKeys([key])
    if (this.#isNew(key, undefined, 'value')) this.#meter.chargeRead(value?.length ?? 0)
    return value
  }

  /**
   * The value of a key that the vm itself needs. It is not counted.
   * @throws LackingKeys
   */
  readForEnvironment(key: NamedKey): Uint8Array | undefined {
    const value = this.#state.read(key.bytes)
    if (value === NOT_LOADED) throw new LackingKeys([key.bytes])
    this.#isNew(key.bytes, key, 'code')
    return value
  }

  /** Reports the use of the keys of settings with known values. The run has read none of them before. */
  useEnvironment(keys: readonly NamedKey[]): void {
    this.#settings = keys
    if (this.#traceRead) for (const { bytes, text } of keys) this.#traceRead(bytes, text, 'code')
  }

  /** Reports the use of a module. The run calls it with each module once. */
  useModule(key: NamedKey): void {
    if (this.#traceRead) this.#isNew(key.bytes, key, 'code')
  }

  /**
   * The bytes of a module. The caller counts them once it decodes them. Keys of `alsoNeeded` are loaded in the same
   * round.
   */
  readModule(key: NamedKey, alsoNeeded: () => Iterable<Uint8Array>): Uint8Array | undefined {
    const value = this.#state.read(key.bytes)
    if (value === NOT_LOADED) throw this.#lacking(key, alsoNeeded)
    this.useModule(key)
    return value
  }

  /** The revision of a module, as a field; undefined if the state has no revisions. */
  revisionOf(
    key: NamedKey,
    alsoNeeded: () => Iterable<Uint8Array>,
  ): { readonly revision: string | undefined } | undefined {
    const revision = this.#state.moduleRevision?.(key.bytes)
    if (revision === NOT_LOADED) throw this.#lacking(key, alsoNeeded)
    if (!this.#state.moduleRevision) return undefined
    this.useModule(key)
    return { revision }
  }

  isLoaded(key: Uint8Array): boolean {
    return this.#state.read(key) !== NOT_LOADED
  }

  /**
   * Makes sure that several keys are loaded, in one round.
   * @throws LackingKeys
   */
  expectLoaded(keys: readonly Uint8Array[]): void {
    const lacking = keys.filter((key) => this.#state.read(key) === NOT_LOADED)
    if (lacking.length > 0) throw new LackingKeys(lacking)
  }

  #lacking({ bytes, text }: NamedKey, alsoNeeded: () => Iterable<Uint8Array>): LackingKeys {
    const keys = new Map([[text, bytes]])
    for (const other of alsoNeeded()) {
      if (this.#state.read(other) === NOT_LOADED) keys.set(bytesToHexDigits(other), other)
    }
    return new LackingKeys([...keys.values()])
  }

  #isNew(key: Uint8Array, named: NamedKey | undefined, kind: 'code' | 'value'): boolean {
    for (const { bytes } of this.#settings) if (areSameBytes(bytes, key)) return false
    if (!this.#counted.add(key)) return false
    this.#traceRead?.(key, named?.text ?? bytesToHexDigits(key), kind)
    return true
  }
}
