import { createServer, type Socket } from 'node:net'
import type { ListenAddress } from '../config/settings.js'
import { addressUrl, listenOn } from './listen.js'

export interface Acceptor {
  /** Address as a URL. */
  readonly address: string
  /** Stops accepting connections. */
  close(): void
}

/**
 * Listens for connections, without reading from them.
 * @throws `cannot_listen`
 */
export async function openAcceptor(
  listen: ListenAddress,
  onConnection: (connection: Socket) => void,
  onError: (error: Error) => void,
): Promise<Acceptor> {
  const server = createServer({ pauseOnConnect: true }, (connection) => {
    // A client may leave before a reader has its connection.
    connection.on('error', () => connection.destroy())
    onConnection(connection)
  })
  await listenOn(server, listen, 'listen')
  server.on('error', onError)
  return { address: addressUrl(server), close: () => void server.close() }
}
