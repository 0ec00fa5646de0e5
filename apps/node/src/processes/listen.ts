import type { Server } from 'node:net'
import type { ListenAddress } from '../config/settings.js'
import { cannotListen } from '../errors.js'

/**
 * Listens on an address.
 * @throws `cannot_listen`, with the setting that names the address
 */
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
