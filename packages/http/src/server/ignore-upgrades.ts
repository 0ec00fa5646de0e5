import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Names and values of the headers that Node gives to a program; it leaves out further ones. The rest of a longer
 * request cannot be written again, so its connection is closed.
 */
const MOST_RAW_HEADERS = 2_000

/**
 * Lets a server answer requests that ask for another protocol, such as `Upgrade: websocket` or `h2c`, as if they did
 * not ask (RFC 9110, section 7.8). Without this, Node answers such a request but loses the bytes after it, so later
 * answers go to the wrong requests. Call it before other listeners for connections are added.
 * @param newestResponse the response to the newest request of a connection; by default the server's requests are
 * watched
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { ignoreUpgrades } from '@ledger-state/http'
 *
 * const server = createServer((request, response) => response.end(request.url))
 * ignoreUpgrades(server)
 * ```
 */
export function ignoreUpgrades(server: Server, newestResponse = watchResponses(server)): void {
  const [attach] = server.listeners('connection')
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (request.rawHeaders.length >= MOST_RAW_HEADERS) {
      socket.destroy()
      return
    }
    const destroy = () => socket.destroy()
    socket.once('error', destroy)
    // Node has taken its parser off the connection. It attaches another, which reads the request without its wish.
    const readAgain = (): void => {
      socket.off('error', destroy)
      if (socket.destroyed) return
      socket.unshift(Buffer.concat([headOf(request), head]))
      attach!.call(server, socket)
    }
    const before = newestResponse(socket)
    if (!before || (before.writableFinished && before.socket === null)) readAgain()
    else before.once('close', readAgain)
  })
}

/** Request line and headers of a request, without `Upgrade`. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

function watchResponses(server: Server): (socket: Socket) => ServerResponse | undefined {
  const newest = new WeakMap<Socket, ServerResponse>()
  server.on('request', ({ socket }, response) => newest.set(socket, response))
  return (socket) => newest.get(socket)
}
