import { removeSegment } from './segment-names.js'

/**
 * Removes segment files that the store does not name any more. The work that made them obsolete is done, so it does not fail
 * if a file cannot be removed: the next removal, or the next writer that opens the store, tries again.
 */
export class ObsoleteSegments {
  readonly #folder: string
  readonly #left = new Set<number>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Removes files, and those that are left, as far as possible. */
  remove(files: Iterable<number>): void {
    for (const file of files) this.#left.add(file)
    try {
      this.removeLeft()
    } catch {
      // See above.
    }
  }

  /** Removes the files that are left. @throws errors of the system */
  removeLeft(): void {
    for (const file of this.#left) {
      removeSegment(this.#folder, file)
      this.#left.delete(file)
    }
  }
}
