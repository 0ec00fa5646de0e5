import { createServer, type Server, type Socket } from 'node:net'
import type { ListenAddress } from '../config/settings.js'
import { cannotListen } from '../errors.js'
import type { SupervisedProcess } from './supervised-process.js'

/** How long a connection waits for a reader. */
const PATIENCE_MS = 10_000
const MOST_WAITING = 1_024

export interface Acceptor {
  /** As a URL. */
  readonly address: string
  /** To be called when a reader is up. */
  handOn(): void
  /** Accepts no more connections. */
  close(): void
}

/**
 * Listens on one address and hands connections to readers in turn. The listener stays open when a reader ends: new
 * connections then wait for another one.
 * @throws `cannot_listen` where the address cannot be listened on
 */
export async function openAcceptor(
  listen: ListenAddress,
  readers: readonly SupervisedProcess[],
  onError: (error: Error) => void,
): Promise<Acceptor> {
  let turn = 0
  const waiting: Socket[] = []
  const handOut = (connection: Socket): boolean => {
    for (let tries = 0; tries < readers.length; tries++) {
      if (readers[turn++ % readers.length]!.take(connection)) return true
    }
    return false
  }
  const server = createServer({ pauseOnConnect: true }, (connection) => {
    // A client may leave while its connection waits.
    connection.on('error', () => connection.destroy())
    if (handOut(connection)) return
    if (waiting.length >= MOST_WAITING) {
      connection.destroy()
      return
    }
    waiting.push(connection)
    setTimeout(() => {
      const at = waiting.indexOf(connection)
      if (at >= 0) waiting.splice(at, 1)[0]!.destroy()
    }, PATIENCE_MS).unref()
  })
  await listenOn(server, listen, 'listen')
  server.on('error', onError)
  return {
    address: addressUrl(server),
    handOn() {
      for (const connection of waiting.splice(0)) if (!handOut(connection)) connection.destroy()
    },
    close() {
      server.close()
      for (const connection of waiting.splice(0)) connection.destroy()
    },
  }
}

/** @throws `cannot_listen` naming the setting that says where to listen */
export async function listenOn(server: Server, { host, port }: ListenAddress, setting: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    throw cannotListen(`${host}:${port}`, setting, cause as NodeJS.ErrnoException)
  }
}

export function addressUrl(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
