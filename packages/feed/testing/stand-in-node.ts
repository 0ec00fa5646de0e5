// A stand-in for a node's REST API over a made-up ledger, with the faults of real nodes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { zstdCompressSync } from 'node:zlib'
import { restPage, SYNTHETIC_CHAIN_ID, type SyntheticChain } from './synthetic-chain.ts'

export interface StandInNode {
  readonly url: string
  /** Start versions of the requested pages. */
  readonly starts: number[]
  /** The chain that is served; a test may replace it. */
  chain: SyntheticChain
  /** The newest version that is announced. The node has no later ones. */
  latest: number
  oldest: number
  /** The most versions that a page holds. */
  maxPage: number
  /** Milliseconds that each answer takes. */
  latencyMs: number
  /** Most requests that waited for an answer at the same time. */
  mostWaiting: number
  /** Handlers that answer the next requests instead of the node, one each. */
  readonly faults: ((request: IncomingMessage, response: ServerResponse) => void)[]
  close(): Promise<void>
}

export async function startStandInNode(chain: SyntheticChain): Promise<StandInNode> {
  let waiting = 0
  const server = createServer((request, response) => {
    const fault = node.faults.shift()
    if (fault) fault(request, response)
    else if (node.latencyMs === 0) answer(request, response)
    else {
      node.mostWaiting = Math.max(node.mostWaiting, ++waiting)
      setTimeout(() => {
        waiting--
        answer(request, response)
      }, node.latencyMs)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: StandInNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    starts: [],
    chain,
    latest: Number(chain.latestVersion),
    oldest: 0,
    maxPage: 100,
    latencyMs: 0,
    mostWaiting: 0,
    faults: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return node

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, node.url)
    response.setHeader('x-aptos-chain-id', SYNTHETIC_CHAIN_ID)
    response.setHeader('x-aptos-ledger-version', node.latest)
    if (url.pathname === '/v1') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ chain_id: SYNTHETIC_CHAIN_ID, ledger_version: String(node.latest) }))
      return
    }
    const start = Number(url.searchParams.get('start'))
    const limit = Math.min(node.maxPage, Number(url.searchParams.get('limit')), node.latest - start + 1)
    node.starts.push(start)
    if (start > node.latest) sendError(response, 400, 'invalid_input')
    else if (start < node.oldest) sendError(response, 410, 'version_pruned')
    else {
      response.setHeader('content-type', 'application/x-bcs')
      response.setHeader('content-encoding', 'zstd')
      response.end(zstdCompressSync(restPage(node.chain, start, limit)))
    }
  }
}

export function sendError(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ message: code, error_code: code }))
}
