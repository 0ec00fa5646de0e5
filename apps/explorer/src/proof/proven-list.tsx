import type { ReadQuestion } from '@ledger-state/light-client'
import { useRef } from 'preact/hooks'
import type { ApiAnswer, ApiRequest } from '../api/client.ts'
import { type ProofPlace, ProvenElsewhere, useProofPlace } from './proof-place.tsx'
import { ProofsOfList } from './proofs-of-list.ts'
import { shownVersion } from './shown.ts'
import { useLoaded } from './use-loaded.ts'

/** Place and proofs for the entries of a list. */
export interface ProvenList {
  readonly place: ProofPlace | { readonly nearest: string } | undefined
  readonly proofs: ProofsOfList
}

/**
 * Whether the entries of a list have proofs.
 * @param answer the first page, which fixes the version of all pages; undefined until it has come
 */
export function useProvenList(at: string | undefined, answer: ApiAnswer | undefined): ProvenList {
  const found = useProofPlace(answer && shownVersion(at, { value: undefined, answer }))
  const place = answer && found
  const proofs = useRef({ of: '', proofs: new ProofsOfList() })
  const of = place && 'version' in place ? place.version : ''
  if (proofs.current.of !== of) proofs.current = { of, proofs: new ProofsOfList() }
  return { place, proofs: proofs.current.proofs }
}

interface ListNoteProps {
  readonly list: ProvenList
  /** Beginning of a sentence about the verified part, and the time of the check. */
  readonly what: string
}

/**
 * A note above a list that says which part of it is proven and which is not. Draws nothing if the node gives no proofs.
 */
export function ProvenListNote({ list: { place }, what }: ListNoteProps) {
  if (!place) return null
  if ('nearest' in place) return <ProvenElsewhere nearest={place.nearest} />
  return <LazyListNote place={place} what={what} />
}

function LazyListNote(props: Parameters<typeof import('./proof-card.tsx').ProvenListCard>[0]) {
  const loaded = useLoaded(() => import('./proof-card.tsx'))
  return loaded ? <loaded.ProvenListCard {...props} /> : null
}

interface EntryProofProps {
  readonly list: ProvenList
  readonly question: ReadQuestion
  /** The request for only the entry. */
  readonly request: ApiRequest
  /** The value of the entry in the list. */
  readonly value: unknown
}

/**
 * A note that says who signed an entry of a list. Draws nothing if the entry's version has no proofs, which the note
 * above the list says.
 */
export function EntryProof({ list: { place, proofs }, question, request, value }: EntryProofProps) {
  if (!place || 'nearest' in place) return null
  return <LazyEntry {...{ place, proofs, question, request, shown: JSON.stringify(value) }} />
}

/** A note that says why an entry is not verified. Draws nothing if the note above the list says it. */
export function EntryUnproven({ list: { place }, why }: { readonly list: ProvenList; readonly why: string }) {
  return place && 'version' in place ? <p class="proof hint">Not verified: {why}</p> : null
}

function LazyEntry(props: Parameters<typeof import('./proof-card.tsx').EntryCard>[0]) {
  const loaded = useLoaded(() => import('./proof-card.tsx'))
  return loaded ? <loaded.EntryCard {...props} /> : null
}
