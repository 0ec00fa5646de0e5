const ROOT_LENGTH = 32

/** The roots that the ledger gives for a range of versions, in the order of their versions. */
export class GivenRoots {
  #versions = new Uint32Array(256)
  #roots = new Uint8Array(256 * ROOT_LENGTH)
  #count = 0
  #next = 0

  /** Adds a root. @param version less the first of the range; above those before */
  add(version: number, root: Uint8Array): void {
    if (this.#count === this.#versions.length) {
      const [versions, roots] = [new Uint32Array(2 * this.#count), new Uint8Array(2 * this.#roots.length)]
      versions.set(this.#versions)
      roots.set(this.#roots)
      this.#versions = versions
      this.#roots = roots
    }
    this.#versions[this.#count] = version
    this.#roots.set(root.subarray(0, ROOT_LENGTH), this.#count * ROOT_LENGTH)
    this.#count++
  }

  /** Takes the newest root up to a version; undefined if there is none since the last call. Versions ascend. */
  upTo(version: number): Uint8Array | undefined {
    let found: number | undefined
    while (this.#next < this.#count && this.#versions[this.#next]! <= version) found = this.#next++
    return found === undefined ? undefined : this.#roots.subarray(found * ROOT_LENGTH, (found + 1) * ROOT_LENGTH)
  }
}
