import type { Random } from '@ledger-state/testing/random'
import type { AsyncState, AsyncStateSnapshot, AsyncStateView } from '../src/ports/async-state-port.ts'
import type { LedgerSummary } from '../src/ports/state-port.ts'

export interface DelayedStateOptions {
  readonly random: Random
  /** Most entries or revisions of a page. */
  readonly pageSize?: number
}

/** An async state with delayed answers. */
export interface DelayedState extends AsyncState {
  /** Number of rounds of questions. Questions of the same turn of the event loop share a round. */
  readonly rounds: number
}

/** Wraps a state so that its answers come after random delays, and its pages are as short as a test wants them. */
export function delayState(state: AsyncState, options: DelayedStateOptions): DelayedState {
  return new DelayingState(state, options)
}

const MOST_TURNS = 4

class DelayingState implements DelayedState {
  readonly #state: AsyncState
  readonly #random: Random
  readonly #pageSize: number
  #isRoundOpen = false
  #told: LedgerSummary | undefined
  rounds = 0

  constructor(state: AsyncState, { random, pageSize = 1_000 }: DelayedStateOptions) {
    this.#state = state
    this.#random = random
    this.#pageSize = pageSize
  }

  get ledger(): LedgerSummary | undefined {
    return this.#told
  }

  async snapshot(): Promise<AsyncStateSnapshot> {
    const snapshot = await this.#late(() => this.#state.snapshot())
    this.#told = snapshot.ledger
    return {
      ledger: snapshot.ledger,
      base: snapshot.base,
      at: (version) => this.#view(snapshot.at(version)),
      blockAt: (version) => this.#late(() => snapshot.blockAt(version)),
      blockByHeight: (height) => this.#late(() => snapshot.blockByHeight(height)),
      blockAtTime: (timestampUsec) => this.#late(() => snapshot.blockAtTime(timestampUsec)),
      history: (key, options = {}) => {
        const limit = Math.min(options.limit ?? this.#pageSize, this.#pageSize)
        return this.#late(() => snapshot.history(key, { ...options, limit }))
      },
      nearestWrites: (keys, search) => this.#late(() => snapshot.nearestWrites(keys, search)),
    }
  }

  #view(view: AsyncStateView): AsyncStateView {
    return {
      version: view.version,
      ledger: view.ledger,
      load: (keys) => this.#late(() => view.load(keys)),
      scan: async (prefix, options = {}) => {
        const page = await this.#late(() => view.scan(prefix, options))
        const { entries } = page
        return entries.length <= this.#pageSize
          ? page
          : { entries: entries.slice(0, this.#pageSize), next: entries[this.#pageSize]!.key }
      },
    }
  }

  async #late<T>(ask: () => Promise<T>): Promise<T> {
    this.#countRound()
    await this.#turns()
    // Errors are delayed, too.
    const answer = await ask().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    await this.#turns()
    if ('error' in answer) throw answer.error
    return answer.value
  }

  async #turns(): Promise<void> {
    for (let left = this.#random.below(MOST_TURNS); left >= 0; left--) await new Promise((next) => setImmediate(next))
  }

  #countRound(): void {
    if (this.#isRoundOpen) return
    this.#isRoundOpen = true
    this.rounds++
    setImmediate(() => {
      this.#isRoundOpen = false
    })
  }
}
