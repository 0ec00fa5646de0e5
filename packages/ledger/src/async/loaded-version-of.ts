import type { StateView } from '@ledger-state/engine'
import { TracedView } from '../traces/traced-view.js'
import { LoadedVersion } from './loaded-version.js'

/** The part of an async state that a view reads; undefined of a view that lacks nothing. */
export function loadedVersionOf(view: StateView): LoadedVersion | undefined {
  const inner = view instanceof TracedView ? view.inner : view
  return inner instanceof LoadedVersion ? inner : undefined
}
