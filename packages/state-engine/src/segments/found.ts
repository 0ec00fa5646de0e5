/** Kinds of what a key holds at a version. */
export const ABSENT = 0
export const PRESENT = 1
export const REMOVED = 2
export type Found = typeof ABSENT | typeof PRESENT | typeof REMOVED
