import { type MappableFile, type MappedFile, mapFile } from './mapped-file.js'

/**
 * LMDB's map of a segment file, made when it is first needed: lmdb-js reports mapped bytes to V8 as memory, so each map costs a
 * collection of garbage.
 */
export class SegmentMap {
  readonly #file: MappableFile
  #mapped: MappedFile | undefined
  #isTried = false

  constructor(file: MappableFile) {
    this.#file = file
  }

  /** The segment in memory, if it is mapped. Nobody may read it after `close`. */
  get bytes(): Uint8Array | undefined {
    return this.#mapped?.bytes
  }

  /**
   * Maps the file, unless the system does not allow that: LMDB makes a file next to it, for which a full disk has no room, and
   * takes address space. Then blocks are read into the cache. Returns `bytes`.
   */
  take(): Uint8Array | undefined {
    if (this.#isTried) return this.bytes
    this.#isTried = true
    try {
      this.#mapped = mapFile(this.#file)
    } catch {
      // The file may also be gone: a merge removes its inputs.
    }
    return this.bytes
  }

  close(): void {
    this.#isTried = true
    this.#mapped?.close()
    this.#mapped = undefined
  }
}
