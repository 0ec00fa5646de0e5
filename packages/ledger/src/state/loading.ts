import type { Steps } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import type { ViewState } from '@ledger-state/move-vm'

/**
 * The loaded part of a state on other machines. A read over it runs again until it lacks nothing; the result of an
 * earlier run is not used.
 */
export interface Loading {
  /** Whether this run of the read has read something that is not loaded. It may end at once. */
  readonly isLacking: boolean
  /** Number of times that the runs have asked for something that is not loaded: it stays while a run lacks nothing. */
  readonly lacks: number
  /** The state of a view in the form that the VM reads, which tells absent values from values that are not loaded. */
  viewState(view: StateView): ViewState
  /** Returns the work that an earlier run of the read began under a name at a version; the first run begins it. */
  keep<T>(version: bigint, name: string, begin: () => T): T
  /**
   * Makes a part of the answer. Once a run lacked nothing for it, later runs get it without making it again. The name
   * says what is made, and for which version.
   */
  makeOnce<T extends string | Uint8Array>(name: string, make: () => T): T
  /** The same in steps. */
  makeOnceInSteps<T extends string | Uint8Array>(name: string, make: () => Steps<T>): Steps<T>
  /** Most runs of a view in one page of its history. */
  readonly mostViewRuns: number
}
