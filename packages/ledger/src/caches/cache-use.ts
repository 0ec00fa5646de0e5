import type { SizedCache } from '@ledger-state/core'

export interface CacheUse {
  /** Of heap, as estimated. */
  readonly bytes: number
  readonly capacityBytes: number
  /** Look-ups since the start that did not find what they looked for. */
  readonly misses: number
}

export function cacheUse({
  size,
  capacity,
  misses,
}: Pick<SizedCache<object>, 'size' | 'capacity' | 'misses'>): CacheUse {
  return { bytes: size, capacityBytes: capacity, misses }
}
