import { readTooLarge } from '../errors.js'

/** Memory that an entry takes beside its bytes. */
const ENTRY_SIZE = 128

/** Bounds what one read loads. */
export class LoadBudget {
  readonly #mostBytes: number
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** @throws `read_too_large` */
  spend(bytes: number): void {
    this.#bytes += bytes + ENTRY_SIZE
    if (this.#bytes > this.#mostBytes) throw readTooLarge(this.#mostBytes)
  }
}
