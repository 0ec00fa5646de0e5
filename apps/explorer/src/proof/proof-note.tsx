import type { ReadQuestion } from '@ledger-state/light-client'
import { useEffect, useState } from 'preact/hooks'
import type { Trust } from '../api/answers.ts'
import type { ApiRequest, Result } from '../api/client.ts'
import { groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'
import { nearestVersion, shownJson, shownVersion } from './shown.ts'

interface ProofNoteProps {
  readonly question: ReadQuestion
  /** The read that is shown, as it was asked. */
  readonly request: ApiRequest
  /** Its answer. */
  readonly answer: Result<unknown> | undefined
}

/** Who signed a value that is shown, verified in the browser. Nothing is drawn where the node gives no proofs. */
export function ProofNote({ question, request, answer }: ProofNoteProps) {
  const asked = useAnswer<Trust>({ path: '/-/trust' })
  const shown = answer && shownJson(question, answer)
  if (!answer || shown === undefined || !asked || 'failure' in asked) return null
  const nearestTo = shownVersion(request.at, answer)
  const { proof_versions: versions } = asked.value
  const nearest = nearestVersion(versions, nearestTo)
  if (nearest === undefined) return null
  if (nearest !== nearestTo) {
    return (
      <p class="proof hint">
        Not proven at this version.{' '}
        <button type="button" onClick={() => goTo({ ...route.value, at: nearest })}>
          Look at version {groupDigits(nearest)}
        </button>{' '}
        which validators signed
      </p>
    )
  }
  const chainId = asked.answer.head?.chainId ?? ''
  return <LazyProof {...{ question, request, shown, chainId, version: nearest, trust: asked.value }} />
}

/** What verifies is loaded where there is something to verify. */
function LazyProof(props: Parameters<typeof import('./proof-card.tsx').ProofCard>[0]) {
  const [loaded, setLoaded] = useState<typeof import('./proof-card.tsx') | undefined>(undefined)
  useEffect(() => {
    import('./proof-card.tsx').then(setLoaded, () => {})
  }, [])
  return loaded ? <loaded.ProofCard {...props} /> : null
}
