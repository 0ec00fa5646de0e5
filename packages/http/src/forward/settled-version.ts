interface Sample {
  readonly version: bigint
  /** Time in milliseconds of `performance.now`. */
  readonly at: number
}

/**
 * Knows which versions all processes that serve a store have by now. Each sees a commit a moment later than another: a version
 * that this one has seen for the longest such moment, all have.
 */
export class SettledVersion {
  readonly #latest: () => bigint | undefined
  readonly #spreadMs: number
  /** The newest version that was seen at least `spreadMs` ago, as far as somebody looked then. */
  #settled: bigint | undefined
  #sample: Sample | undefined

  /** @param spreadMs how much later than here another process may see a commit; 0 if there is none */
  constructor(latest: () => bigint | undefined, spreadMs: number) {
    this.#latest = latest
    this.#spreadMs = spreadMs
  }

  /** Whether all have a version. May say no of one that became old while nobody asked. */
  has(version: bigint): boolean {
    const latest = this.#latest()
    if (this.#spreadMs === 0) this.#settled = latest
    else this.#look(latest, performance.now())
    return this.#settled !== undefined && this.#settled >= version
  }

  #look(latest: bigint | undefined, now: number): void {
    const isOld = this.#sample !== undefined && now - this.#sample.at >= this.#spreadMs
    if (isOld) this.#settled = this.#sample!.version
    if (latest !== undefined && (isOld || this.#sample === undefined)) this.#sample = { version: latest, at: now }
  }
}
