import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListenerOptions } from './request-listener-options.js'
import { isElsewhere, RequestService } from './request-service.js'

/**
 * Creates the service as a listener for requests of `node:http`, to be mounted in a server, in Express, fastify or Koa.
 * It reads bodies itself, so mount it before anything else that parses them. The server is responsible for limits on
 * connections, and for answers to bytes that never become a request; `createHttpServer` creates a server that does
 * both. If the host gives `next`, as Express does, it gets back the requests for paths that are neither `/v1` nor below
 * it, unless `otherRequests` takes them.
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
