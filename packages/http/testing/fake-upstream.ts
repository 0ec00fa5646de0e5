import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as an upstream received it. */
export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An upstream with answers chosen by the test. */
export interface FakeUpstream {
  /** URL of the upstream, ending in `/v1`. */
  readonly url: string
  /** Requests that it received, except those for its chain. */
  readonly requests: UpstreamRequest[]
  chainId: number
  version: number
  /** Number of requests for its chain. */
  looks: number
  /** Answers requests, except those for its chain. */
  answer: (request: UpstreamRequest, response: ServerResponse) => void
  /** Answers all requests, instead of the rest. */
  answerAll: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** The chain-state headers of its answers. */
  chainHeaders(): Record<string, string>
  close(): Promise<void>
}

/**
 * Starts an upstream.
 * @param port a free port by default
 */
export async function startFakeUpstream(port = 0): Promise<FakeUpstream> {
  const server = createServer((request, response) => {
    if (upstream.answerAll) {
      upstream.answerAll(request, response)
      return
    }
    const { method, url, headers } = request
    if (url === '/v1') {
      upstream.looks++
      const { chainId, version } = upstream
      response.setHeaders(new Map(Object.entries(upstream.chainHeaders())))
      response.end(JSON.stringify({ chain_id: chainId, ledger_version: String(version) }))
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const received = { method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() }
      upstream.requests.push(received)
      upstream.answer(received, response)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const upstream: FakeUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    chainId: 4,
    version: 9,
    looks: 0,
    answer: (_, response) => sendJson(upstream, response, { answered: true }),
    answerAll: undefined,
    chainHeaders: () => ({
      'x-aptos-chain-id': String(upstream.chainId),
      'x-aptos-ledger-version': String(upstream.version),
      'x-aptos-ledger-oldest-version': '0',
      'x-aptos-ledger-timestampusec': '5',
      'x-aptos-epoch': '2',
      'x-aptos-block-height': '3',
      'x-aptos-oldest-block-height': '0',
    }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return upstream
}

export function sendJson(
  upstream: FakeUpstream,
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...upstream.chainHeaders(), ...headers })
  response.end(JSON.stringify(value))
}
