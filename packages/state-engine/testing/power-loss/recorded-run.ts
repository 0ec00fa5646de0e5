// What a loss of power may cut short: each kind of run that is recorded, and how it varies.
import type { WriterOptions } from '../../src/index.js'

type Options = Partial<WriterOptions>

export type RecordedRun =
  /** Commits and prunes the known ledger, and opens the store again now and then. */
  | {
      readonly kind: 'commits'
      readonly options: Options
      readonly commits: number
      readonly versionsPerCommit: number
      readonly retained: number
      readonly commitsBetweenOpenings: number
    }
  /**
   * Commits, truncates and prunes, and opens the store again now and then. `inSlices`: what is cut off is removed in several
   * transactions, as time runs fast; otherwise in one.
   */
  | { readonly kind: 'truncations'; readonly options: Options; readonly steps: number; readonly inSlices: boolean }
  /** Imports a state in parts of `IMPORT_PART` entries, and commits one version. */
  | { readonly kind: 'import'; readonly options: Options; readonly parts: number }

export const IMPORT_PART = 40

/** Begin lines that a recorded process prints: the number of a run that begins, and a step of the engine. */
export const RUN_BEGINS = '#'
export const STEP = '@'
