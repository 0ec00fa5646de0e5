// Kinds of runs that a loss of power may cut short, and how they vary.
import type { WriterOptions } from '../../src/index.js'

type Options = Partial<WriterOptions>

export type RecordedRun =
  /** Commits and prunes the known ledger, and reopens the store now and then. */
  | {
      readonly kind: 'commits'
      readonly options: Options
      readonly commits: number
      readonly versionsPerCommit: number
      readonly retained: number
      readonly commitsBetweenOpenings: number
    }
  /**
   * Commits, truncates and prunes, and reopens the store now and then. If `inSlices`, the clock runs fast, and the
   * versions cut off are removed in several transactions; otherwise in one.
   */
  | { readonly kind: 'truncations'; readonly options: Options; readonly steps: number; readonly inSlices: boolean }
  /** Imports a state in parts of `IMPORT_PART` entries, and commits one version. */
  | { readonly kind: 'import'; readonly options: Options; readonly parts: number }

export const IMPORT_PART = 40

/** Prefixes of the lines that a recorded process prints: the number of a run that begins, and a step of the engine. */
export const RUN_BEGINS = '#'
export const STEP = '@'
