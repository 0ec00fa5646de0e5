/** A change of a balance, as its history lists it. */
export interface BalanceChange {
  readonly version: string
  /** Microseconds since 1970; null for what was written before the window. */
  readonly timestamp: string | null
  readonly balance: string
}

export function balanceHistoryPath(address: string, asset: string): string {
  return `/accounts/${encodeURIComponent(address)}/balance/${encodeURIComponent(asset)}/history`
}

/** A change of a resource or a table item. */
export interface ValueChange {
  readonly version: string
  readonly timestamp: string | null
  /** Null where it was deleted. */
  readonly value: unknown
}
