import { useState } from 'preact/hooks'
import type { ApiRequest, Result } from '../api/client.ts'
import { parseExactly } from '../api/exact-json.ts'
import type { ViewCall } from '../state/route.ts'
import { LazyProof } from './lazy-proof.tsx'
import { ProvenElsewhere, useProofPlace } from './proof-place.tsx'
import { shownVersion } from './shown.ts'

interface ProvenCallProps {
  readonly name: string
  readonly call: ViewCall
  /** The request of the shown answer. */
  readonly request: ApiRequest
  readonly answer: Result<readonly unknown[]> | undefined
}

/**
 * Runs a call in the browser, over values that validators signed, when the visitor asks. Draws nothing if the node gives
 * no proofs, or if the call failed.
 */
export function ProvenCall({ name, call, request, answer }: ProvenCallProps) {
  const [isAsked, setAsked] = useState(false)
  const place = useProofPlace(answer && shownVersion(request.at, answer))
  if (!place || !answer || 'failure' in answer) return null
  if ('nearest' in place) return <ProvenElsewhere nearest={place.nearest} />
  if (!isAsked) {
    return (
      <p class="proof hint">
        The node computed this answer.{' '}
        <button type="button" onClick={() => setAsked(true)}>
          Compute it here from signed state
        </button>
      </p>
    )
  }
  const { typeArguments, arguments: values } = call
  const question = {
    kind: 'view',
    call: { function: name, typeArguments, arguments: parseExactly(values) as readonly unknown[] },
  } as const
  return <LazyProof {...{ question, request, shown: JSON.stringify(answer.value), place }} />
}
