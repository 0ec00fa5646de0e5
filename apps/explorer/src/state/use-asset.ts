import { type AssetFacts, assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import { route } from './location.ts'
import { useAnswer } from './use-answer.ts'

/** The facts of an asset. Undefined while they are not known, and if it has none. */
export function useAsset(asset: string | undefined): AssetFacts | undefined {
  const request = asset === undefined ? undefined : { path: assetFactsPath(asset), at: route.value.at }
  const facts = useAnswer<{ readonly data: Partial<AssetFacts> }>(request)
  return facts && 'value' in facts ? resourceToAssetFacts(facts.value) : undefined
}
