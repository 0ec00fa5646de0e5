import type { RemoteLedger } from '@ledger-state/ledger'
import type { Route } from '../operations/operation.js'
import type { Exchange } from './exchange.js'

/** An operation over a remote ledger: it runs as often as it takes until it lacks nothing of the state. */
export function routeOverRemote<R extends Route>(route: R, remote: RemoteLedger): R {
  return {
    ...route,
    handle(exchange: Exchange) {
      return remote.read((ledger) => {
        exchange.beginRun(ledger)
        return route.handle(exchange)
      })
    },
  }
}
