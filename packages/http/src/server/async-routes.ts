import type { AsyncLedger } from '@ledger-state/ledger'
import type { Route } from '../operations/operation.js'
import type { Exchange } from './exchange.js'

/** An operation over an `AsyncLedger`: it runs as often as it takes until it lacks nothing of the state. */
export function routeOverAsync<R extends Route>(route: R, ledger: AsyncLedger): R {
  return {
    ...route,
    handle(exchange: Exchange) {
      return ledger.read((loaded) => {
        exchange.beginRun(loaded)
        return route.handle(exchange)
      })
    },
  }
}
