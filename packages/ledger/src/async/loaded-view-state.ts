import { branchOf, type StateView } from '@ledger-state/engine'
import { NOT_LOADED, type ViewState } from '@ledger-state/move-vm'
import type { Loading } from '../state/loading.js'
import type { LoadedVersion } from './loaded-version.js'

/**
 * The state of a view in the form that the VM reads.
 * @param asked the view that the read uses: the loaded version itself, or a view of it under the rules of a slice
 */
export function loadedViewState(state: Pick<Loading, 'isLacking'>, loaded: LoadedVersion, asked: StateView): ViewState {
  return {
    read(key) {
      const found = loaded.find(key)
      if (found === undefined) return NOT_LOADED
      return found ? found.value : absentOf(state, asked, key)
    },
    moduleRevision(key) {
      const found = loaded.find(key)
      return found === undefined ? NOT_LOADED : found ? `${found.version}/${branchOf(loaded.ledger)}` : undefined
    },
  }
}

/**
 * The answer for a key without a value. A slice must know that the key has none, and may have to load something to find
 * out.
 */
function absentOf(state: Pick<Loading, 'isLacking'>, asked: StateView, key: Uint8Array): undefined | typeof NOT_LOADED {
  try {
    asked.get(key)
    return undefined
  } catch (error) {
    if (state.isLacking) return NOT_LOADED
    throw error
  }
}
