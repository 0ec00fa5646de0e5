import type { KeyedEntry, LedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { AsyncStateView, LedgerSummary, ScanOptions, StateEntry, StateView } from '@ledger-state/engine'
import { isModuleKey } from '@ledger-state/type-tag'
import type { KnownModules } from './known-modules.js'
import type { Lacks } from './lacks.js'
import type { LoadBudget } from './load-budget.js'
import { LoadedScans } from './loaded-scans.js'
import type { Prunes } from './prunes.js'

/** Parts of a read that its versions share. */
export interface LoadedVersionParts {
  readonly modules: KnownModules
  readonly budget: LoadBudget
  readonly lacks: Lacks
  readonly prunes: Prunes
}

/** Loaded part of the state at one version. Data that is not loaded is answered as absent, and noted as missing. */
export class LoadedVersion implements StateView {
  readonly version: bigint
  /** View from which the values are loaded. */
  view: AsyncStateView
  /** Structs with modules that this run has already looked for. */
  readonly searchedStructs = new Set<string>()
  readonly #modules: KnownModules
  readonly #budget: LoadBudget
  readonly #lacks: Lacks
  readonly #prunes: Prunes
  /** Entries by the texts of keys; null for a key that does not exist. */
  readonly #entries = new Map<string, StateEntry | null>()
  readonly #lacked = new Map<string, Uint8Array>()
  readonly #kept = new Map<string, unknown>()
  readonly #scans: LoadedScans
  /** Error with which a server reported that the version is pruned. */
  #pruned: LedgerStateError | undefined

  constructor(view: AsyncStateView, { modules, budget, lacks, prunes }: LoadedVersionParts) {
    this.version = view.version
    this.view = view
    this.#modules = modules
    this.#budget = budget
    this.#lacks = lacks
    this.#prunes = prunes
    this.#scans = new LoadedScans(lacks)
  }

  get ledger(): LedgerSummary {
    return this.view.ledger
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
    const found = this.find(key)
    if (found === undefined) {
      this.#lacks.count++
      this.#lacked.set(bytesToHexDigits(key), Uint8Array.from(key))
    }
    return found ?? undefined
  }

  /**
   * The entry of a key if it is loaded, null if the key does not exist. Undefined if it is not loaded, which this does
   * not note.
   */
  find(key: Uint8Array): StateEntry | null | undefined {
    if (this.#pruned) throw this.#pruned
    const text = bytesToHexDigits(key)
    return (
      this.#entries.get(text) ?? (this.#entries.has(text) ? null : this.#modules.find(text, this.version, this.ledger))
    )
  }

  /** Work that a run of the read began under a name, so that the next run continues it. The first run begins it. */
  keep<T>(name: string, begin: () => T): T {
    if (this.#kept.has(name)) return this.#kept.get(name) as T
    const begun = begin()
    this.#kept.set(name, begun)
    return begun
  }

  scan(
    prefix: Uint8Array,
    { start = prefix, limit = Number.POSITIVE_INFINITY }: ScanOptions = {},
  ): Iterable<KeyedEntry> {
    if (this.#pruned) throw this.#pruned
    return this.#scans.scan(prefix, start, limit)
  }

  /** Asks for all that is lacking, and clears the notes. */
  load(): Promise<void>[] {
    const keys = [...this.#lacked.values()]
    const modules = keys.filter((key) => isModuleKey(key))
    const others = keys.filter((key) => !isModuleKey(key))
    this.#lacked.clear()
    this.searchedStructs.clear()
    const loading = this.#scans.load(this.view, this.#budget)
    for (const some of this.#atOnce(others)) loading.push(this.#loadEntries(some, () => this.view.load(some)))
    for (const some of this.#atOnce(modules)) {
      loading.push(this.#loadEntries(some, () => this.#modules.load(this.view, some)))
    }
    const notePruned = (error: unknown): void => {
      this.#pruned = this.#prunes.expectPruned(error)
    }
    return loading.map((one) => one.catch(notePruned))
  }

  async #loadEntries(
    keys: readonly Uint8Array[],
    ask: () => Promise<readonly (StateEntry | undefined)[]>,
  ): Promise<void> {
    await this.#budget.values(keys.length, async () => {
      const entries = await ask()
      for (const [at, key] of keys.entries()) {
        const entry = entries[at]
        this.#budget.spend(key.length + (entry?.value.length ?? 0))
        this.#entries.set(bytesToHexDigits(key), entry ?? null)
      }
    })
  }

  /** Splits the keys into parts that may be asked for together. */
  *#atOnce(keys: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
    const most = this.#budget.valuesAtOnce
    for (let at = 0; at < keys.length; at += most) yield keys.slice(at, at + most)
  }
}
