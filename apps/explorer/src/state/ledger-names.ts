import type { Resource, TypeUsesPage } from '../api/answers.ts'
import { assetFactsPath, KNOWN_ASSETS, resourceToAssetFacts } from '../api/asset.ts'
import { ask } from '../api/client.ts'

/** An asset of the ledger, with the name and symbol that its issuer wrote. */
export interface NamedAsset {
  /** Coin type, or address of a fungible asset. */
  readonly asset: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** The account or object that holds its facts. */
  readonly issuer: string
}

/** Names that people may search for. */
export interface LedgerNames {
  readonly assets: readonly NamedAsset[]
  /** Resources of the framework and of the issuers of the assets. */
  readonly resources: readonly { readonly address: string; readonly type: string }[]
}

interface Place {
  readonly at: string | undefined
  readonly chainId: string | undefined
}

/** Id of the chain with `KNOWN_ASSETS`. */
const MAINNET = '1'
const FRAMEWORK = '0x1'
const COIN_INFO = /^0x1::coin::CoinInfo<(.+)>$/
/**
 * Most assets that are loaded, in the order of their addresses. A ledger may have thousands; these are enough to begin
 * with.
 */
const MOST_ASSETS = 12
const MOST_ISSUERS = 6
const MOST_RESOURCES = 200

/**
 * Loads names of assets, from the first page of each search for their facts, and types of resources at the same
 * accounts. On a large ledger these are only some. It takes at most 22 requests, each bounded by the node.
 * @throws only if it was aborted
 */
export async function loadLedgerNames(place: Place, signal: AbortSignal): Promise<LedgerNames> {
  const assets = await loadAssets(place, signal)
  const issuers = [...new Set([FRAMEWORK, ...assets.map(({ issuer }) => issuer)])].slice(0, MOST_ISSUERS)
  const resources = await Promise.all(issuers.map((address) => loadTypes(address, place, signal)))
  return { assets, resources: resources.flat() }
}

/**
 * Assets that are found without a search of the whole ledger.
 * @throws only if it was aborted
 */
export async function loadAssets({ at, chainId }: Place, signal: AbortSignal): Promise<readonly NamedAsset[]> {
  const holders = async (type: string) => {
    const result = await ask<TypeUsesPage>({ path: `/types/${type}/uses?limit=50`, at }, signal)
    return 'value' in result ? result.value.uses : []
  }
  const [coins, fungible] = await Promise.all([
    holders('0x1::coin::CoinInfo'),
    holders('0x1::fungible_asset::Metadata'),
  ])
  const found = [
    ...(chainId === MAINNET ? KNOWN_ASSETS.map(({ asset }) => asset) : []),
    ...coins.flatMap((use) => ('resource' in use ? (COIN_INFO.exec(use.resource ?? '')?.[1] ?? []) : [])),
    ...fungible.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : [])),
  ]
  const named = await Promise.all(
    [...new Set(found)].slice(0, MOST_ASSETS).map(async (asset): Promise<NamedAsset | undefined> => {
      const facts = await ask<Resource>({ path: assetFactsPath(asset), at }, signal)
      if (!('value' in facts)) return undefined
      return { asset, issuer: asset.split('::')[0]!, ...resourceToAssetFacts(facts.value) }
    }),
  )
  return named.filter((one) => one !== undefined)
}

async function loadTypes(address: string, { at }: Place, signal: AbortSignal) {
  const result = await ask<readonly Resource[]>(
    { path: `/accounts/${address}/resources?limit=${MOST_RESOURCES}`, at },
    signal,
  )
  return 'value' in result ? result.value.map(({ type }) => ({ address, type })) : []
}
