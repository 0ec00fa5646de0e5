import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const LONGEST_SWEEP_INTERVAL_MS = 5_000

/**
 * Drops connections on which nothing moves: idle clients as well as those that do not read their answers. Looks at all
 * of them now and then: Node would set its timers anew several times with every request. The function that it gives
 * drops the connections on which nothing was ever sent.
 */
export function dropIdleConnections(server: Server, idleTimeoutMs: number): () => void {
  const connections = new Map<Socket, { movedBytes: number; movedAt: number }>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { movedBytes: 0, movedAt: performance.now() })
    socket.once('close', () => connections.delete(socket))
  })
  const sweep = () => {
    const now = performance.now()
    for (const [socket, last] of connections) {
      // What waits to be sent counts as written: a client that does not read moves neither.
      const movedBytes = socket.bytesRead + socket.bytesWritten - socket.writableLength
      if (movedBytes !== last.movedBytes) connections.set(socket, { movedBytes, movedAt: now })
      else if (now - last.movedAt >= idleTimeoutMs) socket.destroy()
    }
  }
  const timer = setInterval(sweep, Math.min(idleTimeoutMs / 2, LONGEST_SWEEP_INTERVAL_MS)).unref()
  server.once('close', () => clearInterval(timer))
  return () => {
    for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy()
  }
}
