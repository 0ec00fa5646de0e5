/** A bound of a wanted window: a version, or the time of its blocks in microseconds. */
export type WindowBound = { readonly version: bigint } | { readonly timeUsec: bigint }

/** The part of a backup that is wanted. */
export interface WantedWindow {
  /** Start of the window: the newest state at or before it. */
  readonly since: WindowBound
  /** The last version, or the time of the last block. */
  readonly to?: WindowBound | undefined
  /** The same in the words that it was asked for with. A choice is remembered by them: what `30d` is changes every second. */
  readonly words: string
  /** Whether the choice is remembered; true by default. */
  readonly isRemembered?: boolean | undefined
}

/** What reading a window takes, before anything large is fetched. */
export interface FetchPlan {
  /** The state that the window begins with; undefined where it begins with the genesis, or a store holds it already. */
  readonly base: { readonly version: bigint; readonly entries: number } | undefined
  /** Versions that are read, and those that the backup has within the window. */
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  /** Objects with transactions and states, and their bytes as they are stored. */
  readonly objects: number
  readonly bytes: number
  /** Epochs whose ends are read to check signatures: two small objects each. */
  readonly endings: number
  /** Bytes a second that the backup gave just now; undefined where that was not measured. */
  readonly bytesPerSecond: number | undefined
}

/** What a plan is made for. */
export interface PlanOptions {
  /** Newest version of the store that it is for, where that has one. */
  readonly held?: bigint | undefined
  /** Whether to read the beginnings of some objects, for some seconds, to find out how fast they come. */
  readonly measure?: boolean | undefined
}
