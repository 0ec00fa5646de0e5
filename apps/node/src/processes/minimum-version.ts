// A client that reads from several nodes names the newest version that it was shown. A node that is behind holds the
// request until it has that version, so that the ledger never goes back for this client.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Nodes that follow the same source are apart by seconds at most; one that is further behind is not the one to ask. */
const PATIENCE_MS = 5_000
const CHECK_MS = 10
const MOST_HELD = 1_000

/** Of requests; its value is a version. */
export function minimumHeader(headerWord: string): string {
  return `x-${headerWord}-min-ledger-version`
}

/**
 * Holds requests with the header until the version is served; where that takes too long, they are answered 503. A header
 * that is no version is ignored.
 */
export function holdUntilServed(
  server: Server,
  header: string,
  latest: () => bigint | undefined,
  patienceMs = PATIENCE_MS,
): void {
  let held = 0
  const isServed = (version: bigint): boolean => (latest() ?? -1n) >= version

  async function hold(version: bigint, request: IncomingMessage, response: ServerResponse, answer: RequestListener) {
    const end = performance.now() + patienceMs
    held++
    while (!isServed(version) && !response.destroyed && held <= MOST_HELD && performance.now() < end)
      await sleep(CHECK_MS)
    held--
    if (response.destroyed) return
    if (isServed(version)) answer.call(server, request, response)
    else refuse(response, version, latest())
  }

  for (const event of ['request', 'checkContinue'] as const) {
    const [answer] = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const text = request.headers[header]
      const version = typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
      if (version === undefined || isServed(version)) answer!.call(server, request, response)
      else void hold(version, request, response, answer!)
    })
  }
}

function refuse(response: ServerResponse, version: bigint, latest: bigint | undefined): void {
  const message = `version ${version} is not served here yet; the newest is ${latest ?? 'none'}`
  // The connection is closed, for a body may still be coming in.
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' })
  response.end(JSON.stringify({ message, error_code: 'version_not_found' }))
}
