import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientLeft, type RequestError } from '../errors.js'

/** Most requests of one connection that wait for earlier answers; a connection that sends more is closed. */
export const MOST_SENT_AHEAD = 1_000
/** Number of waiting requests at which the socket of a connection is paused. */
const MANY_SENT_AHEAD = 32
/**
 * Most requests that wait on all connections, at about 5 KB of memory each; a connection that adds one more is closed.
 */
export const MOST_SENT_AHEAD_IN_ALL = 5_000

interface PipelinedRequest<T> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: PipelinedConnection<T>
}

/**
 * Requests of a connection; empty once it is closed. Collections of the young generation free neither a closed socket
 * nor the values of a WeakMap.
 */
export interface PipelinedConnection<T> {
  newest: T | undefined
  /** The request that is being answered, or was answered last. */
  current: T | undefined
  /**
   * Requests that were sent without waiting for the answer to `current`. Each begins when the answer before it was
   * taken.
   */
  readonly waiting: Waiting<T>[]
}

interface Waiting<T> {
  readonly owner: T
  readonly begin: () => void
  readonly fail: (error: RequestError) => void
}

/**
 * Starts the requests of a connection one at a time, each once the client has taken the earlier answers. A client that
 * does not read its answers therefore has one in memory, however many requests it sends.
 */
export class PipelinedRequests<T extends PipelinedRequest<T>> {
  readonly #connections = new WeakMap<Socket, PipelinedConnection<T>>()
  #waitingCount = 0

  /** The requests of a connection. */
  of(socket: Socket): PipelinedConnection<T> {
    return this.#connections.get(socket) ?? this.#rememberConnection(socket)
  }

  /** The newest request of a connection. */
  newestOf(socket: Socket): T | undefined {
    return this.#connections.get(socket)?.newest
  }

  /** The answer of a connection that is handed over, and that its client has not taken whole. */
  unreadOf(socket: Socket): ServerResponse | undefined {
    const current = this.#connections.get(socket)?.current
    return current?.response.writableEnded && !isTaken(current) ? current.response : undefined
  }

  /**
   * Waits until the answers before a request were taken. Returns undefined if the request may begin at once. The
   * promise rejects with `client_left` if the connection is closed before.
   */
  enter(owner: T): Promise<void> | undefined {
    const { connection } = owner
    const { current, waiting } = connection
    if (waiting.length === 0 && (!current || isTaken(current))) {
      connection.current = owner
      return undefined
    }
    const turn = new Promise<void>((begin, fail) => {
      if (waiting.length === 0) current!.response.once('close', () => this.#beginNext(connection))
      waiting.push({ owner, begin, fail })
    })
    this.#waitingCount++
    const { socket } = owner.request
    if (waiting.length > MOST_SENT_AHEAD || this.#waitingCount > MOST_SENT_AHEAD_IN_ALL) socket.destroy()
    else if (waiting.length >= MANY_SENT_AHEAD) socket.pause()
    return turn
  }

  #beginNext(connection: PipelinedConnection<T>): void {
    const next = connection.waiting.shift()
    if (!next) return
    this.#waitingCount--
    const { owner, begin } = next
    connection.current = owner
    if (connection.waiting.length > 0) owner.response.once('close', () => this.#beginNext(connection))
    if (connection.waiting.length === MANY_SENT_AHEAD - 1) owner.request.socket.resume()
    begin()
  }

  #rememberConnection(socket: Socket): PipelinedConnection<T> {
    const connection: PipelinedConnection<T> = { newest: undefined, current: undefined, waiting: [] }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      connection.newest = undefined
      connection.current = undefined
      const waiting = connection.waiting.splice(0)
      this.#waitingCount -= waiting.length
      for (const { fail } of waiting) fail(clientLeft())
    })
    return connection
  }
}

/** Whether the system has taken an answer, and its connection has turned to the next. */
function isTaken({ response }: { readonly response: ServerResponse }): boolean {
  return response.writableFinished && response.socket === null
}
