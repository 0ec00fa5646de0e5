/** Use of a cache of a ledger. */
export interface CacheUse {
  /** Estimated bytes of heap. */
  readonly bytes: number
  readonly capacityBytes: number
  /** Number of look-ups since the start that found nothing. */
  readonly misses: number
}

export function cacheUse({ size, capacity, misses }: { size: number; capacity: number; misses: number }): CacheUse {
  return { bytes: size, capacityBytes: capacity, misses }
}
