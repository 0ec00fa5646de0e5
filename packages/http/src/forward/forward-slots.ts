import { clientLeft, overloaded } from '../errors.js'
import type { ForwardLimits } from './forward-options.js'

interface Waiting {
  readonly start: () => void
}

/**
 * Bounds how many requests are with upstreams at one time; others wait for their turn, in the order in which they came.
 *
 * No library does this for us: p-limit has no bound of what waits, and keeps the place of a client that left.
 */
export class ForwardSlots {
  readonly #limits: Pick<ForwardLimits, 'maxForwards' | 'maxForwardQueue'>
  readonly #waiting = new Set<Waiting>()
  #taken = 0

  constructor(limits: Pick<ForwardLimits, 'maxForwards' | 'maxForwardQueue'>) {
    this.#limits = limits
  }

  /**
   * Resolves when it is the turn of a request, with what is called once when it is over.
   * @throws `overloaded` if too many wait, `client_left` where the signal is aborted before
   */
  async take(gone: AbortSignal): Promise<() => void> {
    if (gone.aborted) throw clientLeft()
    if (this.#taken < this.#limits.maxForwards) this.#taken++
    else await this.#wait(gone)
    return () => this.#leave()
  }

  #wait(gone: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#limits.maxForwardQueue) throw overloaded()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        if (this.#waiting.delete(waiting)) reject(clientLeft())
      }
      const waiting: Waiting = {
        start() {
          gone.removeEventListener('abort', leave)
          resolve()
        },
      }
      this.#waiting.add(waiting)
      gone.addEventListener('abort', leave, { once: true })
    })
  }

  /** The place goes to the request that has waited for longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken--
      return
    }
    this.#waiting.delete(next)
    next.start()
  }
}
