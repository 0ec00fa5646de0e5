import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ignoreUpgrades } from '@ledger-state/http'
import type { ListenAddress } from '../config/settings.js'
import { listenOn } from './listen.js'

export interface AdminPages {
  /** Metrics in the text format of Prometheus. */
  metrics(): Promise<string>
  /** Whether the node is ready, with the facts that decide it. */
  readiness(): { readonly ready: boolean; readonly details: object }
  /** Metrics of the last hour, as the page draws them. */
  history(): readonly object[]
  /** Answers a request for the operator's page, and returns whether it did. */
  page(request: IncomingMessage, response: ServerResponse): boolean
}

const REQUEST_TIMEOUT_MS = 10_000
export const MOST_CONNECTIONS = 100

/**
 * Serves metrics and probes to the operator, on a separate address. They show internals of the node and are not for the
 * public.
 */
export async function openAdminServer(listen: ListenAddress, pages: AdminPages): Promise<Server> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      answer(request, response, pages).catch(() => {
        if (!response.headersSent) send(response, 500, 'text/plain', 'internal error\n')
      })
    },
  )
  ignoreUpgrades(server)
  server.maxConnections = MOST_CONNECTIONS
  await listenOn(server, listen, 'admin-listen')
  return server
}

async function answer(request: IncomingMessage, response: ServerResponse, pages: AdminPages): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    send(response, 405, 'text/plain', 'method not allowed\n')
    return
  }
  const [path] = request.url!.split('?', 1)
  switch (path) {
    case '/metrics':
      send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await pages.metrics())
      return
    case '/-/live':
      send(response, 200, 'text/plain', 'alive\n')
      return
    case '/-/ready': {
      const { ready, details } = pages.readiness()
      send(response, ready ? 200 : 503, 'application/json', `${JSON.stringify({ ready, ...details })}\n`)
      return
    }
    case '/-/history': {
      const { ready, details } = pages.readiness()
      send(response, 200, 'application/json', JSON.stringify({ ready, ...details, samples: pages.history() }))
      return
    }
    default:
      if (pages.page(request, response)) return
      send(response, 404, 'text/plain', 'not found; there are a page at /, /metrics, /-/live and /-/ready\n')
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
