import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { type AsyncStateView, branchOf, type LedgerSummary, type StateEntry } from '@ledger-state/engine'

/** Most versions of one module that are kept, the newest first. */
const MOST_STATES = 8
/** Most modules that are looked up again, all at once, when the ledger has moved on. */
const RENEWED_MODULES = 128
/** Bytes of memory that a module takes in addition to its key and its binary. */
const STATE_SIZE = 256

/** A module as one version wrote it, known to be the newest from that version until `seenUntil`. */
interface ModuleState {
  readonly entry: StateEntry
  seenUntil: bigint
}

interface KnownModule {
  readonly key: Uint8Array
  readonly states: readonly ModuleState[]
  /** Estimated bytes of memory. */
  readonly size: number
}

/**
 * The modules that reads needed, each with the versions for which it is known to be the newest. They are kept between
 * reads, because modules are needed often and written seldom. All are of one branch (`branchOf`); modules of an older
 * branch are forgotten.
 */
export class KnownModules {
  readonly #capacity: number
  /** Modules by the text of the key, the most recently used last. */
  readonly #modules = new Map<string, KnownModule>()
  #size = 0
  #branch = 0

  /** @param capacity in bytes */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Estimated bytes of memory. */
  get size(): number {
    return this.#size
  }

  /** The module at a version of a ledger; undefined if it is not known. */
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

  /**
   * Finds out whether the most recently used modules are still the newest. Few are written, and the newest version
   * needs all of them.
   */
  async renew(view: AsyncStateView): Promise<void> {
    const keys = [...this.#modules.values()].slice(-RENEWED_MODULES).map(({ key }) => key)
    if (keys.length > 0) await this.load(view, keys)
  }

  /**
   * Whether the kept modules are of the branch of a ledger. If the branch is newer, forgets them and takes that branch.
   */
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
