import type { Resource, ResourcesBatch, TypeUse, TypeUsesPage } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'

/** Most elements of a batch of reads; a node takes 1,000. */
const MOST_READS = 500

/** The state that a search reads; undefined for the latest. */
export interface SearchedState {
  readonly at: string | undefined
}

/** A list that a search read up to some point. */
export interface Searched<T> {
  readonly items: readonly T[]
  /** Cursor at which the search ended before the end of the ledger. */
  readonly cursor: string | undefined
  /** Why the node did not answer, so that the list ends somewhere. */
  readonly failure: Failure | undefined
}

/**
 * Uses of a type, from some pages of its listing. Each page looks at 1,000 state keys.
 * @throws only if it was aborted
 */
export async function searchUses(
  type: string,
  { at }: SearchedState,
  mostPages: number,
  signal: AbortSignal,
): Promise<Searched<TypeUse>> {
  const items: TypeUse[] = []
  let cursor: string | undefined
  let state = at
  for (let page = 0; page < mostPages; page++) {
    const start = cursor === undefined ? '' : `&start=${cursor}`
    const result = await ask<TypeUsesPage>({ path: `/types/${type}/uses?limit=1000${start}`, at: state }, signal)
    if ('failure' in result) return { items, cursor, failure: result.failure }
    items.push(...result.value.uses)
    cursor = result.answer.cursor
    // All pages are of one state.
    state ??= result.answer.head?.version
    if (cursor === undefined) break
  }
  return { items, cursor, failure: undefined }
}

/** Addresses with a resource among the uses of its type. */
export function holdersIn(uses: readonly TypeUse[]): readonly string[] {
  return uses.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : []))
}

export interface ResourcePlace {
  readonly address: string
  readonly type: string
}

/**
 * Data of resources in the order of their places; undefined for a resource that does not exist, or if the node did not
 * answer.
 * @throws only if it was aborted
 */
export async function readResources(
  places: readonly ResourcePlace[],
  { at }: SearchedState,
  signal: AbortSignal,
): Promise<{ readonly data: readonly (Resource['data'] | undefined)[]; readonly failure: Failure | undefined }> {
  const data: (Resource['data'] | undefined)[] = []
  let failure: Failure | undefined
  for (let first = 0; first < places.length; first += MOST_READS) {
    const part = places.slice(first, first + MOST_READS)
    const requests = part.map(({ address, type }) => ({ address, resource_type: type }))
    const request = { path: '/resources:batch', at, body: JSON.stringify({ requests }) }
    const answer = await ask<ResourcesBatch>(request, signal)
    if ('failure' in answer) failure ??= answer.failure
    data.push(...part.map((_, index) => ('value' in answer ? answer.value[index]?.value?.data : undefined)))
  }
  return { data, failure }
}
