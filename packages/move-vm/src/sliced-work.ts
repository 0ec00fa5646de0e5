/** Work in slices of a fraction of a millisecond, each of the same length whenever it is done. */
export interface SlicedWork<T> {
  /**
   * Does the next slice. Returns the result at the end.
   * @throws VmFault
   */
  continue(): { readonly result: T } | undefined
}

/** Work of a slice in instructions, as it counts towards a turn. */
export const SLICE_WORK = 1_024

/** Most plain parts of one value that a slice works on. */
export const PARTS_AT_ONCE = 8_192

/** Work of a generator, which yields after each slice. */
export function inSteps<T>(steps: Generator<void, T, void>): SlicedWork<T> {
  return {
    continue() {
      const step = steps.next()
      return step.done ? { result: step.value } : undefined
    },
  }
}
