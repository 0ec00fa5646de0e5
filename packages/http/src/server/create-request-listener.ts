import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListenerOptions } from './request-listener-options.js'
import { RequestService } from './request-service.js'

/**
 * The service as a listener for requests of `node:http`, to be mounted in a server, in Express, fastify or Koa. It reads
 * bodies itself: mount it before whatever else parses them. Limits on connections, and answers to what never becomes a
 * request, are matters of the server; `createHttpServer` is one that takes care of them.
 * @throws `chain_id_too_large`
 */
export function createRequestListener(
  options: RequestListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const service = new RequestService(options)
  return (request, response) => service.handle(service.begin(request, response))
}
