import { PageFault } from './data-pages.js'

/** Pages of a data file that were found, each in one use. */
export class PageSet {
  readonly #bits: Uint8Array

  constructor(lastPage: number) {
    this.#bits = new Uint8Array(Math.floor(lastPage / 8) + 1)
  }

  /** Adds pages. @throws `PageFault` if one was added before; `twice` says what that means */
  add(first: number, count: number, twice = 'is used twice'): void {
    for (let page = first; page < first + count; page++) {
      const bit = 1 << (page & 7)
      if (this.#bits[Math.floor(page / 8)]! & bit) throw new PageFault(`page ${page} ${twice}`)
      this.#bits[Math.floor(page / 8)]! |= bit
    }
  }
}
