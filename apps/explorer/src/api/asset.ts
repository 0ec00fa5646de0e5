/** Known facts of a coin or a fungible asset. */
export interface AssetFacts {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/** Whether an asset is a coin, which a type names; a fungible asset is named by an address. */
export function isCoin(asset: string): boolean {
  return asset.includes('::')
}

/** The account or object that holds the facts of an asset. */
export function issuerOf(asset: string): string {
  return asset.split('::', 1)[0]!
}

/** Path of the resource with the facts of an asset: the CoinInfo of a coin, the Metadata of a fungible asset. */
export function assetFactsPath(asset: string): string {
  const account = `/accounts/${encodeURIComponent(issuerOf(asset))}`
  if (!isCoin(asset)) return `${account}/resource/0x1::fungible_asset::Metadata`
  return `${account}/resource/${encodeURIComponent(`0x1::coin::CoinInfo<${asset}>`)}`
}

/** Facts of an asset. Names are written by issuers, so they are shown as text, and cut. */
export function resourceToAssetFacts({ data }: { readonly data: Partial<AssetFacts> }): AssetFacts {
  const { name = '', symbol = '', decimals = 0 } = data
  return { name: name.slice(0, 40), symbol: symbol.slice(0, 12), decimals }
}

/** Assets of mainnet that people call by name. Their facts are read from the ledger nevertheless. */
export const KNOWN_ASSETS: readonly { readonly name: string; readonly asset: string }[] = [
  { name: 'APT', asset: '0xa' },
  { name: 'USDC', asset: '0xbae207659db88bea0cbead6da0ed00aac12edcdda169e591cd41c94180b46f3b' },
  { name: 'USDt', asset: '0x357b0b74bc833e95a115ad22604854d6b0fca151cecd94111770e5d6ffc9dc2b' },
]

/** The asset that a text names: by a known name, or as the asset itself. */
export function textToAsset(text: string): string {
  const trimmed = text.trim()
  return KNOWN_ASSETS.find(({ name }) => name.toLowerCase() === trimmed.toLowerCase())?.asset ?? trimmed
}
