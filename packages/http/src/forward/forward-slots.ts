import { clientLeft, overloaded } from '../errors.js'
import type { ForwardLimits } from './forward-options.js'

interface Waiting {
  readonly start: () => void
}

/**
 * Bounds the number of requests that are with upstreams at one time. Others wait for their turn, in order of arrival.
 *
 * No library does this for us: p-limit does not bound its queue, and keeps the place of a client that left.
 */
export class ForwardSlots {
  readonly #limits: Pick<ForwardLimits, 'maxForwards' | 'maxForwardQueue'>
  readonly #waiting = new Set<Waiting>()
  #taken = 0

  constructor(limits: Pick<ForwardLimits, 'maxForwards' | 'maxForwardQueue'>) {
    this.#limits = limits
  }

  /**
   * Resolves when it is a request's turn, with a function to call once when the request is over.
   * @throws `overloaded` if too many wait, `client_left` if the signal is aborted before
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

  /** The request that has waited for longest gets the place. */
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
