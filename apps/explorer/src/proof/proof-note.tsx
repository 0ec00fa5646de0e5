import type { ReadQuestion } from '@ledger-state/light-client'
import type { ApiRequest, Result } from '../api/client.ts'
import { LazyProof } from './lazy-proof.tsx'
import { ProvenElsewhere, useProofPlace } from './proof-place.tsx'
import { shownJson, shownVersion } from './shown.ts'

interface ProofNoteProps {
  readonly question: ReadQuestion
  /** The request of the shown value. */
  readonly request: ApiRequest
  /** Answer to the request. */
  readonly answer: Result<unknown> | undefined
}

/** A note that says who signed a shown value, verified in the browser. Draws nothing if the node gives no proofs. */
export function ProofNote({ question, request, answer }: ProofNoteProps) {
  const place = useProofPlace(answer && shownVersion(request.at, answer))
  const shown = answer && shownJson(question, answer)
  if (!place || shown === undefined) return null
  if ('nearest' in place) return <ProvenElsewhere nearest={place.nearest} />
  return <LazyProof {...{ question, request, shown, place }} />
}
