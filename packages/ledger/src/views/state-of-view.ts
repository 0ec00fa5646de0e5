import { branchOf, type StateView } from '@ledger-state/engine'
import { NOT_LOADED, type ViewState } from '@ledger-state/move-vm'
import type { LoadedVersion } from '../async/loaded-version.js'
import { loadedVersionOf } from '../async/loaded-version-of.js'
import type { ModuleRevisions } from './module-revisions.js'

/** The state of a version as the vm reads it. */
export function stateOfView(view: StateView, revisions: ModuleRevisions): ViewState {
  const loaded = loadedVersionOf(view)
  if (loaded) return stateOfLoaded(loaded)
  return {
    read: (key) => view.get(key),
    moduleRevision: (key) => revisions.find(view, key),
    revision: `${view.version}/${branchOf(view.ledger)}`,
  }
}

function stateOfLoaded(view: LoadedVersion): ViewState {
  return {
    read(key) {
      const found = view.find(key)
      return found === undefined ? NOT_LOADED : found?.value
    },
    moduleRevision(key) {
      const found = view.find(key)
      return found === undefined ? NOT_LOADED : found ? `${found.version}/${branchOf(view.ledger)}` : undefined
    },
  }
}
