import { rm } from 'node:fs/promises'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { segmentPath } from './segment-names.js'

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
  async remove(files: Iterable<number>): Promise<void> {
    for (const file of files) this.#left.add(file)
    await this.removeLeft().catch(() => {})
  }

  /**
   * Removes the files that are left, off the event loop: the system takes 100 ms for a long file.
   * @throws `store_failed`
   */
  async removeLeft(): Promise<void> {
    await withStoreErrorsAsync(this.#folder, async () => {
      for (const file of this.#left) {
        await rm(segmentPath(this.#folder, file), { force: true })
        this.#left.delete(file)
      }
    })
  }
}
