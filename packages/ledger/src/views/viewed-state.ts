import type { StateView } from '@ledger-state/engine'
import { ModuleCache } from '../caches/module-cache.js'
import { ViewCaches } from '../caches/view-caches.js'
import type { LedgerState, StateSource } from '../state/ledger-state.js'
import { CachedTypeResolver } from '../types/type-resolver.js'

/** The part of a ledger's state that views use. */
export interface ViewedState extends Pick<LedgerState, 'version' | 'view'> {
  readonly source: Pick<StateSource, 'types' | 'views' | 'loading'>
}

/**
 * A state with empty caches. A view over it reads each key that its answer depends on, the same ones wherever it runs.
 * @param loading the loading of the state, if it is on other machines
 */
export function uncachedState(view: StateView, loading?: StateSource['loading']): ViewedState {
  const types = new CachedTypeResolver(new ModuleCache())
  return { version: view.version, view, source: { types, views: new ViewCaches(), loading } }
}
