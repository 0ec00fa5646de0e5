import type { AsyncLedger } from '@ledger-state/ledger'
import type { Route } from '../operations/parts/operation.js'
import type { Exchange } from './exchange.js'

/** Lets an operation read an `AsyncLedger`: it runs again until all of the state that it reads is loaded. */
export function routeOverAsync<R extends Route>(route: R, ledger: AsyncLedger): R {
  return {
    ...route,
    handle(exchange: Exchange) {
      return ledger.read((loaded) => {
        exchange.runAgain(loaded)
        return route.handle(exchange)
      })
    },
  }
}
