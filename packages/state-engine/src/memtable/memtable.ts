import { KeyHash } from './key-hash.js'
import type { CommitHead, Segment } from './segment.js'

/** The commits that are not merged yet, in a segment for each WAL file. */
export class Memtable {
  readonly hash: KeyHash
  #segments: readonly Segment[] = []

  constructor(hash: KeyHash = new KeyHash()) {
    this.hash = hash
  }

  /** Segments, the oldest first. The array is a new one whenever the segments are others. */
  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** Head of the newest commit. */
  get head(): CommitHead | undefined {
    return this.#segments.findLast(({ head }) => head)?.head
  }

  get byteSize(): number {
    return this.#segments.reduce((sum, { byteSize }) => sum + byteSize, 0)
  }

  hashOf(key: Uint8Array): number {
    return this.hash.of(key, 0, key.length)
  }

  push(segment: Segment): void {
    this.#segments = [...this.#segments, segment]
  }

  /** Forgets the segments of the files below a number. */
  dropBelow(fileNumber: number): void {
    if (this.#segments.every((segment) => segment.fileNumber >= fileNumber)) return
    this.#segments = this.#segments.filter((segment) => segment.fileNumber >= fileNumber)
  }
}
