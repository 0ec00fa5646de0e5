import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { runTimeFast } from './fast-clock.ts'
import { imageDigest, type PowerLoss, withImage, writeImage } from './power-losses.ts'

/** Folder in which the numbers of images are logged, and images that failed are kept. */
const LOG = process.env.POWER_LOSS_LOG

/** Opens the images of losses of power, each once for each set of acknowledged versions, and counts them. */
export class LossTrial {
  readonly #name: string
  readonly #seed: number
  readonly #begun = process.cpuUsage()
  readonly #steps = new Map<string, number>()
  #images = 0
  #distinct = 0

  /** Starts a trial. `name` says what was cut short. */
  constructor(name: string, seed: number) {
    this.#name = name
    this.#seed = seed
  }

  /** Calls `work` with each loss of one run. If it throws, the error names the loss. */
  async each(losses: Iterable<PowerLoss>, work: (path: string, loss: PowerLoss) => Promise<void>): Promise<void> {
    const opened = new Set<string>()
    const distinct = new Set<string>()
    for (const loss of losses) {
      const step = loss.step ?? 'opening'
      this.#images++
      this.#steps.set(step, (this.#steps.get(step) ?? 0) + 1)
      const digest = imageDigest(loss.image)
      if (!distinct.has(digest)) this.#distinct++
      distinct.add(digest)
      // The same bytes may have to hold more once more is acknowledged.
      const promised = `${loss.printed}:${digest}`
      if (opened.has(promised)) continue
      opened.add(promised)
      const endFastTime = runTimeFast()
      await withImage(loss.image, (path) => work(path, loss))
        .catch((error) => this.#fail(loss, error))
        .finally(endFastTime)
    }
  }

  /** Logs the numbers of images, and a failure. */
  log(failure?: string): void {
    if (LOG === undefined) return
    mkdirSync(LOG, { recursive: true })
    const { user, system } = process.cpuUsage(this.#begun)
    const cpuSeconds = (user + system) / 1e6
    const steps = Object.fromEntries(this.#steps)
    const counts = { images: this.#images, distinct: this.#distinct, cpuSeconds, steps }
    const line = { seed: this.#seed, name: this.#name, ...counts, failure }
    appendFileSync(join(LOG, 'counts.jsonl'), `${JSON.stringify(line)}\n`)
  }

  #fail({ image, after, step, printed }: PowerLoss, error: Error): never {
    const files = [...image].map(([name, { length }]) => `${name} of ${length} bytes`)
    const place = `after event ${after}, at ‘${step}’, where ‘${printed}’ was printed, with ${files.join(', ')}`
    const message = `${place} (TEST_SEED=${this.#seed}): ${error.message}`
    if (LOG !== undefined) {
      mkdirSync(LOG, { recursive: true })
      const kept = mkdtempSync(join(LOG, 'failed-'))
      writeImage(kept, image)
      this.log(`${message}; kept in ${kept}`)
    }
    throw new Error(message, { cause: error })
  }
}
