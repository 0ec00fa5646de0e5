import { parseU64 } from '@ledger-state/core'
import { blockPlace, type NearPlace, versionPlace } from '../../admission/near-place.js'
import { ifParsed } from '../../protocol/if-parsed.js'
import { readableParameter } from '../../protocol/query.js'
import type { Route } from './operation.js'

type NamedPlace = NonNullable<Route['namedPlace']>

/** The block whose height is a parameter of the path. */
export function blockInPath(name: string): NamedPlace {
  return (params) => placeOf(blockPlace, params[name])
}

/** The version that is a parameter of the path. */
export function versionInPath(name: string): NamedPlace {
  return (params) => placeOf(versionPlace, params[name])
}

/** The version that is one of the parameters of the query; the first one that the query has. */
export function versionInQuery(...names: readonly string[]): NamedPlace {
  return (_, { query }) => {
    for (const name of query === '' ? [] : names) {
      const text = readableParameter(query, name)
      if (text !== undefined) return placeOf(versionPlace, text)
    }
    return undefined
  }
}

/** The version in the header of the request. */
export const versionInHeader: NamedPlace = (_, { askedVersion }) => placeOf(versionPlace, askedVersion)

/** A place by its number; undefined if there is none. If it is wrong, the operation reports that. */
function placeOf(place: (number: bigint) => NearPlace, text: string | undefined): NearPlace | undefined {
  return text === undefined ? undefined : ifParsed(() => place(parseU64(text)))
}
