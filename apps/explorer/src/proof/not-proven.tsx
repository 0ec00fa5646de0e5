import type { ComponentChildren } from 'preact'
import { route } from '../state/location.ts'
import { useProofPlace } from './proof-place.tsx'

/** A note that says why a part of the page is not proven. Draws nothing if the node gives no proofs at all. */
export function NotProven({ children }: { readonly children: ComponentChildren }) {
  return useProofPlace(route.value.at) ? <p class="proof hint">{children}</p> : null
}
