/** The members of a value that are amounts of one asset. */
export interface AmountFields {
  /** Coin type or metadata address; undefined if the fungible store of the same account names it. */
  readonly asset: string | undefined
  /** Paths from the value to each member, as differences name them. */
  readonly paths: readonly string[]
}

const OF_COIN = /^0x1::coin::(Coin|CoinStore|CoinInfo)<(.+)>$/
const COIN_PATHS: Readonly<Record<string, readonly string[]>> = {
  Coin: ['value'],
  CoinStore: ['coin.value'],
  CoinInfo: ['supply.vec.0.integer.vec.0.value'],
}

/**
 * The amounts in a value of a type.
 * @param holder the account of a resource
 */
export function amountFieldsOf(type: string, holder: string | undefined, value: unknown): AmountFields | undefined {
  const [, struct, coin] = OF_COIN.exec(type) ?? []
  if (struct !== undefined && coin !== undefined) return { asset: coin, paths: COIN_PATHS[struct]! }
  switch (type) {
    case '0x1::fungible_asset::FungibleStore': {
      const asset = memberAt(value, 'metadata.inner')
      return typeof asset === 'string' ? { asset, paths: ['balance'] } : undefined
    }
    case '0x1::fungible_asset::ConcurrentFungibleBalance':
      return { asset: undefined, paths: ['balance.value'] }
    case '0x1::fungible_asset::Supply':
      return { asset: holder, paths: ['current', 'maximum.vec.0'] }
    case '0x1::fungible_asset::ConcurrentSupply':
      return { asset: holder, paths: ['current.value'] }
    default:
      return undefined
  }
}

export function memberAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (one, name) => (typeof one === 'object' && one !== null ? (one as Record<string, unknown>)[name] : undefined),
      value,
    )
}
