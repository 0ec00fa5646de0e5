import { ByteReader, bytesToHexDigits } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import { type GetModule, type ModuleId, type MoveModule, readModule } from '@ledger-state/move-module'
import { checkStateProof, type LedgerHasher } from '@ledger-state/proof'
import { moduleKey, readStateValue } from '@ledger-state/type-tag'
import { invalidAnswer, moduleNotProven, wrongStateKey, wrongVersion } from './errors.js'
import { readAnswer } from './read-answer.js'

/**
 * Asks a node for a state value with its proof, at a version. The keys of modules and resources are the same in
 * database form and in BCS.
 * @returns the body of the answer of `POST /v1/experimental/state_values/raw?proof=true`, in JSON or BCS
 */
export type ReadProof = (stateKey: Uint8Array, version: bigint) => Promise<unknown>

/** Most modules that a type may need; types that need more are refused. */
const MAX_MODULES = 256

/** State in which modules have to be proven. */
export interface ProvenState {
  readonly version: bigint
  readonly stateRoot: Uint8Array
}

/** Modules of a state. Each is proven before it is used. */
export class ProvenModules {
  readonly #hasher: LedgerHasher
  readonly #state: ProvenState
  readonly #readProof: ReadProof | undefined
  readonly #known = new Map<string, MoveModule | undefined>()
  #missing: Uint8Array[] = []

  constructor(hasher: LedgerHasher, state: ProvenState, readProof: ReadProof | undefined) {
    this.#hasher = hasher
    this.#state = state
    this.#readProof = readProof
  }

  /**
   * Runs a function that asks for modules, again and again until all of them are loaded.
   * @throws `module_not_proven`; errors of `run` once nothing is missing
   */
  async with<T>(run: (getModule: GetModule) => T): Promise<T> {
    for (;;) {
      this.#missing = []
      let [result, failure]: [T | undefined, unknown] = [undefined, undefined]
      let isDone = false
      try {
        result = run((id) => this.#get(id))
        isDone = true
      } catch (error) {
        failure = error
      }
      if (this.#missing.length === 0) {
        if (isDone) return result as T
        throw failure
      }
      for (const key of this.#missing) await this.#load(key)
    }
  }

  /**
   * Returns a module that is loaded. One that is not counts as absent, and the result of the run that asked for it is
   * not used.
   */
  #get({ address, name }: ModuleId): MoveModule | undefined {
    const key = moduleKey(address, name)
    const text = bytesToHexDigits(key)
    if (!this.#known.has(text)) this.#missing.push(key)
    return this.#known.get(text)
  }

  async #load(key: Uint8Array): Promise<void> {
    const text = bytesToHexDigits(key)
    if (this.#known.has(text)) return
    const { version, stateRoot } = this.#state
    if (!this.#readProof || this.#known.size === MAX_MODULES) throw moduleNotProven(key)
    const { proof } = readAnswer(await this.#readProof(key, version))
    if (!isSameBytes(proof.stateKey, key)) throw wrongStateKey(proof.stateKey, key)
    // The root of that state is proven already, so its own ledger info need not be signed.
    const checked = checkStateProof(this.#hasher, proof)
    if (!isSameBytes(checked.stateRoot, stateRoot)) throw wrongVersion.otherState(version)
    this.#known.set(text, proof.stateValue && readModule(storedBytes(proof.stateValue)))
  }
}

/** Reads the bytes of a value out of a state value, without its metadata. @throws `invalid_answer` */
export function storedBytes(stateValue: Uint8Array): Uint8Array {
  const reader = new ByteReader(stateValue)
  const { value } = readStateValue(reader)
  if (reader.remaining > 0) throw invalidAnswer.notAProof('its state value is longer than one')
  return value
}
