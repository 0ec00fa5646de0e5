/** Kinds of content that a key can have at a version. */
export const ABSENT = 0
export const PRESENT = 1
export const REMOVED = 2
export type Found = typeof ABSENT | typeof PRESENT | typeof REMOVED
