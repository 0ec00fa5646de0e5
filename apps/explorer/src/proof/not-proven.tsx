import type { ComponentChildren } from 'preact'
import { route } from '../state/location.ts'
import { useProofPlace } from './proof-place.tsx'

/** Says of a part of the page why nothing proves it. Nothing is drawn where the node gives no proofs of anything. */
export function NotProven({ children }: { readonly children: ComponentChildren }) {
  return useProofPlace(route.value.at) ? <p class="proof hint">{children}</p> : null
}
