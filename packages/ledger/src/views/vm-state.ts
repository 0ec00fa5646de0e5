import { branchOf } from '@ledger-state/engine'
import type { ViewState } from '@ledger-state/move-vm'
import type { ViewedState } from './viewed-state.js'

/** A state in the form that the VM reads. `revision` names its code; by default that is the version of the state. */
export function vmStateOf({ view, source }: ViewedState, revision?: symbol): ViewState {
  if (source.loading) return source.loading.viewState(view)
  const { revisions } = source.views
  return {
    read: (key) => view.get(key),
    moduleRevision: (key) => revisions.find(view, key),
    revision: revision ?? `${view.version}/${branchOf(view.ledger)}`,
  }
}
