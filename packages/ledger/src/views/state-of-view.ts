import { branchOf, type StateView } from '@ledger-state/engine'
import { NOT_LOADED, type ViewState } from '@ledger-state/move-vm'
import { SlicedView } from '@ledger-state/slices'
import type { LoadedVersion } from '../async/loaded-version.js'
import { loadedStateOf, loadedVersionOf } from '../async/loaded-version-of.js'
import type { ModuleRevisions } from './module-revisions.js'

/** The state at a version, in the form that the vm reads. */
export function stateOfView(view: StateView, revisions: ModuleRevisions): ViewState {
  const loaded = loadedVersionOf(view)
  if (loaded) return stateOfLoaded(loaded, view)
  return {
    read: (key) => view.get(key),
    moduleRevision: (key) => revisions.find(view, key),
    revision: `${view.version}/${branchOf(view.ledger)}`,
  }
}

function stateOfLoaded(view: LoadedVersion, asked: StateView): ViewState {
  return {
    read(key) {
      const found = view.find(key)
      if (found === undefined) return NOT_LOADED
      return found ? found.value : absentOf(asked, key)
    },
    moduleRevision(key) {
      const found = view.find(key)
      return found === undefined ? NOT_LOADED : found ? `${found.version}/${branchOf(view.ledger)}` : undefined
    },
  }
}

/**
 * The answer for a key without a value. A slice must know that the key has none, and may have to load something to find
 * out.
 */
function absentOf(view: StateView, key: Uint8Array): undefined | typeof NOT_LOADED {
  try {
    view.get(key)
    return undefined
  } catch (error) {
    if (view instanceof SlicedView && loadedStateOf(view.reader)?.isLacking) return NOT_LOADED
    throw error
  }
}
