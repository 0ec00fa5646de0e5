import { isLedgerStateError } from '@ledger-state/core'
import type { Answer, Route } from '../operations/parts/operation.js'
import { parseAskedState } from '../operations/parts/request-parts.js'
import type { Exchange } from './exchange.js'

/**
 * Lets an operation that finds no transaction with a hash look for it once more, if the ledger is newer in some
 * milliseconds: another process may have shown it.
 */
export function routeWithSecondLook<R extends Route>(route: R): R {
  if (!route.looksTwice) return route
  return {
    ...route,
    handle(exchange: Exchange) {
      try {
        const answer = route.handle(exchange)
        return answer instanceof Promise ? answer.catch((error: unknown) => lookAgain(route, exchange, error)) : answer
      } catch (error) {
        return lookAgain(route, exchange, error)
      }
    },
  }
}

/** @throws the error, unless it is about an unknown hash, in the newest state, and the state is newer now */
function lookAgain(route: Route, exchange: Exchange, error: unknown): Promise<Answer> {
  const isUnknown = isLedgerStateError(error, 'transaction_hash_unknown', 'transaction_not_kept')
  const isOfNewest = isUnknown && parseAskedState(exchange.query) === undefined
  const newer = isOfNewest ? exchange.untilNewer() : undefined
  if (!newer) throw error
  return newer.then(() => route.handle(exchange))
}
