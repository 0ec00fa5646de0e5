import type { LedgerSummary, StateReader, StateView } from '@ledger-state/engine'
import type { SlicedReader } from '@ledger-state/slices'
import type { BalanceKeysCache } from '../assets/balance-keys.js'
import type { ModuleCache } from '../caches/module-cache.js'
import type { TransactionBlockCache } from '../caches/transaction-block-cache.js'
import type { ViewCaches } from '../caches/view-caches.js'
import type { StructResolver } from '../types/type-resolver.js'
import { KeptTransactions } from './kept-transactions.js'
import type { Loading } from './loading.js'

/**
 * The ledger at one version. Reads are functions over it, such as `readBalance(state, owner, asset)`, and refer to the
 * same state of the ledger. Addresses and handles are 32 bytes. Every read throws `version_pruned` once the pruner has
 * passed the version, and `version_truncated` once a truncation has cut it off.
 */
export interface LedgerState {
  readonly version: bigint
  readonly ledger: LedgerSummary
  /** The state at the version. Over a store that keeps a slice, it throws `version_pruned` for unknown values. */
  readonly view: StateView
  /** The same state without the rules of a slice, for the store's own keys. */
  readonly storedView: StateView
  /** The transactions that the store keeps. */
  readonly transactions: KeptTransactions
  /** The store, and caches that all states of a ledger share. */
  readonly source: StateSource
}

/** The store of a ledger, and caches that its states share. */
export interface StateSource {
  /** All reads of the store, under the rules of its slice. */
  readonly reader: StateReader
  /** The same reader if the store keeps a slice. */
  readonly sliced: SlicedReader | undefined
  readonly types: StructResolver
  readonly modules: ModuleCache
  readonly balanceKeys: BalanceKeysCache
  readonly views: ViewCaches
  readonly transactionBlocks: TransactionBlockCache
  /** The loaded part of a state on other machines; undefined for a synchronous store. */
  readonly loading: Loading | undefined
}

/**
 * The state at a version, by default the latest.
 * @param last a state that is returned again if the store has the same view for it, as stores may for their newest version
 * @throws `no_ledger`, `version_not_found`, `version_pruned`
 */
export function pinState(source: StateSource, version?: bigint, last?: LedgerState): LedgerState {
  const { reader, sliced } = source
  if (sliced) {
    const view = sliced.at(version)
    return last?.view === view ? last : new PinnedState(source, view, view.inner)
  }
  const view = reader.at(version)
  return last?.view === view ? last : new PinnedState(source, view, view)
}

/** A view for reading objects that were first owned by an account; see `SlicedReader.viewOfOwned`. */
export function viewOfOwned({ view, storedView, source }: LedgerState, owner: Uint8Array): StateView {
  return source.sliced ? source.sliced.viewOfOwned(storedView, owner) : view
}

/** A reader for objects that were first owned by an account; see `SlicedReader.readerOfOwned`. */
export function readerOfOwned({ source }: LedgerState, owner: Uint8Array): StateReader {
  return source.sliced ? source.sliced.readerOfOwned(owner) : source.reader
}

class PinnedState implements LedgerState {
  readonly version: bigint
  readonly ledger: LedgerSummary
  readonly view: StateView
  readonly storedView: StateView
  readonly source: StateSource
  #transactions: KeptTransactions | undefined

  constructor(source: StateSource, view: StateView, storedView: StateView) {
    this.version = view.version
    this.ledger = view.ledger
    this.view = view
    this.storedView = storedView
    this.source = source
  }

  get transactions(): KeptTransactions {
    const { reader, sliced, transactionBlocks } = this.source
    this.#transactions ??= new KeptTransactions(sliced?.inner ?? reader, transactionBlocks, this.storedView)
    return this.#transactions
  }
}
