import { atOnce, noSteps, type Steps } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import {
  type AsyncStateSnapshot,
  type Block,
  branchOf,
  type HistoryOptions,
  type LedgerSummary,
  noLedger,
  type Revision,
  type SearchingReader,
  type StateView,
  type StoreBase,
  type WriteSearch,
} from '@ledger-state/engine'
import type { ViewState } from '@ledger-state/move-vm'
import type { Loading } from '../state/loading.js'
import type { KnownModules } from './known-modules.js'
import { Lacks } from './lacks.js'
import type { LoadBudget } from './load-budget.js'
import { LoadedBlocks } from './loaded-blocks.js'
import { LoadedHistory } from './loaded-history.js'
import { LoadedVersion } from './loaded-version.js'
import { loadedViewState } from './loaded-view-state.js'
import { LoadedWrites } from './loaded-writes.js'
import { Prunes } from './prunes.js'

/** Most runs of a view in one page of its history. Each takes a round or more, and a read may take 256. */
const MOST_VIEW_RUNS = 48

/**
 * The part of an async state that one read has loaded, with synchronous answers. Data that is not loaded is answered as
 * absent, and is noted. The answer of a run with missing data must not be used: `load` loads all missing data in one
 * round, and the read runs again.
 */
export class LoadedState implements SearchingReader, Loading {
  readonly mostViewRuns = MOST_VIEW_RUNS
  readonly #modules: KnownModules
  readonly #budget: LoadBudget
  readonly #lacks = new Lacks()
  readonly #prunes = new Prunes()
  #snapshot: AsyncStateSnapshot
  readonly #versions = new Map<bigint, LoadedVersion>()
  #histories = new Map<string, LoadedHistory>()
  #blocks = new LoadedBlocks(this.#lacks, this.#prunes)
  #writes = new LoadedWrites(this.#lacks, this.#prunes)
  /** Complete parts of the answer, by their names. */
  readonly #complete = new Map<string, string | Uint8Array>()
  /** Whether the run has asked the state anything. */
  isUsed = false

  constructor(snapshot: AsyncStateSnapshot, modules: KnownModules, budget: LoadBudget) {
    this.#snapshot = snapshot
    this.#modules = modules
    this.#budget = budget
  }

  get isLacking(): boolean {
    if (this.#blocks.isLacking || this.#writes.isLacking) return true
    for (const version of this.#versions.values()) if (version.isLacking) return true
    for (const history of this.#histories.values()) if (history.isLacking) return true
    return false
  }

  get lacks(): number {
    return this.#lacks.count
  }

  /** Notes that a part of the run stands in for something that is not loaded. */
  noteLack(): void {
    this.#lacks.count++
  }

  /** The oldest version that servers keep, if they reported that a prune has overtaken the snapshot. */
  get overtakenBy(): bigint | undefined {
    const { oldestVersion } = this.#prunes
    return oldestVersion > (this.#snapshot.ledger?.oldestVersion ?? 0n) ? oldestVersion : undefined
  }

  /** Continues with another snapshot. Loaded versions stay valid, unless a truncation has cut some off. */
  moveTo(snapshot: AsyncStateSnapshot): void {
    const [before, after] = [this.#snapshot.ledger, snapshot.ledger]
    if (!before || !after || branchOf(before) !== branchOf(after)) this.#versions.clear()
    this.#snapshot = snapshot
    this.#complete.clear()
    this.#histories = new Map()
    this.#blocks = new LoadedBlocks(this.#lacks, this.#prunes)
    this.#writes = new LoadedWrites(this.#lacks, this.#prunes)
  }

  /** Loads, in one round, all that is lacking. */
  async load(): Promise<void> {
    const loading = [...this.#versions.values()].flatMap((version) => version.load())
    for (const history of this.#histories.values()) {
      if (history.isLacking) loading.push(history.load(this.#snapshot, this.#budget, this.#prunes))
    }
    loading.push(...this.#blocks.load(this.#snapshot), ...this.#writes.load(this.#snapshot, this.#budget))
    await Promise.all(loading)
  }

  get #used(): AsyncStateSnapshot {
    this.isUsed = true
    return this.#snapshot
  }

  get ledger(): LedgerSummary | undefined {
    return this.#used.ledger
  }

  get base(): StoreBase | undefined {
    return this.#used.base
  }

  at(version?: bigint): StateView {
    const view = this.#used.at(version)
    const known = this.#versions.get(view.version)
    if (known) {
      known.view = view
      return known
    }
    const loaded = new LoadedVersion(view, {
      modules: this.#modules,
      budget: this.#budget,
      lacks: this.#lacks,
      prunes: this.#prunes,
    })
    this.#versions.set(view.version, loaded)
    return loaded
  }

  /** The loaded part of the state at a version; undefined if no read has asked for it. */
  loadedAt(version: bigint): LoadedVersion | undefined {
    return this.#versions.get(version)
  }

  viewState(view: StateView): ViewState {
    return loadedViewState(this, this.#expectLoaded(view.version), view)
  }

  keep<T>(version: bigint, name: string, begin: () => T): T {
    return this.#expectLoaded(version).keep(name, begin)
  }

  makeOnce<T extends string | Uint8Array>(name: string, make: () => T): T {
    return atOnce(this.makeOnceInSteps(name, () => noSteps(make())))
  }

  *makeOnceInSteps<T extends string | Uint8Array>(name: string, make: () => Steps<T>): Steps<T> {
    const known = this.#complete.get(name)
    if (known !== undefined) return known as T
    const before = this.#lacks.count
    const made = yield* make()
    if (this.#lacks.count === before) {
      this.#budget.spend(made.length)
      this.#complete.set(name, made)
    }
    return made
  }

  #expectLoaded(version: bigint): LoadedVersion {
    const loaded = this.loadedAt(version)
    if (!loaded) throw new Error(`no view of version ${version} was made`)
    return loaded
  }

  blockAt(version: bigint): Block {
    this.#used.at(version)
    return this.#blocks.at(version)
  }

  blockByHeight(height: bigint): Block | undefined {
    this.#expectLedger()
    return this.#blocks.byHeight(height)
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    this.#expectLedger()
    return this.#blocks.atTime(timestampUsec)
  }

  history(key: Uint8Array, options: HistoryOptions = {}): Iterable<Revision> {
    this.#expectLedger()
    const { first, last, order } = options
    const name = `${order} ${first} ${last} ${bytesToHexDigits(key)}`
    const known = this.#histories.get(name)
    if (known) return known
    const history = new LoadedHistory(key, options, this.#lacks)
    this.#histories.set(name, history)
    return history
  }

  /** `AsyncStateSnapshot.nearestWrites` for one key: null if there is no write, undefined if that is not loaded. */
  nearestWrite(key: Uint8Array, search: WriteSearch): bigint | null | undefined {
    this.#expectLedger()
    return this.#writes.nearest(key, search)
  }

  #expectLedger(): void {
    if (this.#used.ledger === undefined) throw noLedger()
  }
}
