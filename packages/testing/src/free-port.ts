import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems give connections and listeners that name no port one above 32,767. */
const FIRST = 15_000
const END = 30_000

/** A port of this machine that nobody listens on, and that nobody is given who does not ask for it by its number. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST))
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    } finally {
      server.close()
    }
  }
}
