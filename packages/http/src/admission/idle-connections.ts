import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { LinkedList } from '@ledger-state/core'

const LONGEST_SWEEP_INTERVAL_MS = 5_000

interface Connection {
  readonly socket: Socket
  movedBytes: number
  movedAt: number
}

/**
 * Drops connections on which nothing moves: idle clients as well as those that do not read their answers. Looks at all
 * of them now and then: Node would set its timers anew several times with every request. The function that it gives
 * drops the connections on which nothing was ever sent.
 */
export function dropIdleConnections(server: Server, idleTimeoutMs: number): () => void {
  const connections = new LinkedList<Connection>()
  server.on('connection', (socket: Socket) => {
    const link = connections.append({ socket, movedBytes: 0, movedAt: performance.now() })
    socket.once('close', () => connections.remove(link))
  })
  const sweep = () => {
    const now = performance.now()
    for (const connection of connections) {
      const { socket } = connection
      // What waits to be sent counts as written: a client that does not read moves neither.
      const movedBytes = socket.bytesRead + socket.bytesWritten - socket.writableLength
      if (movedBytes !== connection.movedBytes) {
        connection.movedBytes = movedBytes
        connection.movedAt = now
      } else if (now - connection.movedAt >= idleTimeoutMs) socket.destroy()
    }
  }
  const timer = setInterval(sweep, Math.min(idleTimeoutMs / 2, LONGEST_SWEEP_INTERVAL_MS)).unref()
  server.once('close', () => clearInterval(timer))
  return () => {
    for (const { socket } of connections) if (socket.bytesRead === 0) socket.destroy()
  }
}
