import { useLoaded } from './use-loaded.ts'

/** A `ProofCard`, with the code that verifies, which is loaded with the first proof. */
export function LazyProof(props: Parameters<typeof import('./proof-card.tsx').ProofCard>[0]) {
  const loaded = useLoaded(() => import('./proof-card.tsx'))
  return loaded ? <loaded.ProofCard {...props} /> : null
}
