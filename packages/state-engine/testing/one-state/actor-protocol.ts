// An actor is a thread that uses an engine and runs only while its director lets it. Of a director and its actors at
// most one thread runs at any time, so a run can be repeated exactly. An actor stops at steps: named points of the
// engine, and its calls of the file system.

/** Indexes in the memory that a director shares with an actor. */
export const SHARED = { state: 0, steps: 1, opsBegun: 2, opsDone: 3, length: 4 } as const
export const STATE = { idle: 0, running: 1, stopped: 2 } as const

/** A command to an actor. */
export type Command =
  /** Runs `PROGRAM`. */
  | { readonly kind: 'write'; readonly path: string; readonly memtableBytes: number }
  /** Opens a reader, which the later commands use. */
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'report' }
  | { readonly kind: 'snapshot'; readonly path: string; readonly compact: boolean }
  | { readonly kind: 'check' }
  | { readonly kind: 'close' }
  /** Ends the thread. */
  | { readonly kind: 'end' }

export interface ActorOptions {
  /** Whether calls of the file system are steps, in addition to the points of the engine. */
  readonly stopsAtSystemCalls: boolean
}
