/** A bound of a wanted window: a version, or the time of its blocks in microseconds. */
export type WindowBound = { readonly version: bigint } | { readonly timeUsec: bigint }

/** The part of a backup that is wanted. */
export interface WantedWindow {
  /** Start of the window: the newest state at or before it. */
  readonly since: WindowBound
  /** The last version, or the time of the last block. */
  readonly to?: WindowBound | undefined
  /**
   * The window in the words of the caller, used to remember a choice: the time that `30d` means changes every second.
   */
  readonly words: string
  /** Whether the choice is remembered; true by default. */
  readonly isRemembered?: boolean | undefined
}

/** Plan for reading a window, made before anything large is fetched. */
export interface FetchPlan {
  /** The state that the window begins with; undefined if it begins with the genesis, or a store holds it already. */
  readonly base: { readonly version: bigint; readonly entries: number } | undefined
  /** Versions that are read, limited to those that the backup has within the window. */
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Number of objects with transactions and states, and their stored bytes. */
  readonly objects: number
  readonly bytes: number
  /** Number of epoch changes to read to check signatures: two small objects each. */
  readonly endings: number
  /** Bytes a second that the backup has just given; undefined if that was not measured. */
  readonly bytesPerSecond: number | undefined
}

/** Options of a plan. */
export interface PlanOptions {
  /** Newest version of the store that the plan is for, if it has one. */
  readonly held?: bigint | undefined
  /** Whether to measure, for some seconds, how fast the beginnings of some objects come. */
  readonly measure?: boolean | undefined
}
