import { StaleWorld, type World } from '../run/world.js'
import type { WorldPool } from '../run/world-pool.js'
import { ViewAttempt, type ViewParts } from './view-attempt.js'
import type { ViewOutcome, ViewProgress, ViewRun } from './view-call.js'

const NO_WORLDS: readonly World[] = []

/** A view. It starts over if the world that it was given has other modules than its state. */
export class ViewExecution implements ViewRun {
  readonly #parts: ViewParts
  readonly #pool: WorldPool
  #tried: readonly World[] = NO_WORLDS
  #world: World
  #attempt: ViewAttempt
  #outcome: ViewOutcome | undefined

  constructor(parts: ViewParts, pool: WorldPool) {
    this.#parts = parts
    this.#pool = pool
    this.#world = pool.take(this.#tried)
    this.#attempt = new ViewAttempt(parts, this.#world)
  }

  get bytes(): number {
    return this.#attempt.bytes
  }

  provide(result: readonly Uint8Array[]): void {
    this.#attempt.provide(result)
  }

  advance(instructions: number): ViewProgress {
    if (this.#outcome) return this.#outcome
    const progress = this.#advance(instructions)
    if (progress.kind === 'results' || progress.kind === 'fault') {
      this.#outcome = progress
      this.#pool.giveBack(this.#world)
    }
    return progress
  }

  #advance(instructions: number): ViewProgress {
    for (;;) {
      try {
        return this.#attempt.advance(instructions)
      } catch (error) {
        if (!(error instanceof StaleWorld)) throw error
        this.#tried = [...this.#tried, this.#world]
        const next = this.#pool.take(this.#tried)
        this.#pool.giveBack(this.#world)
        this.#world = next
        this.#attempt = new ViewAttempt(this.#parts, next)
      }
    }
  }
}
