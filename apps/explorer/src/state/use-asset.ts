import { type AssetFacts, assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import type { Result } from '../api/client.ts'
import { route } from './location.ts'
import { useAnswer } from './use-answer.ts'

type FactsResource = { readonly data: Partial<AssetFacts> }

interface AskedAsset {
  /** Undefined while the facts are not known. */
  readonly answer: Result<FactsResource> | undefined
  /** Undefined while they are not known, and if the asset has none. */
  readonly facts: AssetFacts | undefined
}

/** The answer to the question for the facts of an asset, and the facts. */
export function useAsset(asset: string | undefined): AskedAsset {
  const request = asset === undefined ? undefined : { path: assetFactsPath(asset), at: route.value.at }
  const answer = useAnswer<FactsResource>(request)
  return { answer, facts: answer && 'value' in answer ? resourceToAssetFacts(answer.value) : undefined }
}
