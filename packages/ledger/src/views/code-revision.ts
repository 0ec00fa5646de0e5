/**
 * The code that the runs of a history use: their modules and the settings of the chain. Runs share its `revision`, so
 * that the VM does not compare all modules of each version, as long as none of the code is written.
 */
export class CodeRevision {
  readonly #used = new Set<string>()
  revision = Symbol('code of a history')

  /** Notes a key of the code, in hex, that a run with this revision uses. */
  use(text: string): void {
    this.#used.add(text)
  }

  /**
   * Takes a new revision, unless the last run read all of the code, and none of it was written since.
   * @param read the keys that the last run read
   */
  continueAfter(read: ReadonlyMap<string, unknown>, isWritten: (text: string) => boolean): void {
    for (const text of this.#used) {
      if (read.has(text) && !isWritten(text)) continue
      this.#used.clear()
      this.revision = Symbol('code of a history')
      return
    }
  }
}
