/** The answer of a state that does not hold a key yet and can load it. */
export const NOT_LOADED = Symbol('not loaded')

/**
 * The state at one version, as the caller of the vm gives it. Keys are state keys in database form (`moduleKey`,
 * `resourceKey`, `resourceGroupKey`, `tableItemKey` of `@ledger-state/type-tag`). Its answers never change, but for
 * `NOT_LOADED`.
 */
export interface ViewState {
  /**
   * The value of a key; undefined where it has none. With `NOT_LOADED` the run stops and names the keys that it lacks; once
   * the caller has loaded them, the same instruction runs again. The bytes must stay as they are.
   */
  read(key: Uint8Array): Uint8Array | undefined | typeof NOT_LOADED
  /**
   * A text that differs whenever the value of a module's key does, such as the version that wrote it; undefined where the key
   * has no value. With it, the vm does not read again what it has decoded. Optional: else it compares bytes.
   */
  moduleRevision?(key: Uint8Array): string | undefined | typeof NOT_LOADED
  /**
   * A text that differs whenever any value of the state does, such as its version. With it, the vm asks once for each state,
   * and not once for each run, whether the modules and settings that it keeps are those of the state. Optional.
   */
  readonly revision?: string | undefined
}
