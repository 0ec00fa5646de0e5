import type { LedgerStateError } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { AsyncStateSnapshot, WriteSearch } from '@ledger-state/engine'
import type { Lacks } from './lacks.js'
import type { LoadBudget } from './load-budget.js'
import type { Prunes } from './prunes.js'

interface LoadedSearch {
  readonly search: WriteSearch
  /** Versions by the texts of keys; null for a key without such a write. */
  readonly found: Map<string, bigint | null>
  readonly lacked: Map<string, Uint8Array>
}

/** Loaded answers about the nearest writes of keys. All that one run lacked is loaded in one round. */
export class LoadedWrites {
  readonly #lacks: Lacks
  readonly #prunes: Prunes
  readonly #searches = new Map<string, LoadedSearch>()
  /** Error with which a server reported that the version is pruned. */
  #pruned: LedgerStateError | undefined

  constructor(lacks: Lacks, prunes: Prunes) {
    this.#lacks = lacks
    this.#prunes = prunes
  }

  get isLacking(): boolean {
    for (const { lacked } of this.#searches.values()) if (lacked.size > 0) return true
    return false
  }

  /**
   * The nearest write of a key; null if there is none. Undefined, and noted as lacking, if it is not loaded.
   * @throws `version_pruned`
   */
  nearest(key: Uint8Array, search: WriteSearch): bigint | null | undefined {
    if (this.#pruned) throw this.#pruned
    const name = 'above' in search ? `${search.above} to ${search.last}` : `until ${search.until}`
    let loaded = this.#searches.get(name)
    if (!loaded) {
      loaded = { search, found: new Map(), lacked: new Map() }
      this.#searches.set(name, loaded)
    }
    const text = bytesToHexDigits(key)
    const found = loaded.found.get(text)
    if (found === undefined) {
      this.#lacks.count++
      loaded.lacked.set(text, key)
    }
    return found
  }

  /** Asks for all that is lacking, and clears the notes. */
  load(snapshot: AsyncStateSnapshot, budget: LoadBudget): Promise<void>[] {
    return [...this.#searches.values()].map(async ({ search, found, lacked }) => {
      if (lacked.size === 0) return
      const keys = [...lacked]
      lacked.clear()
      try {
        const versions = await snapshot.nearestWrites(
          keys.map(([, key]) => key),
          search,
        )
        for (const [at, [text, key]] of keys.entries()) {
          budget.spend(key.length)
          found.set(text, versions[at] ?? null)
        }
      } catch (error) {
        this.#pruned = this.#prunes.expectPruned(error)
      }
    })
  }
}
