import type { TurnQueue } from './turn-queue.js'

/** Rate at which chunks of bodies may come in. */
export interface PaceRate {
  /** Bytes that may come in at once before they are slowed down. */
  readonly burstBytes: number
  /** Rate after the burst. */
  readonly bytesPerMs: number
}

/**
 * Rate of all bodies together that requests may need: four of the largest batches at once. Every chunk is a separate
 * buffer, and V8 collects the old generation for each 32 MB of them, which costs about 10 ms, however little JavaScript
 * has allocated.
 */
export const BODY_RATE: PaceRate = { burstBytes: 4 * 1024 * 1024, bytesPerMs: 32_768 }

/**
 * Rate of all bodies together that are longer than any request needs, and of bytes after an answer: one collection of
 * the old generation in four seconds.
 */
export const LONG_BODY_RATE: PaceRate = { burstBytes: 1024 * 1024, bytesPerMs: 8_192 }

/** Paces the bytes of all large bodies together, in the order of their requests. */
export class BodyPacer {
  readonly #turns: TurnQueue
  readonly #rate: PaceRate
  readonly #waiting: (() => void)[] = []
  #creditBytes: number
  #creditedAt = performance.now()
  #isScheduled = false

  constructor(turns: TurnQueue, rate: PaceRate) {
    this.#turns = turns
    this.#rate = rate
    this.#creditBytes = rate.burstBytes
  }

  /** Counts bytes that have come in. Resolves in a later turn, once there is room for more. */
  pace(bytes: number): Promise<void> {
    this.#creditBytes -= bytes
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    const { burstBytes, bytesPerMs } = this.#rate
    const now = performance.now()
    this.#creditBytes = Math.min(burstBytes, this.#creditBytes + (now - this.#creditedAt) * bytesPerMs)
    this.#creditedAt = now
    if (this.#creditBytes >= 0) void this.#turns.nextTurn().then(this.#resumeNext)
    else setTimeout(this.#resumeNext, -this.#creditBytes / bytesPerMs)
  }

  /** Resumes one body in a turn, so that its next bytes are counted before another is resumed. */
  readonly #resumeNext = (): void => {
    this.#isScheduled = false
    this.#waiting.shift()?.()
    this.#schedule()
  }
}
