interface Sample {
  readonly version: bigint
  /** Time in milliseconds of `performance.now`. */
  readonly at: number
}

/**
 * Knows which versions all processes that serve a store have. Processes see a commit at slightly different times; a
 * version that this process has seen for `spreadMs` is known to all.
 */
export class SettledVersion {
  readonly #latest: () => bigint | undefined
  readonly #spreadMs: number
  /** The newest version that was seen at least `spreadMs` ago, as far as it was looked at then. */
  #settled: bigint | undefined
  #sample: Sample | undefined

  /** @param spreadMs time by which another process may see a commit later; 0 if there is no other */
  constructor(latest: () => bigint | undefined, spreadMs: number) {
    this.#latest = latest
    this.#spreadMs = spreadMs
  }

  /** Whether all processes have a version. May be false for a version that aged while nothing looked at it. */
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
