import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LinkedList } from '@ledger-state/core'

const DRAIN_CHECK_MS = 20
/** Age at which a connection that has sent nothing counts as idle. */
const FIRST_REQUEST_MS = 1_000

interface TakenConnection {
  readonly connection: Socket
  /** Time in milliseconds of `performance.now`. */
  readonly takenAt: number
}

/** The open connections that a reader has taken from the supervisor. */
export class ReaderConnections {
  readonly #most: number
  readonly #connections = new LinkedList<TakenConnection>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#connections.size
  }

  get hasRoom(): boolean {
    return this.size < this.#most
  }

  /** Gives a connection to the server as if the server had accepted it. */
  take(connection: Socket, server: Server): void {
    const link = this.#connections.append({ connection, takenAt: performance.now() })
    connection.once('close', () => this.#connections.remove(link))
    connection.setNoDelay(true)
    server.emit('connection', connection)
    connection.resume()
  }

  /**
   * Waits for the first requests of connections that were just taken, because `close` of the server drops those that
   * have sent none.
   */
  async firstRequests(): Promise<void> {
    const isExpected = ({ connection, takenAt }: TakenConnection): boolean =>
      connection.bytesRead === 0 && performance.now() - takenAt < FIRST_REQUEST_MS
    while ([...this.#connections].some(isExpected)) await sleep(DRAIN_CHECK_MS)
  }

  /** Waits for the current requests to end, then drops the remaining connections. */
  async drained(server: Server, timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs
    while (this.size > 0 && performance.now() < end) {
      server.closeIdleConnections()
      await sleep(DRAIN_CHECK_MS)
    }
    for (const { connection } of this.#connections) connection.destroy()
  }
}
