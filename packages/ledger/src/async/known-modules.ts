import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { type AsyncStateView, branchOf, type LedgerSummary, type StateEntry } from '@ledger-state/engine'

/** Versions of one module that are kept, the newest first. */
const MOST_STATES = 8
/** Modules that are looked up again, all at once, when the ledger has moved on. */
const RENEWED_MODULES = 128
/** Bytes of memory that a module takes in addition to its key and its binary. */
const STATE_SIZE = 256

/** A module as one version wrote it. It stood so from there on until `seenUntil` at least. */
interface ModuleState {
  readonly entry: StateEntry
  seenUntil: bigint
}

interface KnownModule {
  readonly key: Uint8Array
  readonly states: readonly ModuleState[]
  /** Bytes. */
  readonly size: number
}

/**
 * The modules that reads needed, with the versions for which each is known to be the newest. They outlive the reads:
 * modules are written seldom and needed always. They are of one branch: those of another are forgotten (`branchOf`).
 */
export class KnownModules {
  readonly #capacity: number
  /** Modules by the text of the key; those that were used last stand last. */
  readonly #modules = new Map<string, KnownModule>()
  #size = 0
  #branch = 0

  /** `capacity` in bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  /** The module as it stood at a version of a ledger. */
  find(text: string, version: bigint, ledger: LedgerSummary): StateEntry | undefined {
    if (!this.#isOf(ledger)) return undefined
    const known = this.#modules.get(text)
    const state = known?.states.find(({ entry, seenUntil }) => entry.version <= version && version <= seenUntil)
    if (!known || !state) return undefined
    this.#modules.delete(text)
    this.#modules.set(text, known)
    return state.entry
  }

  /** Loads modules, in the order of their keys. */
  async load(view: AsyncStateView, keys: readonly Uint8Array[]): Promise<readonly (StateEntry | undefined)[]> {
    const entries = await view.load(keys)
    for (const [at, key] of keys.entries()) {
      const entry = entries[at]
      if (entry && this.#isOf(view.ledger)) this.#add(bytesToHexDigits(key), key, entry, view.version)
    }
    return entries
  }

  /** Looks whether the modules that were used last still stand: few are written, and all are needed at the newest version. */
  async renew(view: AsyncStateView): Promise<void> {
    const keys = [...this.#modules.values()].slice(-RENEWED_MODULES).map(({ key }) => key)
    if (keys.length > 0) await this.load(view, keys)
  }

  /** Whether what is kept is of the branch of a ledger. Turns to a newer one. */
  #isOf(ledger: LedgerSummary): boolean {
    const branch = branchOf(ledger)
    if (branch > this.#branch) {
      this.#branch = branch
      this.#modules.clear()
      this.#size = 0
    }
    return branch === this.#branch
  }

  #add(text: string, key: Uint8Array, entry: StateEntry, version: bigint): void {
    const known = this.#modules.get(text)
    const state = known?.states.find((one) => one.entry.version === entry.version)
    if (state) {
      if (version > state.seenUntil) state.seenUntil = version
      return
    }
    const states = [{ entry, seenUntil: version }, ...(known?.states ?? [])]
      .sort((a, b) => (a.entry.version > b.entry.version ? -1 : 1))
      .slice(0, MOST_STATES)
    const size = states.reduce((sum, one) => sum + one.entry.value.length + STATE_SIZE, 2 * key.length)
    this.#delete(text)
    this.#modules.set(text, { key, states, size })
    this.#size += size
    for (const oldest of this.#modules.keys()) {
      if (this.#size <= this.#capacity) break
      this.#delete(oldest)
    }
  }

  #delete(text: string): void {
    const known = this.#modules.get(text)
    if (!known) return
    this.#size -= known.size
    this.#modules.delete(text)
  }
}
