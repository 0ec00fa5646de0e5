import type { Holding } from '../api/answers.ts'

/** The stores of one asset, and their sum. */
export interface AssetTotal {
  readonly asset: string
  /** Sum in the smallest unit. */
  readonly amount: string
  readonly stores: readonly Holding[]
}

/** Adds up the stores of an account, asset by asset, in order of first appearance. */
export function totalsOf(holdings: readonly Holding[]): readonly AssetTotal[] {
  const stores = new Map<string, Holding[]>()
  for (const holding of holdings) {
    const known = stores.get(holding.asset_type)
    if (known) known.push(holding)
    else stores.set(holding.asset_type, [holding])
  }
  return [...stores].map(([asset, of]) => {
    const sum = of.reduce((total, { amount }) => total + BigInt(amount), 0n)
    return { asset, amount: String(sum), stores: of }
  })
}
