import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { LinkedList } from '@ledger-state/core'

const LONGEST_SWEEP_INTERVAL_MS = 5_000

/** The open connections of a server. */
export interface OpenConnections extends Iterable<{ readonly socket: Socket }> {
  /** Drops the connections on which the client has sent nothing yet. */
  dropSilent(): void
}

interface Connection {
  readonly socket: Socket
  movedBytes: number
  movedAt: number
}

/**
 * Drops connections without traffic, of idle clients and of clients that do not read their answers. One timer examines
 * all connections, because Node would set a timer for each socket several times with every request.
 */
export function dropIdleConnections(server: Server, idleTimeoutMs: number): OpenConnections {
  const connections = new LinkedList<Connection>()
  server.on('connection', (socket: Socket) => {
    const link = connections.append({ socket, movedBytes: 0, movedAt: performance.now() })
    socket.once('close', () => connections.remove(link))
  })
  const sweep = () => {
    const now = performance.now()
    for (const connection of connections) {
      const { socket } = connection
      // Bytes that wait to be sent count as written, so a client that does not read moves nothing.
      const movedBytes = socket.bytesRead + socket.bytesWritten - socket.writableLength
      if (movedBytes !== connection.movedBytes) {
        connection.movedBytes = movedBytes
        connection.movedAt = now
      } else if (now - connection.movedAt >= idleTimeoutMs) socket.destroy()
    }
  }
  const timer = setInterval(sweep, Math.min(idleTimeoutMs / 2, LONGEST_SWEEP_INTERVAL_MS)).unref()
  server.once('close', () => clearInterval(timer))
  return {
    [Symbol.iterator]: () => connections[Symbol.iterator](),
    dropSilent() {
      for (const { socket } of connections) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
