import type { ComponentChildren } from 'preact'
import type { Trust } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'
import { nearestVersion } from './shown.ts'

/** A version that has proofs, and the node's statements about their signers. */
export interface ProofPlace {
  readonly version: string
  readonly chainId: string
  readonly trust: Trust
}

/**
 * Whether a shown version has proofs, or else the nearest one that does. Undefined if the node gives no proofs, and
 * until it has answered.
 */
export function useProofPlace(shown: string | undefined): ProofPlace | { readonly nearest: string } | undefined {
  const asked = useAnswer<Trust>({ path: '/-/trust' })
  if (!asked || 'failure' in asked) return undefined
  const nearest = nearestVersion(asked.value.proof_versions, shown)
  if (nearest === undefined) return undefined
  if (nearest !== shown) return { nearest }
  return { version: nearest, chainId: asked.answer.head?.chainId ?? '', trust: asked.value }
}

/** A link to the nearest version that has proofs. */
export function ProvenElsewhere({
  nearest,
  children,
}: {
  readonly nearest: string
  readonly children?: ComponentChildren
}) {
  return (
    <p class="proof hint">
      Not proven at this version.{' '}
      <button type="button" onClick={() => goTo({ ...route.value, at: nearest })}>
        Look at version {groupDigits(nearest)}
      </button>{' '}
      which validators signed{children}
    </p>
  )
}
