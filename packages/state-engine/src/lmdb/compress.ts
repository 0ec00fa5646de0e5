/**
 * Whether blocks of files that are seldom merged again are compressed: `auto` once the files of the store exceed half of the
 * memory, `always` or `never`.
 */
export type Compress = (typeof COMPRESS)[number]

export const COMPRESS = ['auto', 'always', 'never'] as const
