// A proxy between a server and its client that damages answers on their way.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers in the place of the server; given the answer of the server, which it may damage. */
export type Damage = (body: Buffer, response: ServerResponse) => void

export interface DamagingProxy {
  readonly url: string
  /** Paths with their methods, such as `GET /feed`, in the order of their requests. */
  readonly requests: string[]
  /** The damage that is done to the answer to a request; undefined for none. */
  damageOf: (method: string, path: string) => Damage | undefined
  close(): Promise<void>
}

/** A proxy before a server whose address may change. It asks for answers that are not compressed, so damage is not noticed there. */
export async function startDamagingProxy(target: () => string): Promise<DamagingProxy> {
  const proxy = createServer((incoming, response) => {
    const { method = 'GET', url = '/' } = incoming
    const path = url.split('?', 1)[0]!
    started.requests.push(`${method} ${path}`)
    const damage = started.damageOf(method, path)
    const { 'accept-encoding': _, ...headers } = incoming.headers
    const outgoing = request(target() + url, { method, headers }, (answer) => {
      if (damage) void damageAnswer(answer, response, damage)
      else {
        response.writeHead(answer.statusCode!, answer.headers)
        response.flushHeaders()
        answer.pipe(response)
        answer.once('error', () => response.destroy())
      }
      response.once('close', () => answer.destroy())
    })
    outgoing.once('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const started: DamagingProxy = {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests: [],
    damageOf: () => undefined,
    close: () =>
      new Promise((resolve) => {
        proxy.closeAllConnections()
        proxy.close(() => resolve())
      }),
  }
  return started
}

async function damageAnswer(answer: IncomingMessage, response: ServerResponse, damage: Damage): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  response.statusCode = answer.statusCode!
  response.setHeader('content-type', answer.headers['content-type'] ?? 'text/plain')
  damage(Buffer.concat(pieces), response)
}

/** Flips a bit in the middle of the answer, or at another share of it. */
export const flipBit =
  (share = 0.5): Damage =>
  (body, response) => {
    body[Math.min(body.length - 1, Math.floor(share * body.length))]! ^= 1
    response.end(body)
  }
