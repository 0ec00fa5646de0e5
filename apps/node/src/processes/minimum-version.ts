// A client that reads from several nodes names the newest version that it was shown. A node that is behind holds the
// request until it has that version, so that the ledger never goes back for this client.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Nodes that follow the same source are apart by seconds at most; one that is further behind is not the one to ask. */
const PATIENCE_MS = 5_000
const CHECK_MS = 10
const MOST_HELD = 1_000

/** Of requests; its value is a version. */
export function minimumHeader(headerWord: string): string {
  return `x-${headerWord}-min-ledger-version`
}

interface HeldRequest {
  readonly version: bigint
  /** In milliseconds of `performance.now`. */
  readonly until: number
  readonly response: ServerResponse
  readonly answer: () => void
}

/**
 * Holds requests with the header until the version is served; where that takes too long, or too many wait, they are
 * answered 503. A header that is no version is ignored.
 */
export function holdUntilServed(
  server: Server,
  header: string,
  latest: () => bigint | undefined,
  { patienceMs = PATIENCE_MS, mostHeld = MOST_HELD } = {},
): void {
  let held: HeldRequest[] = []
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    const [newest, now] = [latest(), performance.now()]
    const waiting = held
    held = []
    for (const request of waiting) {
      if (request.response.destroyed) continue
      if (newest !== undefined && newest >= request.version) request.answer()
      else if (now < request.until) held.push(request)
      else refuse(request, newest)
    }
    if (held.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function hold(request: HeldRequest): void {
    if (held.length >= mostHeld) {
      refuse(request, latest())
      return
    }
    held.push(request)
    timer ??= setInterval(check, CHECK_MS)
  }

  for (const event of ['request', 'checkContinue'] as const) {
    const [listener] = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const answer = (): void => void listener!.call(server, request, response)
      const version = parseVersion(request.headers[header])
      if (version === undefined || (latest() ?? -1n) >= version) answer()
      else hold({ version, until: performance.now() + patienceMs, response, answer })
    })
  }
}

function parseVersion(text: string | string[] | undefined): bigint | undefined {
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
}

function refuse({ version, response }: HeldRequest, latest: bigint | undefined): void {
  const message = `version ${version} is not served here yet; the newest is ${latest ?? 'none'}`
  // The connection is closed, for a body may still be coming in.
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' })
  response.end(JSON.stringify({ message, error_code: 'version_not_found' }))
}
