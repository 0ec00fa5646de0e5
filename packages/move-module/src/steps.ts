/** Work in steps. It yields the number of bytes that each step has read. */
export type Steps<T> = Generator<number, T, void>

/** Bytes that a step reads, apart from an entry that is longer. Reading them takes tens of microseconds. */
export const STEP_BYTES = 512
