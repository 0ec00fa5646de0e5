/** What is known of a coin or a fungible asset. */
export interface AssetFacts {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/** Where the facts of an asset stand: the CoinInfo of a coin, the Metadata of a fungible asset. */
export function assetFactsPath(asset: string): string {
  if (!asset.includes('::')) return `/accounts/${asset}/resource/0x1::fungible_asset::Metadata`
  const [address] = asset.split('::', 1)
  return `/accounts/${address}/resource/${encodeURIComponent(`0x1::coin::CoinInfo<${asset}>`)}`
}

/** Names are what their issuers wrote: shown as text, and cut. */
export function resourceToAssetFacts({ data }: { readonly data: Partial<AssetFacts> }): AssetFacts {
  const { name = '', symbol = '', decimals = 0 } = data
  return { name: name.slice(0, 40), symbol: symbol.slice(0, 12), decimals }
}
