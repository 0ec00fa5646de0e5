import type { TurnQueue } from './turn-queue.js'

/** What comes in at once, of all bodies together, before they are slowed down: four of the largest batches. */
const BURST_BYTES = 4 * 1024 * 1024
/**
 * From then on. Every chunk is a buffer of its own, and V8 collects the old generation for each 32 MB of them, which
 * costs about 10 ms, however little JavaScript has allocated.
 */
const BYTES_PER_MS = 32_768

/**
 * Paces what large bodies bring in, all of them together, in the order in which they ask. Those that are longer than any
 * request needs wait until no other one does.
 */
export class Intake {
  readonly #turns: TurnQueue
  readonly #waiting: (() => void)[] = []
  readonly #waitingLong: (() => void)[] = []
  #creditBytes = BURST_BYTES
  #creditedAt = performance.now()
  #isScheduled = false

  constructor(turns: TurnQueue) {
    this.#turns = turns
  }

  /** Tells of bytes that have come in; `resume` is called in a turn to come, when there is room for more. */
  pace(bytes: number, isLong: boolean, resume: () => void): void {
    this.#creditBytes -= bytes
    const lane = isLong ? this.#waitingLong : this.#waiting
    lane.push(resume)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length + this.#waitingLong.length === 0) return
    this.#isScheduled = true
    const now = performance.now()
    this.#creditBytes = Math.min(BURST_BYTES, this.#creditBytes + (now - this.#creditedAt) * BYTES_PER_MS)
    this.#creditedAt = now
    if (this.#creditBytes >= 0) this.#turns.resume(this.#resumeNext)
    else setTimeout(this.#resumeNext, -this.#creditBytes / BYTES_PER_MS)
  }

  /** One in a turn: what it brings in is known when the next one is due. */
  readonly #resumeNext = (): void => {
    this.#isScheduled = false
    const resume = this.#waiting.shift() ?? this.#waitingLong.shift()
    resume?.()
    this.#schedule()
  }
}
