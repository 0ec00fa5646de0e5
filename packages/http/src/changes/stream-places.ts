import type { ServerResponse } from 'node:http'
import { overloaded } from '../errors.js'

export interface StreamLimits {
  /** Most streams at one time. */
  readonly maxStreams: number
  /** Most streams of one client address at one time. */
  readonly maxStreamsPerAddress: number
}

/** Counts open streams, in all and by the address of their client. */
export class StreamPlaces {
  readonly #limits: StreamLimits
  readonly #byAddress = new Map<string, number>()
  #count = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /**
   * Takes a place until the response is closed.
   * @throws `overloaded`
   */
  take(response: ServerResponse, address: string): void {
    const { maxStreams, maxStreamsPerAddress } = this.#limits
    const count = this.#byAddress.get(address) ?? 0
    if (this.#count >= maxStreams || count >= maxStreamsPerAddress) throw overloaded()
    this.#count++
    this.#byAddress.set(address, count + 1)
    response.once('close', () => this.#leave(address))
  }

  #leave(address: string): void {
    this.#count--
    const left = this.#byAddress.get(address)! - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}
