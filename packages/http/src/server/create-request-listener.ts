import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListenerOptions } from './request-listener-options.js'
import { isElsewhere, RequestService } from './request-service.js'

/**
 * The service as a listener for requests of `node:http`, to be mounted in a server, in Express, fastify or Koa. It reads
 * bodies itself: mount it before whatever else parses them. Limits on connections, and answers to what never becomes a
 * request, are matters of the server; `createHttpServer` is one that takes care of them. A host that gives `next`, as
 * Express does, is given back the requests for paths that are neither `/v1` nor below it, unless `otherRequests` takes them.
 * @throws `chain_id_too_large`
 * @example
 * ```ts
 * import { once } from 'node:events'
 * import { createServer } from 'node:http'
 * import type { AddressInfo } from 'node:net'
 * import { createRequestListener } from '@ledger-state/http'
 * import { createLedger } from '@ledger-state/ledger'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const server = createServer(createRequestListener({ ledger: createLedger(createMemoryEngine()) }))
 * await once(server.listen(0, '127.0.0.1'), 'listening')
 * const { port } = server.address() as AddressInfo
 * console.log((await fetch(`http://127.0.0.1:${port}/v1/spec.json`)).status) // 200
 * server.close()
 * ```
 */
export function createRequestListener(
  options: RequestListenerOptions,
): (request: IncomingMessage, response: ServerResponse, next?: () => void) => void {
  const service = new RequestService(options)
  return (request, response, next) => {
    if (next && !options.otherRequests && isElsewhere(request.url!)) next()
    else service.handle(service.begin(request, response))
  }
}
