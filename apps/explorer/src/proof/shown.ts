import type { ReadQuestion } from '@ledger-state/light-client'
import type { Result } from '../api/client.ts'
import type { Believed } from './proof-task.ts'

/**
 * The value that a view shows, as compact JSON. Null if it shows that there is none, undefined if it shows no value.
 */
export function shownJson({ kind }: ReadQuestion, answer: Result<unknown>): string | null | undefined {
  if ('failure' in answer) return answer.failure.kind === 'absent' ? null : undefined
  const { value } = answer
  return JSON.stringify(provablePart(kind, value))
}

function provablePart(kind: ReadQuestion['kind'], value: unknown): unknown {
  if (kind === 'resource') return (value as { readonly data?: unknown }).data
  return kind === 'module' ? (value as { readonly bytecode?: unknown }).bytecode : value
}

/** The version that is shown; undefined if the answer does not have it. */
export function shownVersion(at: string | undefined, answer: Result<unknown>): string | undefined {
  if (at !== undefined && /^\d+$/.test(at)) return at
  if ('failure' in answer) return undefined
  return at === undefined ? answer.answer.head?.version : answer.answer.readVersion
}

/** The version of a list that is nearest to another one; the first if that other is not known. */
export function nearestVersion(versions: readonly string[], to: string | undefined): string | undefined {
  if (to === undefined) return versions[0]
  const distance = (one: string): bigint => {
    const difference = BigInt(one) - BigInt(to)
    return difference < 0n ? -difference : difference
  }
  const closer = (best: string | undefined, one: string) =>
    best !== undefined && distance(best) <= distance(one) ? best : one
  return versions.reduce<string | undefined>(closer, undefined)
}

/**
 * Whether a view shows the proven value. Both are JSON of one value, with any spacing. If there is no value, a view may
 * show that, or exactly its consequence, such as a new account.
 */
export function isSameJson(
  shown: string | null,
  { json, impliedJson }: Pick<Believed, 'json' | 'impliedJson'>,
): boolean {
  if (shown === null) return json === null
  const proven = json ?? impliedJson
  return proven !== null && shown === JSON.stringify(JSON.parse(proven))
}
