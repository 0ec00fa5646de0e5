import { createServer, type Server, type Socket } from 'node:net'
import type { ListenAddress } from '../config/settings.js'
import { cannotListen } from '../errors.js'
import type { SupervisedProcess } from './supervised-process.js'

/** Connections that come while no reader is up are kept this long. */
const PATIENCE_MS = 10_000
const MOST_WAITING = 1_024

export interface Acceptor {
  /** As a URL. */
  readonly address: string
  /** A reader is up. */
  handOn(): void
  /** No more connections are taken. */
  close(): void
}

/**
 * Listens on one address and hands connections to readers in turn. The address is held here, so that it is served
 * through the end of every reader: who connects meanwhile waits for the next.
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
    // One that the client gives up while it waits.
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
