import { branchOf } from '@ledger-state/engine'
import type { ViewState } from '@ledger-state/move-vm'
import type { LedgerState } from '../state/ledger-state.js'

/** A state in the form that the VM reads. */
export function vmStateOf({ view, source }: LedgerState): ViewState {
  if (source.loading) return source.loading.viewState(view)
  const { revisions } = source.views
  return {
    read: (key) => view.get(key),
    moduleRevision: (key) => revisions.find(view, key),
    revision: `${view.version}/${branchOf(view.ledger)}`,
  }
}
