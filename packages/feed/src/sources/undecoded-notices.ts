import { undecodedNotice } from '../errors.js'

/** Most kinds of transactions that notices name. */
const MOST_KINDS = 16

/** Tells once of each kind of transaction that a source holds and that cannot be decoded. */
export class UndecodedNotices {
  readonly #onNotice: ((message: string) => void) | undefined
  readonly #told = new Set<string>()

  constructor(onNotice: ((message: string) => void) | undefined) {
    this.#onNotice = onNotice
  }

  add(place: string, kinds: Iterable<string>): void {
    for (const kind of kinds) {
      if (this.#told.has(kind) || this.#told.size === MOST_KINDS) continue
      this.#told.add(kind)
      this.#onNotice?.(undecodedNotice(place, kind))
    }
  }
}
