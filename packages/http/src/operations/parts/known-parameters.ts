import { nearestName } from '@ledger-state/core'
import { invalidParameter } from '../../errors.js'
import { percentDecoded } from '../../protocol/query.js'
import { type Route, STATE_PARAMETERS } from './operation.js'

/** Most names that are compared. A hostile query may have thousands; one with a typing mistake has few. */
const MOST_COMPARED = 64
const STATE_NAMES = STATE_PARAMETERS.map(({ name }) => name)

/**
 * Refuses a parameter with a name close to one of the operation's, and a demand for a proof if the operation gives none, or if it
 * is repeated: readers differ in whether the first or the last one counts. Refuses a state of an operation that reads a range.
 * If they were ignored, the answer would not match the client's intention. Other unknown parameters are ignored.
 * @throws `invalid_parameter`
 */
export function expectKnownParameters({ parameters = [] }: Route, query: string): void {
  let left = MOST_COMPARED
  let isProofNamed = false
  for (let start = 0; start < query.length; ) {
    const nextAt = query.indexOf('&', start)
    const end = nextAt < 0 ? query.length : nextAt
    const pair = query.slice(start, end)
    start = end + 1
    const equalsAt = pair.indexOf('=')
    const name = percentDecoded(equalsAt < 0 ? pair : pair.slice(0, equalsAt))
    const value = equalsAt < 0 ? '' : pair.slice(equalsAt + 1)
    if (name === 'proof') {
      if (isProofNamed) throw invalidParameter.proofRepeated()
      isProofNamed = true
    }
    if (name === undefined || parameters.some((known) => known.name === name && known.in === 'query')) continue
    if (name === 'proof' && value !== 'false') throw invalidParameter.noProofOfOperation()
    if (left-- <= 0) continue
    const names = parameters.filter((known) => known.in === 'query').map((known) => known.name)
    const readsRange = names.includes('from') && !names.includes('ledger_version')
    if (readsRange && nearestName(name, STATE_NAMES) !== undefined)
      throw invalidParameter.readsRange(name, names.includes('to'))
    const meant = nearestName(name, names)
    if (meant !== undefined) throw invalidParameter.parameterUnknown(name, meant)
  }
}
