import type { RootJob, RootResult } from './root-job.js'
import type { RootThreads } from './root-threads.js'

/** Most batches that are being hashed or added. */
const MOST_UNDER_WAY = 16

/** Has threads hash batches, and takes the hashes, in the order of the batches. */
export class BatchSender {
  readonly #threads: RootThreads
  readonly #take: (hashed: RootResult) => Promise<void>
  readonly #underWay = new Set<Promise<void>>()
  #added = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  constructor(threads: RootThreads, take: (hashed: RootResult) => Promise<void>) {
    this.#threads = threads
    this.#take = take
  }

  /** Sends a batch. Resolves when the next one may be sent. @throws the error of an earlier batch */
  async send(job: RootJob): Promise<void> {
    await this.#threads.ready()
    if (this.#failure) throw this.#failure.error
    const hashed = this.#threads.run(job)
    const before = this.#added
    const add = async () => {
      const result = await hashed
      await before
      await this.#take(result)
    }
    const done = add().catch((error: unknown) => {
      this.#failure ??= { error }
    })
    this.#added = done
    this.#underWay.add(done)
    void done.then(() => this.#underWay.delete(done))
    // This also bounds the hashes that wait to be written to files, which may be slower than hashing.
    if (this.#underWay.size > MOST_UNDER_WAY) await Promise.race(this.#underWay)
  }

  /** Resolves when all batches are added, or one has failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  /** Resolves when all batches are added. @throws the error of a batch */
  async finish(): Promise<void> {
    await this.settle()
    if (this.#failure) throw this.#failure.error
  }
}
