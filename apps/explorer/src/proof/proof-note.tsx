import type { ReadQuestion } from '@ledger-state/light-client'
import type { ApiRequest, Result } from '../api/client.ts'
import { ProvenElsewhere, useProofPlace } from './proof-place.tsx'
import { shownJson, shownVersion } from './shown.ts'
import { useLoaded } from './use-loaded.ts'

interface ProofNoteProps {
  readonly question: ReadQuestion
  /** The read that is shown, as it was asked. */
  readonly request: ApiRequest
  /** Its answer. */
  readonly answer: Result<unknown> | undefined
}

/** Who signed a value that is shown, verified in the browser. Nothing is drawn where the node gives no proofs. */
export function ProofNote({ question, request, answer }: ProofNoteProps) {
  const place = useProofPlace(answer && shownVersion(request.at, answer))
  const shown = answer && shownJson(question, answer)
  if (!place || shown === undefined) return null
  if ('nearest' in place) return <ProvenElsewhere nearest={place.nearest} />
  return <LazyProof {...{ question, request, shown, place }} />
}

function LazyProof(props: Parameters<typeof import('./proof-card.tsx').ProofCard>[0]) {
  const loaded = useLoaded(() => import('./proof-card.tsx'))
  return loaded ? <loaded.ProofCard {...props} /> : null
}
