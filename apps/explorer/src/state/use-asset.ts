import { type AssetFacts, assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import type { ApiRequest, Result } from '../api/client.ts'
import { route } from './location.ts'
import { useAnswer } from './use-answer.ts'

type FactsResource = { readonly data: Partial<AssetFacts> }

/** The facts of an asset. Undefined while they are not known, and if it has none. */
export function useAsset(asset: string | undefined): AssetFacts | undefined {
  const request = asset === undefined ? undefined : { path: assetFactsPath(asset), at: route.value.at }
  const answer = useAnswer<FactsResource>(request)
  return answer && 'value' in answer ? resourceToAssetFacts(answer.value) : undefined
}

/** The request for the facts of an asset, its answer, and the facts. */
export function useAssetAnswer(asset: string): {
  readonly request: ApiRequest
  readonly answer: Result<FactsResource> | undefined
  readonly facts: AssetFacts | undefined
} {
  const request = { path: assetFactsPath(asset), at: route.value.at }
  const answer = useAnswer<FactsResource>(request)
  return { request, answer, facts: answer && 'value' in answer ? resourceToAssetFacts(answer.value) : undefined }
}
