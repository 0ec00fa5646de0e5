import { nearestName } from '@ledger-state/core'
import { invalidParameter } from '../../errors.js'
import { percentDecoded } from '../../protocol/query.js'
import type { Route } from './operation.js'

/** Most parameters that are checked. A hostile query may have thousands; one with a typing mistake has few. */
const MOST_LOOKED_AT = 64

/**
 * Refuses a parameter with a name close to one of the operation's. If it were ignored, the answer would not match the
 * client's intention. Other unknown parameters are ignored.
 * @throws `invalid_parameter`
 */
export function expectKnownParameters({ parameters }: Route, query: string): void {
  if (!parameters) return
  let left = MOST_LOOKED_AT
  for (let start = 0; start < query.length && left > 0; left--) {
    const nextAt = query.indexOf('&', start)
    const end = nextAt < 0 ? query.length : nextAt
    const equalsAt = query.indexOf('=', start)
    const name = percentDecoded(query.slice(start, equalsAt < 0 || equalsAt > end ? end : equalsAt))
    start = end + 1
    if (name === undefined || parameters.some((known) => known.name === name && known.in === 'query')) continue
    const names = parameters.filter((known) => known.in === 'query').map((known) => known.name)
    const meant = nearestName(name, names)
    if (meant !== undefined) throw invalidParameter.parameterUnknown(name, meant)
  }
}
