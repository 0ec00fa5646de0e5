import type {
  KeyedEntry,
  LedgerInfo,
  LedgerStateError,
  RemoteStateView,
  ScanOptions,
  StateEntry,
  StateView,
} from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { isModuleKey } from '@ledger-state/type-tag'
import type { KnownModules } from './known-modules.js'
import type { LoadBudget } from './load-budget.js'
import { LoadedScans } from './loaded-scans.js'
import type { Prunes } from './prunes.js'

/** What was loaded of the state at one version. What is not loaded is as if it were absent, and noted as lacking. */
export class LoadedVersion implements StateView {
  readonly version: bigint
  /** The view that it is loaded from. */
  remote: RemoteStateView
  /** Structs whose modules this run looked for already. */
  readonly searchedStructs = new Set<string>()
  readonly #modules: KnownModules
  readonly #budget: LoadBudget
  readonly #prunes: Prunes
  /** By the texts of keys; null for keys that are not there. */
  readonly #entries = new Map<string, StateEntry | null>()
  readonly #lacked = new Map<string, Uint8Array>()
  readonly #scans = new LoadedScans()
  /** Known once a server has told it. */
  #pruned: LedgerStateError | undefined

  constructor(remote: RemoteStateView, modules: KnownModules, budget: LoadBudget, prunes: Prunes) {
    this.version = remote.version
    this.remote = remote
    this.#modules = modules
    this.#budget = budget
    this.#prunes = prunes
  }

  get ledger(): LedgerInfo {
    return this.remote.ledger
  }

  get isLacking(): boolean {
    return this.#lacked.size > 0 || this.#scans.isLacking
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.getEntry(key)?.value
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    return this.getEntry(key)?.value
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    if (this.#pruned) throw this.#pruned
    const text = bytesToHexDigits(key)
    const known = this.#entries.get(text)
    if (known !== undefined) return known ?? undefined
    const module = this.#modules.find(text, this.version, this.ledger)
    if (module) return module
    this.#lacked.set(text, Uint8Array.from(key))
    return undefined
  }

  scan(
    prefix: Uint8Array,
    { start = prefix, limit = Number.POSITIVE_INFINITY }: ScanOptions = {},
  ): Iterable<KeyedEntry> {
    if (this.#pruned) throw this.#pruned
    return this.#scans.scan(prefix, start, limit)
  }

  /** Asks for all that is lacking; nothing is then. */
  load(): Promise<void>[] {
    const keys = [...this.#lacked.values()]
    const modules = keys.filter((key) => isModuleKey(key))
    const others = keys.filter((key) => !isModuleKey(key))
    this.#lacked.clear()
    this.searchedStructs.clear()
    const loading = this.#scans.load(this.remote, this.#budget)
    if (others.length > 0) loading.push(this.#loadEntries(others, this.remote.load(others)))
    if (modules.length > 0) loading.push(this.#loadEntries(modules, this.#modules.load(this.remote, modules)))
    const notePruned = (error: unknown): void => {
      this.#pruned = this.#prunes.expectPruned(error)
    }
    return loading.map((one) => one.catch(notePruned))
  }

  async #loadEntries(
    keys: readonly Uint8Array[],
    loading: Promise<readonly (StateEntry | undefined)[]>,
  ): Promise<void> {
    const entries = await loading
    for (const [at, key] of keys.entries()) {
      const entry = entries[at]
      this.#budget.spend(key.length + (entry?.value.length ?? 0))
      this.#entries.set(bytesToHexDigits(key), entry ?? null)
    }
  }
}
