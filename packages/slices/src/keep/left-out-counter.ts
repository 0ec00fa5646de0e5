import { bytesOfWrites, type Write } from '@ledger-state/core'
import { encodeSliceLeftOut, SLICE_LEFT_OUT_KEY, type SliceLeftOut } from '@ledger-state/records'

const NOTHING: SliceLeftOut = { keys: 0, bytes: 0, writes: 0, writtenBytes: 0 }

/** Counts the data that a slice leaves out. */
export class LeftOutCounter {
  #counted: SliceLeftOut
  /** Whether the store has the present counts. */
  #isKept: boolean

  private constructor(counted: SliceLeftOut, isKept: boolean) {
    this.#counted = counted
    this.#isKept = isKept
  }

  static begin(): LeftOutCounter {
    return new LeftOutCounter(NOTHING, false)
  }

  /** Continues with the counts that a store has. */
  static resume(counted: SliceLeftOut): LeftOutCounter {
    return new LeftOutCounter(counted, true)
  }

  /** Counts the state with which a store begins, instead of an earlier count of it. */
  countState(keys: number, bytes: number): void {
    this.#counted = { ...this.#counted, keys, bytes }
  }

  /** Counts the writes of a version, kept or not. */
  countWrites(all: readonly Write[], kept: readonly Write[]): void {
    const writes = all.length - kept.length
    if (writes === 0) return
    const { writes: before, writtenBytes, ...state } = this.#counted
    const bytes = bytesOfWrites(all) - bytesOfWrites(kept)
    this.#counted = { ...state, writes: before + writes, writtenBytes: writtenBytes + bytes }
    this.#isKept = false
  }

  /** Takes over the counts in a version of a source that keeps the same slice. */
  adopt(counted: SliceLeftOut): void {
    this.#counted = counted
    this.#isKept = true
  }

  /** The write of the counts; undefined if the store has them already. */
  take(): Write | undefined {
    if (this.#isKept) return undefined
    this.#isKept = true
    return [SLICE_LEFT_OUT_KEY, encodeSliceLeftOut(this.#counted)]
  }
}
