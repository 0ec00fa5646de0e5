import { once } from 'node:events'
import { createServer } from 'node:net'

/** First of the ports that are tried. Systems give connections and listeners that ask for no port one above 32,767. */
const FIRST = 15_000
const END = 30_000

/** Finds a port of this machine that nothing listens on. The system gives it only to those who ask for it by number. */
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
