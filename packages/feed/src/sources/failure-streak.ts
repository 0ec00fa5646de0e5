import { type Backoff, isLedgerStateError, LedgerStateError, pauseFor } from '@ledger-state/core'
import { askingAgain, createBackoff } from '../requests/retrying-fetch.js'

/**
 * Answers in a row that must agree. A single answer may be damaged, or come from another server that took the place of
 * the source for a moment.
 */
const BELIEVED_ANSWERS = 3

/** Pauses and notices of a `FailureStreak`. */
export interface FailureStreakOptions {
  /** Pause after the first failure, 250 ms by default; it doubles with each further failure. */
  readonly firstPauseMs?: number | undefined
  /** Called before each pause with one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/**
 * Counts failures that end the reading of a source, such as a fork or another chain. A failure counts only after
 * three answers in a row have shown it.
 * @example
 * ```ts
 * import { LedgerStateError } from '@ledger-state/core'
 * import { FailureStreak } from '@ledger-state/feed'
 *
 * const streak = new FailureStreak({ firstPauseMs: 1 })
 * const fork = new LedgerStateError('ledger_fork', 'version 7 differs')
 * await streak.add(fork)
 * await streak.add(fork)
 * await streak.add(fork).catch(({ code, fields }) => console.log(code, fields.answers)) // ledger_fork 3
 * ```
 */
export class FailureStreak {
  readonly #onNotice: FailureStreakOptions['onNotice']
  readonly #backoff: Backoff
  #code: string | undefined
  #answers = 0

  constructor({ firstPauseMs, onNotice }: FailureStreakOptions = {}) {
    this.#backoff = createBackoff(firstPauseMs)
    this.#onNotice = onNotice
  }

  /**
   * Counts a failure, and resolves after the pause before the source is asked again. A failure with another code than
   * the previous one begins a new streak, but the pauses go on growing; a failure with the field `answers` counts as that
   * number of answers.
   * @param signal ends the pause
   * @throws the failure once it has repeated often enough, with the number of answers in its field `answers`
   */
  async add(failure: LedgerStateError, signal?: AbortSignal): Promise<void> {
    const { code, message, fields } = failure
    if (code !== this.#code) this.#answers = 0
    this.#code = code
    this.#answers += typeof fields.answers === 'number' ? fields.answers : 1
    const answers = this.#answers
    if (answers >= BELIEVED_ANSWERS) {
      this.end()
      throw new LedgerStateError(code, message, { ...fields, answers }, { cause: failure })
    }
    const pause = this.#backoff.next()
    this.#onNotice?.(`${message}; ${askingAgain(pause)}`)
    await pauseFor(pause, signal)
  }

  /** Forgets the failures, because the source gave a usable answer. */
  end(): void {
    this.#code = undefined
    this.#answers = 0
    this.#backoff.reset()
  }
}

/** Whether a failure shows that the source has another ledger, or has pruned the requested data. */
export function isOfOtherLedger(error: unknown): error is LedgerStateError {
  return isLedgerStateError(error, 'chain_id_mismatch', 'ledger_fork', 'version_gap')
}
