/** Answer of a state that has not loaded a key yet and can load it. */
export const NOT_LOADED = Symbol('not loaded')

/**
 * The state at one version, which the caller of the VM provides. Keys are state keys in database form (`moduleKey`,
 * `resourceKey`, `resourceGroupKey`, `tableItemKey` of `@ledger-state/type-tag`). Answers other than `NOT_LOADED` never
 * change.
 */
export interface ViewState {
  /**
   * The value of a key; undefined if it has none. If the answer is `NOT_LOADED`, the run stops and names the keys that
   * it lacks; once the caller has loaded them, the same instruction runs again. The bytes must not change afterwards.
   */
  read(key: Uint8Array): Uint8Array | undefined | typeof NOT_LOADED
  /**
   * Optional. A text that changes with the value of a module's key, such as the version that wrote it; undefined if the
   * key has no value. With it, the vm does not read again a module that it has decoded; without it, the vm compares
   * bytes.
   */
  moduleRevision?(key: Uint8Array): string | undefined | typeof NOT_LOADED
  /**
   * Optional. Names the code of the state: runs whose states have the same revision find the same value under every key
   * that `traceRead` reports as `code`. The version of the state is such a name. With it, the vm checks once for each
   * revision, and not once for each run, whether its cached modules and settings match the state.
   */
  readonly revision?: string | symbol | undefined
}

/**
 * Records a key that a run uses. `text` is the key in hex; `kind` says whether it belongs to the code (a module or a
 * setting of the chain, see `ViewState.revision`) or to the values. The bytes of the key must not be changed.
 */
export type TraceRead = (key: Uint8Array, text: string, kind: 'code' | 'value') => void
