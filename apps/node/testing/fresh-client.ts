// A client that opens a connection for each request.
import { connect } from 'node:net'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'

export const NO_ANSWER = `no answer in ${PATIENCE_MS} ms`

/** Sends one request on a separate connection. Resolves with its status, or with a description of the failure. */
export function askFresh(address: string): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(NO_ANSWER)))
    socket.on('connect', () => socket.write('GET /v1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'))
    socket.on('data', (piece) => {
      text += piece
    })
    socket.on('error', (error) => resolve(error.message))
    socket.on('close', () => resolve(/^HTTP\/1.1 (\d+) /.exec(text)?.[1] ?? `closed after ${text.length} bytes`))
  })
}

export interface FailedRequest {
  readonly outcome: string
  /** Begin in milliseconds of `performance.now`, as is `ended`. */
  readonly began: number
  readonly ended: number
}

export interface FreshClient {
  /** Requests by status or failure. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Requests that got no status. */
  readonly failures: readonly FailedRequest[]
  stop(): Promise<void>
}

export function startFreshClient(address: () => string, connections: number, pauseMs = 0): FreshClient {
  const outcomes = new Map<string, number>()
  const failures: FailedRequest[] = []
  let isStopped = false
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const began = performance.now()
      const outcome = await askFresh(address())
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      if (!/^\d+$/.test(outcome)) failures.push({ outcome, began, ended: performance.now() })
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  const running = Array.from({ length: connections }, run)
  return {
    outcomes,
    failures,
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }
}
