import type { StateReader, StateView } from '@ledger-state/engine'
import { SlicedReader, SlicedView } from '@ledger-state/slices'
import { TracedView } from '../traces/traced-view.js'
import { LoadedState } from './loaded-state.js'
import { LoadedVersion } from './loaded-version.js'

/** The loaded part of an async state behind a view; undefined for a view that lacks nothing. */
export function loadedVersionOf(view: StateView): LoadedVersion | undefined {
  const read = view instanceof TracedView ? view.inner : view
  const inner = read instanceof SlicedView ? read.inner : read
  return inner instanceof LoadedVersion ? inner : undefined
}

/** The loaded part of an async state behind a reader; undefined for a reader that lacks nothing. */
export function loadedStateOf(reader: StateReader): LoadedState | undefined {
  const inner = reader instanceof SlicedReader ? reader.inner : reader
  return inner instanceof LoadedState ? inner : undefined
}
