/** What a cache of a ledger holds. */
export interface CacheUse {
  /** Bytes of heap, as estimated. */
  readonly bytes: number
  readonly capacityBytes: number
  /** Look-ups since the start that did not find what they looked for. */
  readonly misses: number
}

export function cacheUse({ size, capacity, misses }: { size: number; capacity: number; misses: number }): CacheUse {
  return { bytes: size, capacityBytes: capacity, misses }
}
