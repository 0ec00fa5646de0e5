/** How much a run measures. */
export const SCALES = ['tiny', 'small', 'medium', 'large'] as const
export type Scale = (typeof SCALES)[number]
