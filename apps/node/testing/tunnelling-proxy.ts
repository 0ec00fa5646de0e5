import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '@ledger-state/testing/certificate'

export interface TunnellingProxy {
  /** URL of the proxy. */
  readonly url: string
  /** Certificate, in PEM, of the authority that verifies the server behind the proxy. */
  readonly authority: string
  /** Servers that clients asked for, each `HOST:PORT`. */
  readonly tunnels: string[]
  close(): Promise<void>
}

/**
 * Starts a proxy that tunnels HTTPS (CONNECT), as company proxies do. It connects a client that asks for any address of
 * 127.0.0.1 to a server with TLS that passes requests on to `origin`.
 */
export async function startTunnellingProxy(origin: string): Promise<TunnellingProxy> {
  const authority = makeCertificate()
  const tunnels: string[] = []
  const secure = createTlsServer(makeCertificate({ issuer: authority }), ({ url, method, headers }, response) => {
    const outgoing = request(origin + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    outgoing.end()
  })
  const proxy = createServer((_, response) => response.writeHead(405).end('<html>This proxy only tunnels.</html>'))
  proxy.on('connect', (incoming, socket, head) => {
    tunnels.push(incoming.url!)
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    socket.unshift(head)
    secure.emit('connection', socket)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    authority: authority.cert,
    tunnels,
    close: async () => {
      secure.closeAllConnections()
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
